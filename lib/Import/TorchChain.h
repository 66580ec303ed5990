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

/// Converts the values of one function on demand: what a cache write needs, as
/// far back as its operations are known. New operations stand where the torch
/// operation that they replace stands; that one is left for others to use.
class ChainConverter {
public:
  ChainConverter(mlir::Operation *func, const Policies &policies)
      : policies(policies), dominance(func), builder(func->getContext()) {}

  /// The builtin tensor that holds the torch tensor `value`, an index tensor or
  /// the rows of a write. Integers may be wider than in torch.
  mlir::Value convert(mlir::Value value);

  /// The index tensors of `write`, repeated along each other as torch does: all
  /// have the shape of the token grid.
  llvm::SmallVector<mlir::Value> convertIndices(mlir::ValueRange indices,
                                                mlir::Operation *write);

  /// The same for a cache, which may be renamed but never computed.
  mlir::Value convertCache(mlir::Value value);

  /// The mask that the policies put on a write at `indices` (converted), for
  /// use at `write`; null if there is none. Fails if they cannot be applied.
  mlir::FailureOr<mlir::Value> getMask(mlir::ValueRange indices,
                                       mlir::Operation *write);

  /// Makes `converted` known as what holds `value`.
  void record(mlir::Value value, mlir::Value converted) {
    builtins[value] = converted;
  }
  bool isConverted(mlir::Value value) const { return builtins.contains(value); }
  /// What holds `value`, if it has been converted, or else null.
  mlir::Value lookup(mlir::Value value) const { return builtins.lookup(value); }
  /// Torch operations that are no longer needed if nobody else uses them.
  mlir::ArrayRef<mlir::Operation *> getConvertedOps() const {
    return convertedOps.getArrayRef();
  }

private:
  using Conversion = mlir::Value (ChainConverter::*)(mlir::Operation *);
  static Conversion getConversion(mlir::Operation *op);

  mlir::Value convertIdentity(mlir::Operation *op);
  mlir::Value convertElementType(mlir::Operation *op);
  mlir::Value convertDivision(mlir::Operation *op);

  mlir::Value enter(mlir::Value value);
  mlir::Value widen(mlir::Location loc, mlir::Value tensor);
  mlir::Value splatLike(mlir::Location loc, int64_t scalar, mlir::Value tensor);
  mlir::Value compareWith(mlir::Location loc, mlir::arith::CmpIPredicate pred,
                          mlir::Value slots, int64_t scalar);
  mlir::Value getRootMask(mlir::Value root, mlir::Operation *write);
  mlir::Value combineMasks(mlir::Value lhs, mlir::Value rhs,
                           mlir::Operation *write);

  const Policies &policies;
  mlir::DominanceInfo dominance;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> builtins;
  llvm::SetVector<mlir::Operation *> convertedOps;
  /// Masks by root, and conjunctions by operands.
  llvm::DenseMap<mlir::Value, mlir::Value> rootMasks;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> conjunctions;
};

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHCHAIN_H
