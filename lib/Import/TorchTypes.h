//===- TorchTypes.h - Torch types and constants from text -------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads Torch IR by the names of operations and the text of types, so that it
// does not matter whether the Torch dialect is registered.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_IMPORT_TORCHTYPES_H
#define KVFUSE_LIB_IMPORT_TORCHTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace kvfuse::torch {

/// The two operations between torch tensors and builtin ones.
inline constexpr llvm::StringLiteral kToBuiltin = "torch_c.to_builtin_tensor";
inline constexpr llvm::StringLiteral kFromBuiltin =
    "torch_c.from_builtin_tensor";

/// The name of the torch operation that `op` is, also where it is spelled as a
/// generic `torch.operator`.
llvm::StringRef getTorchName(mlir::Operation *op);
bool isTorchOp(mlir::Operation *op);
/// Is `op` one of torch's own, rather than one that somebody has registered?
bool isAtenOp(mlir::Operation *op);
bool isToBuiltin(mlir::Operation *op);
bool isFromBuiltin(mlir::Operation *op);
/// Is `op` a constant, a copy of one, or what only puts constants and tensors
/// together?
bool isConstantOrList(mlir::Operation *op);

std::string toText(mlir::Type type);
bool isTorchType(mlir::Type type);
bool isNoneType(mlir::Type type);

/// `!torch.vtensor<[?,4],si64>` as tensor<?x4xsi64>: integers keep their sign,
/// so that equal types are equal in torch too. Null for every other type.
mlir::RankedTensorType readTensorType(mlir::Type type);
/// The same type with signless integers, as arith and kv want it.
mlir::RankedTensorType dropSign(mlir::RankedTensorType type);

/// Is `type` an element type of index tensors (SX1)?
bool isIndexElement(mlir::Type type);
/// The element type of the torch tensor `value`, signed as in torch, or null.
mlir::Type getElementType(mlir::Value value);

/// The element type that torch's dtype code `code` names, or null.
mlir::Type getElementTypeOfCode(mlir::MLIRContext *context, int64_t code);

/// Constants: a value that is not one gives nothing.
std::optional<int64_t> readInt(mlir::Value value);
std::optional<bool> readBool(mlir::Value value);
std::optional<llvm::StringRef> readString(mlir::Value value);
bool isNone(mlir::Value value);
/// An integer constant, or a tensor of one element that holds one.
std::optional<int64_t> readScalar(mlir::Value value);
/// A constant number of a dimension, counted from the end if it is negative.
std::optional<int64_t> readDim(mlir::Value value, int64_t rank);
/// A constant number as Python has it.
std::optional<double> readFloat(mlir::Value value);

/// Is `value` an argument of a function?
bool isFunctionArgument(mlir::Value value);
/// The operands of `op`, and of the lists among them.
llvm::SmallVector<mlir::Value> getFlatOperands(mlir::Operation *op);

/// The elements of a list, if `value` is a list that is put together here.
std::optional<mlir::OperandRange> readList(mlir::Value value);

} // namespace kvfuse::torch

#endif // KVFUSE_LIB_IMPORT_TORCHTYPES_H
