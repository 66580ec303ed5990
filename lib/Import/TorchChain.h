//===- TorchChain.h - What feeds a cache write, from torch to kv *- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHCHAIN_H
#define KVFUSE_LIB_IMPORT_TORCHCHAIN_H

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse::torch {

struct RowWrite;

/// What the user says about indices and casts, beyond the program.
struct Policies {
  /// What negative indices mean; nothing is what torch's operation says.
  std::optional<mlir::kv::NegativePolicy> negative;
  mlir::kv::BoundsPolicy outOfBounds = mlir::kv::BoundsPolicy::trap;
  /// Tokens with a negative index are masked (SX4).
  bool skipNegative = false;
  /// Tokens with this slot are masked (SX6).
  std::optional<int64_t> reservedSlot;
  /// Casts to float8_e4m3fn saturate (SC4).
  bool saturatingCasts = true;

  /// No index that is examined is negative: division may round as it likes
  /// (SX3).
  bool excludesNegative() const {
    return skipNegative || negative == mlir::kv::NegativePolicy::undefined;
  }
};

/// A torch tensor that holds, along dimension `dim`, what `mask` picks of a
/// longer one (x[mask]).
struct Compression {
  mlir::Value mask;
  int64_t dim;
  /// The operation that picks.
  mlir::Operation *cause;
};

/// Converts the values of one function on demand: what a cache write needs, as
/// far back as its operations are known. New operations stand where the torch
/// operation that they replace stands; that one is left for others to use.
class ChainConverter {
public:
  ChainConverter(mlir::Operation *func, const Policies &policies);

  //===--------------------------------------------------------------------===//
  // For writes
  //===--------------------------------------------------------------------===//

  /// The builtin tensor that holds the torch tensor `value`. Integers may be
  /// wider than in torch.
  mlir::Value convert(mlir::Value value);

  /// The index tensors of `write`, repeated along each other as torch does: all
  /// have the shape of the token grid. Compressed ones are given whole, and so
  /// are rows: the mask of the write tells what was picked.
  llvm::SmallVector<mlir::Value> convertIndices(mlir::ValueRange indices,
                                                mlir::Operation *write);
  mlir::Value convertRows(mlir::Value values) { return convertWhole(values); }

  /// Are indices and rows of `write` picked by one and the same mask, if at
  /// all? If not, a remark says so.
  mlir::LogicalResult checkCompression(const RowWrite &write,
                                       mlir::Operation *op);

  /// The mask of `write`, for use at `op`: what picks its tokens, and what the
  /// policies say about `indices`, its index operands; null if there is none.
  /// Fails if the policies cannot be applied.
  mlir::FailureOr<mlir::Value>
  getMask(const RowWrite &write, mlir::ValueRange indices, mlir::Operation *op);

  /// The same as `convert` for a cache, which may be renamed but never
  /// computed.
  mlir::Value convertCache(mlir::Value value);

  /// Makes `converted` known as what holds `value`.
  void record(mlir::Value value, mlir::Value converted) {
    builtins[value] = converted;
  }
  bool isConverted(mlir::Value value) const { return builtins.contains(value); }
  /// What holds `value`, if it has been converted, or else null.
  mlir::Value lookup(mlir::Value value) const { return builtins.lookup(value); }
  /// Operations that are not needed if nobody uses them: those that have been
  /// converted, and what was built from them.
  llvm::SmallVector<mlir::Operation *> getConvertedOps() const;

  //===--------------------------------------------------------------------===//
  // For conversions
  //===--------------------------------------------------------------------===//

  const Policies &getPolicies() const { return policies; }
  mlir::OpBuilder &getBuilderAt(mlir::Operation *op) {
    builder.setInsertionPoint(op);
    return builder;
  }

  /// The builtin tensor for `value`, before anything is picked from it if it is
  /// compressed.
  mlir::Value convertWhole(mlir::Value value);
  /// Null if `value`, once converted, is not compressed.
  const Compression *getCompression(mlir::Value value) const;
  void setCompression(mlir::Value value, const Compression &compression) {
    compressions.try_emplace(value, compression);
  }

  /// Can `value` be used at `op`?
  bool dominates(mlir::Value value, mlir::Operation *op) const {
    return dominance.properlyDominates(value, op);
  }

  /// A torch integer that is a constant or the size of a tensor, as an index
  /// for use at `op`.
  mlir::FailureOr<mlir::OpFoldResult> convertSize(mlir::Value value,
                                                  mlir::Operation *op);

  /// The tensors that the result of `op` is computed from element by element,
  /// whole and repeated along each other; nothing if they are picked from by
  /// different masks. The builder is at `op`.
  llvm::SmallVector<mlir::Value> convertElements(mlir::Operation *op,
                                                 mlir::ValueRange values);

private:
  mlir::Value enterOnce(mlir::Value value);
  mlir::Value getPickingMask(const RowWrite &write, mlir::Value grid,
                             mlir::Operation *op);
  mlir::Value getMaskOf(mlir::Value index, mlir::Operation *write);
  mlir::Value getRootMask(mlir::Value root, mlir::Operation *write);
  mlir::Value combineMasks(mlir::Value lhs, mlir::Value rhs,
                           mlir::Operation *write);

  const Policies &policies;
  mlir::Operation *func;
  /// The operations that were there before.
  llvm::DenseSet<mlir::Operation *> original;
  mlir::DominanceInfo dominance;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> builtins;
  /// Torch tensors that come in as they are.
  llvm::DenseMap<mlir::Value, mlir::Value> entered;
  llvm::DenseMap<mlir::Value, Compression> compressions;
  llvm::SetVector<mlir::Operation *> convertedOps;
  /// Masks by what they are of, and conjunctions by operands.
  llvm::DenseMap<mlir::Value, mlir::Value> masks;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> conjunctions;
};

/// Do two values hold the same, because pure operations make them in the same
/// way?
bool isEquivalent(mlir::Value lhs, mlir::Value rhs);

/// `tensor` of integers as i64.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value tensor);
/// `tensor` of integers as signless integers of the width of `element`, if they
/// are not narrower.
mlir::Value narrow(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value tensor, mlir::Type element);
/// `scalar` in every element of a tensor of the type of `tensor`.
mlir::Value splatLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::TypedAttr scalar, mlir::Value tensor);
mlir::Value splatLike(mlir::OpBuilder &builder, mlir::Location loc,
                      int64_t scalar, mlir::Value tensor);

/// Adds to `holding` the assertions that hold for every size that a mask may
/// pick, and the operations that only make them.
void checkPickedSizes(mlir::Operation *func, const ChainConverter &chain,
                      llvm::SmallVectorImpl<mlir::Operation *> &holding);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHCHAIN_H
