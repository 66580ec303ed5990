//===- Disjoint.cpp - Writes to other parts of one buffer -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three proofs, each good for what the others cannot see:
// - by slices: upstream's value bounds, where offsets are computed;
// - by coordinates: the position of an element in row-major order over some
//   trailing dimensions of the buffer, which is another for other coordinates;
// - by addresses: offset plus strides times coordinates, for views of other
//   shapes whose layout is static.
// The last two compare intervals of numbers, or of their remainders by a number
// that all else is a multiple of, such as the page stride.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/Disjoint.h"

#include "kvfuse/Dialect/KV/Analysis/Footprint.h"
#include "kvfuse/Dialect/KV/Analysis/LinearForm.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::kv;

//===----------------------------------------------------------------------===//
// Numbers of elements
//===----------------------------------------------------------------------===//

namespace {
/// How elements are numbered: offset plus strides times coordinates. Of the
/// first `numMultiples` strides only a divisor is known, and given.
struct Layout {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  unsigned numMultiples = 0;
};
} // namespace

/// Row-major order, as far as the sizes in `shape` are known.
static Layout getRowMajorLayout(ArrayRef<int64_t> shape) {
  Layout layout;
  layout.strides.assign(shape.size(), 1);
  for (unsigned dim = shape.size(); dim-- > 1;) {
    int64_t stride = layout.strides[dim];
    std::optional<int64_t> next;
    if (layout.numMultiples == 0 && !ShapedType::isDynamic(shape[dim]))
      next = llvm::checkedMul(stride, shape[dim]);
    else if (layout.numMultiples == 0)
      layout.numMultiples = dim;
    layout.strides[dim - 1] = next.value_or(stride);
  }
  return layout;
}

/// Numberings of a buffer of `shape` that tell elements apart: other numbers
/// are of other elements, though not the other way round.
static SmallVector<Layout> getNumberings(ArrayRef<int64_t> shape) {
  SmallVector<Layout> numberings = {getRowMajorLayout(shape)};
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Layout &byDim = numberings.emplace_back();
    byDim.strides.assign(shape.size(), 0);
    byDim.strides[dim] = 1;
  }
  return numberings;
}

/// The layout in `type`, if it is static.
static std::optional<Layout> getStaticLayout(Type type) {
  Layout layout;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref ||
      failed(memref.getStridesAndOffset(layout.strides, layout.offset)) ||
      ShapedType::isDynamic(layout.offset) ||
      llvm::any_of(layout.strides, ShapedType::isDynamic))
    return std::nullopt;
  return layout;
}

/// Intervals that hold the numbers of all elements of `footprint`, up to
/// multiples of `modulus` if there is one; none if nothing is known. Two
/// estimates: from the bounds of each coordinate, and from what coordinates
/// have in common, as in (e floordiv c, e mod c).
static SmallVector<Interval> getNumbers(const Footprint &footprint,
                                        const Layout &layout,
                                        std::optional<int64_t> modulus) {
  Interval byBounds{layout.offset, layout.offset}, unknown = byBounds;
  LinearForm form;
  for (auto [k, coordinate] : llvm::enumerate(footprint.coordinates)) {
    int64_t stride = layout.strides[k];
    if (modulus && stride % *modulus == 0)
      continue;
    if (k < layout.numMultiples)
      return {};
    Interval scaled = coordinate.interval * stride;
    byBounds = byBounds + scaled;
    if (!coordinate.expr)
      unknown = unknown + scaled;
    else if (failed(form.add(coordinate.expr, stride)))
      return {};
  }
  if (failed(form.recombine()))
    return {byBounds};
  return {byBounds, form.getInterval(footprint.dims, modulus) + unknown};
}

/// The strides, and factors of coordinates times strides: what the rest may be
/// a multiple of.
static void collectModuli(const Footprint &footprint, const Layout &layout,
                          llvm::SetVector<int64_t> &moduli) {
  moduli.insert_range(layout.strides);
  LinearForm form;
  for (auto [k, coordinate] : llvm::enumerate(footprint.coordinates))
    if (coordinate.expr && k >= layout.numMultiples &&
        failed(form.add(coordinate.expr, layout.strides[k])))
      return;
  form.collectFactors(moduli);
}

