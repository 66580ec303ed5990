//===- TorchLayout.cpp - Where a view's coordinates lie in its base -------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchLayout.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kvfuse::torch;

using Digit = ViewLayout::Digit;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Part Part::whole(ArrayRef<int64_t> shape) {
  return {SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape)};
}

bool Part::isInside(const Part &other) const {
  for (auto [offset, size, otherOffset, otherSize] :
       llvm::zip_equal(offsets, sizes, other.offsets, other.sizes)) {
    if (ShapedType::isDynamic(otherSize))
      continue;
    if (ShapedType::isDynamic(size) || offset < otherOffset ||
        offset + size > otherOffset + otherSize)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

ViewLayout::ViewLayout(ArrayRef<int64_t> baseShape)
    : baseShape(baseShape), part(Part::whole(baseShape)) {
  for (auto [dim, size] : llvm::enumerate(baseShape))
    dims.push_back({size, {Digit{size, static_cast<unsigned>(dim), 1}}});
}

/// The digits that tell elements apart.
static SmallVector<Digit> getProperDigits(ArrayRef<Digit> digits) {
  return llvm::filter_to_vector(digits,
                                [](const Digit &d) { return d.size != 1; });
}

bool ViewLayout::equals(const ViewLayout &other) const {
  return baseShape == other.baseShape && part == other.part &&
         llvm::equal(dims, other.dims, [](const Dim &lhs, const Dim &rhs) {
           return lhs.size == rhs.size &&
                  getProperDigits(lhs.digits) == getProperDigits(rhs.digits);
         });
}

bool ViewLayout::isIdentity() const { return equals(ViewLayout(baseShape)); }

//===----------------------------------------------------------------------===//
// Views of views
//===----------------------------------------------------------------------===//

/// Moves the inner digits whose product is `size` from the end of `digits` to
/// the end of the result, splitting the last one if need be.
static FailureOr<SmallVector<Digit, 2>>
takeInner(SmallVectorImpl<Digit> &digits, int64_t size) {
  SmallVector<Digit, 2> taken;
  while (size != 1) {
    if (digits.empty())
      return failure();
    Digit &last = digits.back();
    bool dynamic = ShapedType::isDynamic(last.size);
    if (!dynamic && size % last.size == 0) {
      size /= last.size;
      taken.insert(taken.begin(), digits.pop_back_val());
      continue;
    }
    if (!dynamic && last.size % size != 0)
      return failure();
    taken.insert(taken.begin(), Digit{size, last.dim, last.stride});
    last.stride *= size;
    if (!dynamic)
      last.size /= size;
    size = 1;
  }
  return taken;
}

/// Neighbours that are one factor of one dimension are one digit.
static void mergeDigits(SmallVectorImpl<Digit> &digits) {
  for (size_t i = 1; i < digits.size();) {
    Digit &outer = digits[i - 1], &inner = digits[i];
    if (ShapedType::isDynamic(inner.size) || outer.dim != inner.dim ||
        outer.stride != inner.stride * inner.size) {
      ++i;
      continue;
    }
    if (!ShapedType::isDynamic(outer.size))
      outer.size *= inner.size;
    outer.stride = inner.stride;
    digits.erase(&inner);
  }
}

/// The dimensions `dims` with others of size 1 between them, so that their
/// sizes are `shape`; nothing if more has changed.
static std::optional<SmallVector<ViewLayout::Dim>>
changeUnitDims(ArrayRef<ViewLayout::Dim> dims, ArrayRef<int64_t> shape) {
  // Two dynamic sizes may have become two others.
  if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return std::nullopt;
  SmallVector<ViewLayout::Dim> changed;
  for (int64_t size : shape) {
    while (size != 1 && !dims.empty() && dims.front().size == 1)
      dims = dims.drop_front();
    if (!dims.empty() && dims.front().size == size) {
      changed.push_back(dims.consume_front());
    } else if (size == 1) {
      changed.push_back({1, {}});
    } else {
      return std::nullopt;
    }
  }
  if (llvm::any_of(dims, [](const ViewLayout::Dim &d) { return d.size != 1; }))
    return std::nullopt;
  return changed;
}

LogicalResult ViewLayout::reshape(ArrayRef<int64_t> shape) {
  if (std::optional<SmallVector<Dim>> changed = changeUnitDims(dims, shape)) {
    dims = std::move(*changed);
    return success();
  }

  SmallVector<Digit> digits;
  for (const Dim &dim : dims)
    llvm::append_range(digits, getProperDigits(dim.digits));
  SmallVector<Dim> reshaped;
  for (int64_t size : shape)
    reshaped.push_back({size, {}});
  for (Dim &dim : llvm::reverse(reshaped)) {
    if (!ShapedType::isDynamic(dim.size)) {
      FailureOr<SmallVector<Digit, 2>> taken = takeInner(digits, dim.size);
      if (failed(taken))
        return failure();
      dim.digits = std::move(*taken);
      continue;
    }
    // What is left over for the outermost dimension is its size.
    ArrayRef<Dim> outer(reshaped.begin(), &dim);
    if (!llvm::all_of(outer, [](const Dim &d) { return d.size == 1; }))
      return failure();
    dim.digits.assign(digits.begin(), digits.end());
    digits.clear();
  }
  if (!digits.empty())
    return failure();
  for (Dim &dim : reshaped)
    mergeDigits(dim.digits);
  dims = std::move(reshaped);
  return success();
}

bool ViewLayout::isView() const {
  auto areNeighbours = [&](const Digit &outer, const Digit &inner) {
    ArrayRef<int64_t> shape(baseShape);
    if (outer.stride != 1 || outer.dim >= inner.dim)
      return false;
    // All of the inner dimension, and nothing in between.
    bool coversInner = part.sizes[inner.dim] == shape[inner.dim] &&
                       (ShapedType::isDynamic(inner.size) ||
                        inner.size * inner.stride == shape[inner.dim]);
    return coversInner &&
           llvm::all_of(shape.slice(outer.dim + 1, inner.dim - outer.dim - 1),
                        [](int64_t size) { return size == 1; });
  };
  return llvm::all_of(dims, [&](const Dim &dim) {
    return llvm::all_of(llvm::zip(dim.digits, llvm::drop_begin(dim.digits)),
                        [&](auto pair) {
                          auto [outer, inner] = pair;
                          return areNeighbours(outer, inner);
                        });
  });
}

void ViewLayout::permute(ArrayRef<int64_t> order) {
  dims = llvm::map_to_vector(order, [&](int64_t dim) { return dims[dim]; });
}

LogicalResult ViewLayout::slice(unsigned dim, int64_t offset, int64_t size) {
  Dim &sliced = dims[dim];
  if (offset == 0 && size == sliced.size)
    return success();
  if (sliced.digits.empty())
    return failure();
  int64_t inner = 1;
  for (const Digit &digit : llvm::drop_begin(sliced.digits)) {
    if (ShapedType::isDynamic(digit.size))
      return failure();
    inner *= digit.size;
  }
  // Only the outermost factor of a dimension has boxes for its ranges.
  Digit &outer = sliced.digits.front();
  if (offset % inner != 0 || size % inner != 0 ||
      (!ShapedType::isDynamic(outer.size) &&
       outer.size * outer.stride != part.sizes[outer.dim]))
    return failure();
  outer.size = size / inner;
  sliced.size = size;
  part.offsets[outer.dim] += offset / inner * outer.stride;
  part.sizes[outer.dim] = outer.size * outer.stride;
  return success();
}

SmallVector<bool> ViewLayout::getDroppedDims() const {
  SmallVector<bool> dropped(baseShape.size(), false);
  if (!isSliced())
    return dropped;
  for (auto [drops, size] : llvm::zip_equal(dropped, part.sizes))
    drops = size == 1;
  for (const Dim &dim : dims)
    for (const Digit &digit : dim.digits)
      dropped[digit.dim] = false;
  return dropped;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

bool ViewLayout::keepsBounds(unsigned dim) const {
  if (dims[dim].digits.empty())
    return false;
  const Digit &outer = dims[dim].digits.front();
  return ShapedType::isDynamic(outer.size) ||
         outer.size * outer.stride == part.sizes[outer.dim];
}

/// (x0 floordiv inner) mod size of each digit; the outermost has all that is
/// left, what is out of bounds too.
FailureOr<SmallVector<AffineExpr>>
ViewLayout::split(unsigned dim, AffineExpr coordinate) const {
  SmallVector<AffineExpr> result;
  int64_t inner = 1;
  ArrayRef<Digit> digits = dims[dim].digits;
  for (const Digit &digit : llvm::reverse(digits)) {
    AffineExpr value = coordinate.floorDiv(inner);
    bool outermost = &digit == &digits.front();
    if (!outermost && ShapedType::isDynamic(digit.size))
      return failure();
    result.insert(result.begin(), outermost ? value : value % digit.size);
    if (!outermost)
      inner *= digit.size;
  }
  return result;
}

SmallVector<AffineExpr>
ViewLayout::join(MLIRContext *context,
                 ArrayRef<SmallVector<AffineExpr>> digits) const {
  SmallVector<AffineExpr> coordinates(baseShape.size(),
                                      getAffineConstantExpr(0, context));
  for (auto [dim, values] : llvm::zip_equal(dims, digits))
    for (auto [digit, value] : llvm::zip_equal(dim.digits, values))
      coordinates[digit.dim] = coordinates[digit.dim] + value * digit.stride;
  SmallVector<AffineExpr> kept;
  for (auto [coordinate, dropped] :
       llvm::zip_equal(coordinates, getDroppedDims()))
    if (!dropped)
      kept.push_back(coordinate);
  return kept;
}
