//===- KVWriteVerifier.cpp - kv.write: verification -----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of operands (SX1) are checked by the constraints in KVOps.td.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "VerifyMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;

/// Are `a` and `b` static sizes that differ?
static bool differ(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
}

/// The operands: their number, one form, and no cache that is read (SM3).
static LogicalResult verifyOperands(WriteOp op) {
  if (op.getIndices().empty())
    return op.emitOpError("expects at least one index operand");
  if (op.getDests().empty())
    return op.emitOpError("expects at least one destination");
  if (op.getDests().size() != op.getValues().size())
    return op.emitOpError("expects one value operand per destination, but got ")
           << op.getValues().size() << " for " << op.getDests().size();
  unsigned numDests = op.getNumDests();
  if (op.getMaps().size() != numDests || op.getOrders().size() != numDests ||
      op.getBoxes().size() != numDests || op.getBodies().size() != numDests)
    return op.emitOpError("expects one map, order, box flag and region per "
                          "destination, but got ")
           << op.getMaps().size() << ", " << op.getOrders().size() << ", "
           << op.getBoxes().size() << " and " << op.getBodies().size()
           << " for " << numDests;

  bool tensors = op.hasTensorForm();
  for (Type type : op->getOperandTypes())
    if (isa<RankedTensorType>(type) != tensors)
      return op.emitOpError("expects either tensors or memrefs, but got ")
             << op.getDests()[0].getType() << " and " << type;
  if (tensors)
    return success();

  auto inputs = llvm::concat<Value>(llvm::to_vector(op.getIndices()),
                                    llvm::to_vector(op.getValues()));
  for (Value input : inputs)
    if (llvm::is_contained(op.getDests(), input))
      return op.emitOpError("SM3: expects inputs that do not overlap a "
                            "destination, but an operand of type ")
             << input.getType() << " is both";
  return success();
}

/// One grid: all index operands and the mask have the same shape.
static LogicalResult verifyGrid(WriteOp op) {
  unsigned rank = op.getGridRank();
  SmallVector<Value> operands(op.getIndices());
  if (op.getMask())
    operands.push_back(op.getMask());
  for (Value operand : operands) {
    auto type = cast<ShapedType>(operand.getType());
    if (type.getRank() != rank)
      return op.emitOpError("expects index operands and mask of one shape, but "
                            "got ")
             << op.getIndices()[0].getType() << " and " << type;
  }
  SmallVector<int64_t> grid = op.getGridShape();
  for (Value operand : operands) {
    auto type = cast<ShapedType>(operand.getType());
    for (auto [dim, size] : llvm::enumerate(grid))
      if (differ(size, type.getDimSize(dim)))
        return op.emitOpError("expects index operands and mask of one shape, "
                              "but dimension ")
               << dim << " has size " << size << " and, in " << type << ", "
               << type.getDimSize(dim);
  }
  return success();
}

/// Map and order of destination `i`: arity, SX2, SX8, and that every row
/// coordinate has an extent and a place (SX10).
static LogicalResult verifyMaps(WriteOp op, unsigned i) {
  auto error = [&]() -> InFlightDiagnostic {
    return op.emitOpError("destination ") << i << ": ";
  };
  AffineMap map = op.getMap(i), order = op.getOrder(i);
  unsigned prefix = op.getGridRank() + op.getNumIndices();
  if (map.getNumSymbols() != 0 || map.getNumDims() < prefix)
    return error() << "expects a map over " << op.getGridRank()
                   << " grid coordinates, " << op.getNumIndices()
                   << " index values and the row coordinates, but got "
                   << op.getMaps()[i];
  if (map.getNumResults() != op.getDestType(i).getRank())
    return error() << "expects one coordinate per dimension of "
                   << op.getDestType(i) << ", but got " << op.getMaps()[i];
  if (failed(verifyDivisors(map, error)))
    return failure();

  unsigned rowRank = op.getRowRank(i);
  if (order.getNumDims() != op.getGridRank() + rowRank ||
      order.getNumResults() != op.getValueType(i).getRank() ||
      !order.isProjectedPermutation())
    return error() << "SX8: expects an order that takes "
                   << op.getGridRank() + rowRank
                   << " grid and row coordinates to the "
                   << op.getValueType(i).getRank()
                   << " dimensions of the values, each at most once, but got "
                   << op.getOrders()[i];
  for (unsigned row = 0; row < rowRank; ++row) {
    if (!map.isFunctionOfDim(op.getRowDim(row)))
      return error() << "expects row coordinate " << row
                     << " to appear in the map " << op.getMaps()[i];
    if (order.isFunctionOfDim(op.getGridRank() + row))
      continue;
    auto bare = getAffineDimExpr(op.getRowDim(row), op.getContext());
    auto numDims = llvm::count(map.getResults(), bare);
    if (numDims != 1)
      return error() << "SX10: row coordinate " << row
                     << " has no extent of its own: the values lack it, and it "
                        "is the coordinate of "
                     << numDims << " dimensions of the cache";
  }
  return success();
}

