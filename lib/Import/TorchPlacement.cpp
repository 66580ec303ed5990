//===- TorchPlacement.cpp - A write of a view as one of its base ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index values go through divisions and remainders to the coordinates that the
// view merges, and with factors to those that it splits. A row coordinate that
// stands for several is split with the values, so that rows stay coordinates of
// their own.
//
//===----------------------------------------------------------------------===//

#include "TorchPlacement.h"

#include "TorchTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool Placement::splitsValues() const {
  return llvm::any_of(valueSplits,
                      [](ArrayRef<int64_t> sizes) { return sizes.size() > 1; });
}

//===----------------------------------------------------------------------===//
// Indices that are inside
//===----------------------------------------------------------------------===//

/// Are all elements of a literal in [0, size)?
static bool isLiteralWithin(Operation *op, int64_t size) {
  auto literal = op->getAttrOfType<DenseIntElementsAttr>("value");
  return literal &&
         llvm::all_of(literal.getValues<APInt>(), [&](const APInt &value) {
           return !value.isNegative() && value.ult(size);
         });
}

/// Is every element of the index tensor `index` known to be in [0, size)?
static bool isWithin(Value index, int64_t size) {
  if (std::optional<int64_t> scalar = readScalar(index))
    return *scalar >= 0 && *scalar < size;
  Operation *op = index.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return false;
  StringRef name = getTorchName(op);
  if (name == "torch.vtensor.literal")
    return isLiteralWithin(op, size);
  auto operand = [&](unsigned i) -> std::optional<int64_t> {
    return i < op->getNumOperands() ? readInt(op->getOperand(i)) : std::nullopt;
  };
  if (name == "torch.aten.remainder.Scalar")
    return operand(1) && *operand(1) > 0 && *operand(1) <= size;
  if (name == "torch.aten.arange.start_step")
    return operand(0) && operand(1) && operand(2) && *operand(0) >= 0 &&
           *operand(1) <= size && *operand(2) > 0;
  if (name == "torch.aten.clamp")
    return operand(1) && operand(2) && *operand(1) >= 0 &&
           *operand(1) <= *operand(2) && *operand(2) < size;
  static constexpr StringLiteral kSameElements[] = {
      "torch.aten.alias",     "torch.aten.broadcast_to",
      "torch.aten.clone",     "torch.aten.detach",
      "torch.aten.expand",    "torch.aten.squeeze.dim",
      "torch.aten.unsqueeze", "torch.aten.view",
  };
  return llvm::is_contained(kSameElements, name) && op->getNumOperands() > 0 &&
         isWithin(op->getOperand(0), size);
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

namespace {
class Placer {
public:
  Placer(const RowWrite &write, const CacheView &view, ViewRefusal &why)
      : write(write), layout(view.layout), why(why),
        context(write.map.getContext()), gridRank(write.grid.size()),
        numIndices(write.indices.size()),
        rows(write.map.getNumDims() - gridRank - numIndices) {}

  FailureOr<Placement> run();

private:
  LogicalResult refuse(const Twine &found, const Twine &suggest) {
    why = {Refusal::IndexUnknown, found.str(), suggest.str(), std::nullopt};
    return failure();
  }
  LogicalResult checkIndex(unsigned dim, unsigned index);
  LogicalResult placeDim(unsigned dim);
  LogicalResult placeValues(Placement &placement);

  /// A row coordinate of the view: the first of its coordinates in the part,
  /// and their extents.
  struct Row {
    unsigned first = 0;
    SmallVector<int64_t> extents;
  };

  const RowWrite &write;
  const ViewLayout &layout;
  ViewRefusal &why;
  MLIRContext *context;
  unsigned gridRank, numIndices;
  SmallVector<Row> rows;
  unsigned numRows = 0;
  SmallVector<SmallVector<AffineExpr>> digits;
};
} // namespace

/// SX4, SX5: a coordinate that is not outermost would be carried over to the
/// next if it were negative or too large.
LogicalResult Placer::checkIndex(unsigned dim, unsigned index) {
  int64_t size = layout.getDims()[dim].size;
  if (layout.keepsBounds(dim) ||
      (!ShapedType::isDynamic(size) && isWithin(write.indices[index], size)))
    return success();
  std::string range = ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  return refuse("SX4: dimension " + Twine(dim) +
                    " of the view is an inner one of the cache, and its index "
                    "is not known to be in [0, " +
                    range + ")",
                "index the cache by its own dimensions");
}

LogicalResult Placer::placeDim(unsigned dim) {
  unsigned coordinate =
      cast<AffineDimExpr>(write.map.getResult(dim)).getPosition();
  ArrayRef<ViewLayout::Digit> factors = layout.getDims()[dim].digits;
  if (coordinate >= gridRank + numIndices) {
    Row &row = rows[coordinate - gridRank - numIndices];
    row.first = gridRank + numIndices + numRows;
    for (const ViewLayout::Digit &factor : factors) {
      row.extents.push_back(factor.size);
      digits[dim].push_back(
          getAffineDimExpr(gridRank + numIndices + numRows++, context));
    }
    return success();
  }
  if (coordinate >= gridRank && failed(checkIndex(dim, coordinate - gridRank)))
    return failure();
  FailureOr<SmallVector<AffineExpr>> parts =
      layout.split(dim, getAffineDimExpr(coordinate, context));
  if (failed(parts))
    return refuse("an inner size of the cache's dimension " + Twine(dim) +
                      " is dynamic",
                  "export with a static page size");
  digits[dim] = std::move(*parts);
  return success();
}

LogicalResult Placer::placeValues(Placement &placement) {
  RankedTensorType type = readTensorType(write.values.getType());
  placement.droppedValueDims = write.repeatedDims;
  SmallVector<AffineExpr> order;
  unsigned next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (write.repeatedDims.test(dim))
      continue;
    unsigned coordinate =
        cast<AffineDimExpr>(write.order.getResult(next++)).getPosition();
    if (coordinate < gridRank) {
      order.push_back(getAffineDimExpr(coordinate, context));
      placement.valueSplits.push_back({type.getDimSize(dim)});
      continue;
    }
    Row &row = rows[coordinate - gridRank];
    if (row.extents.empty()) {
      if (type.getDimSize(dim) != 1)
        return refuse("rows of " + toText(write.values.getType()) +
                          " where dimension " + Twine(dim) + " has size 1",
                      "export with static row sizes");
      placement.droppedValueDims.set(dim);
      continue;
    }
    bool splits = row.extents.size() > 1;
    if (splits && (type.isDynamicDim(dim) ||
                   llvm::any_of(row.extents, ShapedType::isDynamic)))
      return refuse("rows of a dynamic size are several dimensions of the "
                    "cache",
                    "export with static row sizes");
    for (unsigned i = 0; i < row.extents.size(); ++i)
      order.push_back(getAffineDimExpr(row.first - numIndices + i, context));
    placement.valueSplits.push_back(
        splits ? row.extents : SmallVector<int64_t>{type.getDimSize(dim)});
  }
  placement.order = AffineMap::get(gridRank + numRows, 0, order, context);
  return success();
}

FailureOr<Placement> Placer::run() {
  digits.resize(layout.getDims().size());
  for (unsigned dim = 0; dim < digits.size(); ++dim)
    if (failed(placeDim(dim)))
      return failure();
  Placement placement;
  if (failed(placeValues(placement)))
    return failure();
  placement.map =
      simplifyAffineMap(AffineMap::get(gridRank + numIndices + numRows, 0,
                                       layout.join(context, digits), context));
  return placement;
}

FailureOr<Placement> torch::placeWrite(const RowWrite &write,
                                       const CacheView &view,
                                       ViewRefusal &why) {
  return Placer(write, view, why).run();
}
