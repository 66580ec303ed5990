//===- TorchLayout.h - Where a view's coordinates lie in its base -*- C++ -*-=//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHLAYOUT_H
#define KVFUSE_LIB_IMPORT_TORCHLAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace kvfuse::torch {

/// A box of a tensor: from `offsets`, `sizes` elements each way. A dynamic size
/// is that of the whole dimension.
struct Part {
  llvm::SmallVector<int64_t> offsets;
  llvm::SmallVector<int64_t> sizes;

  static Part whole(llvm::ArrayRef<int64_t> shape);
  /// Does the part lie in `other`, a part of the same tensor?
  bool isInside(const Part &other) const;
  bool operator==(const Part &other) const {
    return offsets == other.offsets && sizes == other.sizes;
  }
};

/// How the coordinates of a view are those of a part of its base, in terms of
/// logical coordinates: strides in memory play no role.
///
/// A view dimension is a list of digits, the outermost first; each is a factor
/// of one dimension of the part. A flat view `[24]` of `[6, 4]` has one
/// dimension of the digits 6 (dimension 0, stride 1) and 4 (dimension 1, stride
/// 1); `[2, 12]` seen from `[24]` has two digits of one dimension, with strides
/// 12 and 1.
class ViewLayout {
public:
  struct Digit {
    int64_t size;
    unsigned dim;
    int64_t stride;
    bool operator==(const Digit &other) const {
      return size == other.size && dim == other.dim && stride == other.stride;
    }
  };
  struct Dim {
    int64_t size;
    llvm::SmallVector<Digit, 2> digits;
  };

  explicit ViewLayout(llvm::ArrayRef<int64_t> baseShape);

  llvm::ArrayRef<Dim> getDims() const { return dims; }
  const Part &getPart() const { return part; }
  bool isSliced() const { return !(part == Part::whole(baseShape)); }
  /// Is the view its base?
  bool isIdentity() const;
  /// Do both have the same coordinates, in the same part?
  bool equals(const ViewLayout &other) const;

  /// The same elements in row-major order as `shape`. Fails where a new
  /// dimension is no product of factors of the old ones.
  mlir::LogicalResult reshape(llvm::ArrayRef<int64_t> shape);
  /// Does each dimension of several digits step through memory evenly, if the
  /// base is contiguous? One that does not makes torch copy the tensor.
  bool isView() const;
  void permute(llvm::ArrayRef<int64_t> order);
  /// Leaves `size` of dimension `dim` from `offset`. Fails where that is no box
  /// of the base.
  mlir::LogicalResult slice(unsigned dim, int64_t offset, int64_t size);

  /// Dimensions of size 1 of a part that no coordinate of the view tells apart:
  /// the part may do without them.
  llvm::SmallVector<bool> getDroppedDims() const;

  /// Is an index of dimension `dim` beyond its size, or negative, so in the
  /// base too, and wrapped there to the same element (SX4, SX5)?
  bool keepsBounds(unsigned dim) const;

  /// The coordinates of the digits of dimension `dim` at `coordinate`. Fails
  /// where a divisor is dynamic.
  mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>>
  split(unsigned dim, mlir::AffineExpr coordinate) const;
  /// The coordinates in the part, from those of all digits, less the dropped
  /// dimensions.
  llvm::SmallVector<mlir::AffineExpr>
  join(mlir::MLIRContext *context,
       llvm::ArrayRef<llvm::SmallVector<mlir::AffineExpr>> digits) const;

private:
  llvm::SmallVector<int64_t> baseShape;
  Part part;
  llvm::SmallVector<Dim> dims;
};

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHLAYOUT_H
