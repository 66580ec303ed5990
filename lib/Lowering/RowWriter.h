//===- RowWriter.h - Groups of elements, from values to caches --*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is what one access moves: `WriteOp::getAccess` elements along the
// last row coordinate, a vector. Where a group does not lie in its row as a
// whole, or not in the cache without wrapping, its elements are moved one by
// one.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_ROWWRITER_H
#define KVFUSE_LOWERING_ROWWRITER_H

#include "CoordinateBuilder.h"
#include "mlir/IR/IRMapping.h"

namespace kvfuse {

/// What a thread has read for one token, before it branches on any of it.
struct TokenInputs {
  llvm::ArrayRef<mlir::Value> grid;
  /// Is there such a token? Null if there is. If not, `grid` is another one.
  mlir::Value exists;
  /// The group of elements, or null if that need not lie in its row as a whole.
  mlir::Value group;
  llvm::SmallVector<mlir::Value> slots;
  /// The element of the mask, if there is one.
  mlir::Value mask;
};

/// Emits the moves of one group of one destination.
class RowWriter {
public:
  /// `mapping` takes what the regions of `write` use to the kernel's values.
  /// The group is the one at the row coordinates `rows`.
  RowWriter(mlir::ImplicitLocOpBuilder &b, mlir::kv::WriteOp write,
            const mlir::IRMapping &mapping, const Destination &dest,
            mlir::ValueRange rows);

  /// Loads the group of the token at `grid`, if it lies in its row as a whole
  /// for sure; null otherwise.
  mlir::Value load(llvm::ArrayRef<mlir::Value> grid);

  /// Stores what was read for a token, if it is to be written and in bounds.
  void store(const TokenInputs &token);

private:
  llvm::SmallVector<mlir::Value> widen(mlir::ValueRange slots);
  mlir::Value buildActive(const TokenInputs &token, mlir::ValueRange slots);
  mlir::Value createAccess();
  bool isElement() { return access == 1; }
  bool hasWholeGroups();
  mlir::Value buildInRow();
  void storeElements(const TokenInputs &token,
                     llvm::ArrayRef<mlir::Value> known,
                     CoordinateBuilder &coordinates);
  void storeElement(mlir::Value element, mlir::ValueRange place);
  mlir::Value loadVector(mlir::ValueRange source);
  void storeVector(mlir::Value elements, mlir::ValueRange place);
  llvm::SmallVector<mlir::Value> getSource(llvm::ArrayRef<mlir::Value> grid,
                                           mlir::ValueRange at);

  mlir::ImplicitLocOpBuilder &b;
  mlir::kv::WriteOp write;
  const mlir::IRMapping &mapping;
  const Destination &dest;
  unsigned i;
  int64_t access;
  llvm::SmallVector<mlir::Value> rows;
};

} // namespace kvfuse

#endif // KVFUSE_LOWERING_ROWWRITER_H