/// Have the intervals nothing in common, not even up to multiples of `modulus`
/// if there is one?
static bool areApart(const Interval &lhs, const Interval &rhs,
                     std::optional<int64_t> modulus) {
  auto isLess = [](std::optional<int64_t> a, std::optional<int64_t> b) {
    return a && b && *a < *b;
  };
  if (!modulus)
    return isLess(lhs.high, rhs.low) || isLess(rhs.high, lhs.low);
  // `lhs` ends before `rhs` starts, which ends inside the period.
  if (!lhs.low || !lhs.high || !rhs.low || !rhs.high)
    return false;
  auto distance = llvm::checkedSub(*rhs.low, *lhs.low);
  auto lhsLast = llvm::checkedSub(*lhs.high, *lhs.low);
  auto rhsLast = llvm::checkedSub(*rhs.high, *rhs.low);
  if (!distance || !lhsLast || !rhsLast)
    return false;
  int64_t start = llvm::mod(*distance, *modulus);
  return *lhsLast < start && isLess(*rhsLast, *modulus - start);
}

static bool areDisjoint(const Footprint &lhs, const Layout &lhsLayout,
                        const Footprint &rhs, const Layout &rhsLayout) {
  auto areDisjointBy = [&](std::optional<int64_t> modulus) {
    SmallVector<Interval> others = getNumbers(rhs, rhsLayout, modulus);
    return llvm::any_of(
        getNumbers(lhs, lhsLayout, modulus), [&](const Interval &interval) {
          return llvm::any_of(others, [&](const Interval &other) {
            return areApart(interval, other, modulus);
          });
        });
  };
  llvm::SetVector<int64_t> moduli;
  collectModuli(lhs, lhsLayout, moduli);
  collectModuli(rhs, rhsLayout, moduli);
  return areDisjointBy(std::nullopt) ||
         llvm::any_of(moduli, [&](int64_t modulus) {
           return modulus > 1 && areDisjointBy(modulus);
         });
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

static bool areDisjointSlices(const Footprint &lhs, const Footprint &rhs) {
  if (!lhs.slice || !rhs.slice)
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      lhs.slice->getContext(), HyperrectangularSlice(lhs.slice),
      HyperrectangularSlice(rhs.slice));
  return succeeded(overlap) && !*overlap;
}

Value kv::getPointerOperand(Value memref) {
  Operation *def = memref.getDefiningOp();
  // Not memref.view, which moves the pointer by bytes.
  if (isa_and_nonnull<memref::AssumeAlignmentOp, memref::CastOp,
                      memref::CollapseShapeOp, memref::ExpandShapeOp,
                      memref::ExtractStridedMetadataOp,
                      memref::MemorySpaceCastOp, memref::ReinterpretCastOp,
                      memref::SubViewOp, memref::TransposeOp>(def))
    return def->getOperand(0);
  return {};
}

Value kv::getPointerSource(Value memref) {
  while (Value operand = getPointerOperand(memref))
    memref = operand;
  return memref;
}

static bool areDisjoint(const Footprint &lhs, const Footprint &rhs,
                        StripCastsFn stripCasts = nullptr) {
  auto lhsType = cast<ShapedType>(lhs.buffer.getType());
  auto rhsType = cast<ShapedType>(rhs.buffer.getType());
  if (lhs.buffer == rhs.buffer ||
      (stripCasts && stripCasts(lhs.buffer) == stripCasts(rhs.buffer))) {
    if (lhsType.getShape() != rhsType.getShape())
      return false;
    return llvm::any_of(getNumberings(lhsType.getShape()),
                        [&](const Layout &layout) {
                          return areDisjoint(lhs, layout, rhs, layout);
                        }) ||
           areDisjointSlices(lhs, rhs);
  }
  if (!isa<MemRefType>(lhsType) || !isa<MemRefType>(rhsType) ||
      getPointerSource(lhs.buffer) != getPointerSource(rhs.buffer))
    return false;
  std::optional<Layout> lhsLayout = getStaticLayout(lhsType);
  std::optional<Layout> rhsLayout = getStaticLayout(rhsType);
  return lhsLayout && rhsLayout &&
         areDisjoint(lhs, *lhsLayout, rhs, *rhsLayout);
}

bool kv::areRowsDisjoint(WriteOp lhs, unsigned i, WriteOp rhs, unsigned j,
                         StripCastsFn stripCasts) {
  return areDisjoint(Footprint(lhs, i), Footprint(rhs, j), stripCasts);
}

bool kv::isOutside(WriteOp write, unsigned i, Value view) {
  return areDisjoint(Footprint(write, i), Footprint(view));
}