/// Static sizes of destination `i`: values against grid and cache (SX10).
static LogicalResult verifySizes(WriteOp op, unsigned i) {
  auto error = [&]() -> InFlightDiagnostic {
    return op.emitOpError("destination ") << i << ": SX10: ";
  };
  AffineMap order = op.getOrder(i);
  ShapedType dest = op.getDestType(i), values = op.getValueType(i);
  for (auto [dim, size] : llvm::enumerate(op.getGridShape())) {
    auto position =
        order.getResultPosition(getAffineDimExpr(dim, op.getContext()));
    if (position && differ(values.getDimSize(*position), size))
      return error() << "dimension " << *position << " of the values has size "
                     << values.getDimSize(*position)
                     << " where the grid has size " << size;
  }
  for (unsigned dim = 0; dim < dest.getRank(); ++dim) {
    if (!op.isCoveredExactly(i, dim))
      continue;
    int64_t extent = op.getStaticRowExtent(i, *op.getBareRow(i, dim));
    if (differ(extent, dest.getDimSize(dim)))
      return error() << "the rows have size " << extent << " where dimension "
                     << dim << " of the cache has size "
                     << dest.getDimSize(dim);
  }
  return success();
}

/// Layout facts: only of buffers, and for every destination.
static LogicalResult verifyFacts(WriteOp op) {
  if (op.hasTensorForm() && (op.getDisjoint() || op.isVersioned()))
    return op.emitOpError("expects memrefs where layout facts are stated");
  if (op.isVersioned() && op.getAccesses()->size() != op.getNumDests())
    return op.emitOpError("expects an access clause on each of ")
           << op.getNumDests() << " destinations or on none, but got "
           << op.getAccesses()->size();
  return success();
}

/// What the types can say of `access(n)` on destination `i`.
static LogicalResult verifyAccess(WriteOp op, unsigned i) {
  int64_t access = op.getAccess(i);
  if (access == 1)
    return success();
  auto error = [&]() -> InFlightDiagnostic {
    return op.emitOpError("destination ") << i << ": ";
  };
  if (!llvm::isPowerOf2_64(access))
    return error() << "expects an access of a power of two, but got " << access;
  if (!op.hasInnerRow(i))
    return error() << "access(" << access
                   << ") expects a last row coordinate along the last "
                      "dimensions of values and cache";
  for (ShapedType type : {op.getValueType(i), op.getDestType(i)})
    if (!cast<MemRefType>(type).isLastDimUnitStride())
      return error() << "access(" << access
                     << ") expects a last dimension of stride 1, but got "
                     << type;
  return success();
}

LogicalResult WriteOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyGrid(*this)) ||
      failed(verifyFacts(*this)))
    return failure();
  for (unsigned i = 0; i < getNumDests(); ++i)
    if (failed(verifyMaps(*this, i)) || failed(verifySizes(*this, i)) ||
        failed(verifyAccess(*this, i)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// A region: its arguments, what it yields, and that it computes on scalars.
static LogicalResult verifyBlock(WriteOp op, Block &block, TypeRange arguments,
                                 Type result, StringRef rule, StringRef what) {
  if (block.getArgumentTypes() != arguments)
    return op.emitOpError(rule)
           << "expects " << what << " to take (" << arguments
           << "), but it takes (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op.emitOpError("expects ") << what << " to end with kv.yield";
  if (yield.getValue().getType() != result)
    return yield.emitOpError(rule)
           << "expects " << result << " from " << what << ", but got "
           << yield.getValue().getType();

  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &nested : block.without_terminator()) {
    if (!isMemoryEffectFree(&nested) || nested.getNumRegions() != 0)
      return nested.emitOpError("is not allowed in ")
             << what << ": only operations without effects and regions are";
    if (!llvm::all_of(nested.getOperandTypes(), isScalar) ||
        !llvm::all_of(nested.getResultTypes(), isScalar))
      return nested.emitOpError("is not allowed in ")
             << what << ": only operations on scalars are";
  }
  return success();
}

LogicalResult WriteOp::verifyRegions() {
  if (hasWhere()) {
    SmallVector<Type> slots(getNumIndices(),
                            IntegerType::get(getContext(), 64));
    if (failed(verifyBlock(*this, getWhere().front(), slots,
                           IntegerType::get(getContext(), 1),
                           "SX4: ", "region 'where'")))
      return failure();
  }
  for (unsigned i = 0; i < getNumDests(); ++i) {
    std::string what = "the region of destination " + std::to_string(i);
    if (failed(verifyBlock(*this, getBody(i), getValueType(i).getElementType(),
                           getDestType(i).getElementType(), "SC5: ", what)))
      return failure();
  }
  return success();
}
