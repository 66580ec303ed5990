//===- TorchSlices.cpp - Parameters of torch's views ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchSlices.h"

#include "TorchTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>> readInts(Value value) {
  std::optional<OperandRange> list = readList(value);
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (Value element : *list) {
    std::optional<int64_t> number = readInt(element);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// A bound of a slice of a dimension of size `size`, as torch clamps it. Fails
/// where a dynamic size would have to be known.
static std::optional<int64_t> readBound(Value value, int64_t size,
                                        int64_t absent) {
  std::optional<int64_t> bound = isNone(value) ? absent : readInt(value);
  if (!bound || ShapedType::isDynamic(size))
    return bound && *bound >= 0 ? bound : std::nullopt;
  return std::clamp<int64_t>(*bound < 0 ? *bound + size : *bound, 0, size);
}

bool torch::isHostNumber(Value value) {
  if (toText(value.getType()) != "!torch.int")
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  StringRef name = getTorchName(op);
  if (name == "torch.aten.item" || name == "torch.aten.Int.Tensor" ||
      name == "torch.aten._local_scalar_dense" ||
      name == "torch.aten.IntImplicit")
    return true;
  return name.starts_with("torch.aten.") && name.ends_with(".int") &&
         llvm::any_of(op->getOperands(), isHostNumber);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

static int64_t getRank(const ViewLayout &layout) {
  return layout.getDims().size();
}

LogicalResult torch::applySelect(ViewLayout &layout, OperandRange parameters,
                                 RankedTensorType type) {
  if (parameters.size() != 2)
    return failure();
  std::optional<int64_t> dim = readDim(parameters[0], getRank(layout));
  std::optional<int64_t> index = readInt(parameters[1]);
  if (!dim || !index)
    return failure();
  int64_t size = layout.getDims()[*dim].size;
  if (*index < 0)
    index = ShapedType::isDynamic(size) ? -1 : *index + size;
  if (*index < 0 || (!ShapedType::isDynamic(size) && *index >= size) ||
      failed(layout.slice(*dim, *index, 1)))
    return failure();
  return layout.reshape(type.getShape());
}

LogicalResult torch::applySlice(ViewLayout &layout, OperandRange parameters,
                                RankedTensorType type) {
  if (parameters.size() != 4 || type.getRank() != getRank(layout) ||
      readInt(parameters[3]) != 1)
    return failure();
  std::optional<int64_t> dim = readDim(parameters[0], getRank(layout));
  if (!dim)
    return failure();
  int64_t size = layout.getDims()[*dim].size;
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> start = readBound(parameters[1], size, 0);
  std::optional<int64_t> end = readBound(parameters[2], size, kToTheEnd);
  if (!start || !end)
    return failure();
  int64_t length = type.getDimSize(*dim);
  bool consistent =
      ShapedType::isDynamic(size)
          ? !ShapedType::isDynamic(length) || (*start == 0 && *end == kToTheEnd)
          : length == *end - *start;
  return consistent ? layout.slice(*dim, *start, length) : failure();
}

LogicalResult torch::applyNarrow(ViewLayout &layout, OperandRange parameters,
                                 RankedTensorType type) {
  if (parameters.size() != 3 || type.getRank() != getRank(layout))
    return failure();
  std::optional<int64_t> dim = readDim(parameters[0], getRank(layout));
  std::optional<int64_t> start = readInt(parameters[1]);
  if (!dim || !start || *start < 0 || type.isDynamicDim(*dim) ||
      readInt(parameters[2]) != type.getDimSize(*dim))
    return failure();
  return layout.slice(*dim, *start, type.getDimSize(*dim));
}

/// Strides of a contiguous tensor; only the outermost size may be dynamic.
static FailureOr<SmallVector<int64_t>>
getContiguousStrides(const ViewLayout &layout) {
  SmallVector<int64_t> strides(getRank(layout));
  int64_t stride = 1;
  for (auto [dim, result] :
       llvm::reverse(llvm::zip_equal(layout.getDims(), strides))) {
    result = stride;
    if (&result != &strides.front() && ShapedType::isDynamic(dim.size))
      return failure();
    stride *= dim.size;
  }
  return strides;
}

LogicalResult torch::applyAsStrided(ViewLayout &layout, OperandRange parameters,
                                    RankedTensorType type) {
  if (parameters.size() != 3 || !layout.isIdentity() || !type.hasStaticShape())
    return failure();
  std::optional<SmallVector<int64_t>> strides = readInts(parameters[1]);
  std::optional<int64_t> offset =
      isNone(parameters[2]) ? 0 : readInt(parameters[2]);
  FailureOr<SmallVector<int64_t>> baseStrides = getContiguousStrides(layout);
  if (!strides || !offset || *offset < 0 || failed(baseStrides) ||
      readInts(parameters[0]) != SmallVector<int64_t>(type.getShape()))
    return failure();

  int64_t rank = getRank(layout);
  SmallVector<int64_t> lengths(rank, 1), order;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), *strides)) {
    if (size == 1)
      continue;
    // Of several dimensions with one stride the outermost is not of size 1.
    auto *found = llvm::find(*baseStrides, stride);
    int64_t dim = std::distance(baseStrides->begin(), found);
    if (dim == rank || llvm::is_contained(order, dim))
      return failure();
    order.push_back(dim);
    lengths[dim] = size;
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = *offset / (*baseStrides)[dim];
    *offset %= (*baseStrides)[dim];
    int64_t size = layout.getDims()[dim].size;
    bool fits = ShapedType::isDynamic(size) || start + lengths[dim] <= size;
    if (!fits || failed(layout.slice(dim, start, lengths[dim])))
      return failure();
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  }
  // Dimensions that are not in the view have become ones of size 1.
  layout.permute(order);
  return layout.reshape(type.getShape());
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> torch::readOrder(Operation *op, int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  StringRef name = getTorchName(op);
  if (name == "torch.aten.t") {
    if (rank > 2)
      return failure();
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (name == "torch.aten.transpose.int") {
    if (op->getNumOperands() != 3)
      return failure();
    std::optional<int64_t> lhs = readDim(op->getOperand(1), rank);
    std::optional<int64_t> rhs = readDim(op->getOperand(2), rank);
    if (!lhs || !rhs)
      return failure();
    std::swap(order[*lhs], order[*rhs]);
    return order;
  }
  // permute and prims.transpose
  std::optional<OperandRange> list =
      op->getNumOperands() == 2 ? readList(op->getOperand(1)) : std::nullopt;
  if (!list || static_cast<int64_t>(list->size()) != rank)
    return failure();
  llvm::SmallBitVector seen(rank);
  for (auto [dim, element] : llvm::enumerate(*list)) {
    std::optional<int64_t> from = readDim(element, rank);
    if (!from || seen.test(*from))
      return failure();
    seen.set(*from);
    order[dim] = *from;
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Selects by mask
//===----------------------------------------------------------------------===//

/// Is `value` arange(0, size)?
static bool isFullRange(Value value, int64_t size) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  StringRef name = getTorchName(op);
  auto operandIs = [&](unsigned i, int64_t number) {
    return op->getNumOperands() > i && readInt(op->getOperand(i)) == number;
  };
  if (name == "torch.aten.arange.start_step")
    return operandIs(0, 0) && operandIs(1, size) && operandIs(2, 1);
  if (name == "torch.aten.arange.start")
    return operandIs(0, 0) && operandIs(1, size);
  return name == "torch.aten.arange" && operandIs(0, size);
}

/// The only operation of one of `names` that defines `value`.
static Operation *getDefiningOp(Value value, ArrayRef<StringLiteral> names) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumOperands() > 1 &&
                 llvm::is_contained(names, getTorchName(op))
             ? op
             : nullptr;
}

/// The one dimension of `type` along which `mask` differs, or any of size 1.
static std::optional<unsigned> findDim(RankedTensorType mask,
                                       RankedTensorType type) {
  int64_t absent = type.getRank() - mask.getRank();
  std::optional<unsigned> found;
  for (int64_t dim = 0; dim < mask.getRank(); ++dim) {
    if (mask.getDimSize(dim) == 1)
      continue;
    if (found || mask.getDimSize(dim) != type.getDimSize(absent + dim))
      return std::nullopt;
    found = absent + dim;
  }
  const int64_t *unit = llvm::find(type.getShape(), 1);
  if (!found && unit != type.getShape().end())
    found = std::distance(type.getShape().begin(), unit);
  return found;
}

std::optional<MaskedSelect> torch::readMaskedSelect(Operation *where) {
  RankedTensorType type = readTensorType(where->getResult(0).getType());
  Operation *equal =
      getDefiningOp(where->getOperand(0), {"torch.aten.eq.Scalar"});
  Operation *expand = getDefiningOp(
      where->getOperand(1), {"torch.aten.expand", "torch.aten.broadcast_to"});
  if (!type || !equal || !expand ||
      where->getOperand(1).getType() != where->getResult(0).getType() ||
      where->getOperand(2).getType() != where->getResult(0).getType())
    return std::nullopt;
  // The mask is arange(size) == index, seen along one dimension.
  Operation *view = getDefiningOp(equal->getOperand(0), {"torch.aten.view"});
  RankedTensorType mask = readTensorType(equal->getOperand(0).getType());
  RankedTensorType source = readTensorType(expand->getOperand(0).getType());
  std::optional<int64_t> index = readInt(equal->getOperand(1));
  if (!view || !mask || !source || !index || mask.getRank() > type.getRank() ||
      source.getRank() != type.getRank())
    return std::nullopt;
  // Of a dimension of size 1 there is nothing but what the mask selects.
  std::optional<unsigned> dim = findDim(mask, type);
  if (!dim || *index < 0 || *index >= type.getDimSize(*dim) ||
      !isFullRange(view->getOperand(0), type.getDimSize(*dim)))
    return std::nullopt;
  // The source is repeated along that dimension and no other.
  SmallVector<int64_t> shape(type.getShape());
  shape[*dim] = 1;
  if (source.getShape() != ArrayRef(shape))
    return std::nullopt;
  return MaskedSelect{expand->getOperand(0),
                      *dim,
                      *index,
                      {equal, view, view->getOperand(0).getDefiningOp()}};
}
