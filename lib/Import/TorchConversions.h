//===- TorchConversions.h - Torch operations in the chain -------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file for each kind of operation that feeds a write: what it becomes, or
// nothing where that is not known. A conversion that gives nothing has changed
// nothing that others use; the value then enters the chain as it is, as a root.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHCONVERSIONS_H
#define KVFUSE_LIB_IMPORT_TORCHCONVERSIONS_H

#include "TorchChain.h"

namespace kvfuse::torch {

/// The builtin tensor that takes the place of the result of an operation, or
/// null.
using Conversion = mlir::Value (*)(ChainConverter &, mlir::Operation *);

/// Is `op` another name for its operand, and no copy?
bool isAlias(mlir::Operation *op);

/// Copies, other names and changes of the element type.
Conversion getCopyConversion(llvm::StringRef name);
/// Literals, filled tensors and iotas.
Conversion getConstantConversion(llvm::StringRef name);
/// Views, repetitions and slices.
Conversion getShapeConversion(llvm::StringRef name);
Conversion getRepetitionConversion(llvm::StringRef name);
/// Integer arithmetic, for results of integers.
Conversion getIndexConversion(llvm::StringRef name);
Conversion getDivisionConversion(llvm::StringRef name);
/// The division, by a number of the host that is no constant, that one of
/// `indices` is computed from, or null. It is no part of the chain.
mlir::Operation *findDynamicDivision(mlir::ValueRange indices);
/// Comparisons and what is made of them, for results of bool.
Conversion getMaskConversion(llvm::StringRef name);
/// Floating-point arithmetic, for results of floats.
Conversion getValueConversion(llvm::StringRef name);
/// Other types for the same bits.
Conversion getBitcastConversion(llvm::StringRef name);
/// x[mask].
Conversion getCompressConversion(llvm::StringRef name);

/// Does `op` compute indices from `values`, which are indices too and not
/// wider?
bool isIndexArithmetic(mlir::Operation *op, mlir::ValueRange values);
/// `values`, whole and repeated along each other, in the width of the result of
/// `op`: 32 bits wrap around as in torch. Nothing where `convertElements` gives
/// nothing.
llvm::SmallVector<mlir::Value> convertIndexOperands(ChainConverter &chain,
                                                    mlir::Operation *op,
                                                    mlir::ValueRange values);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHCONVERSIONS_H
