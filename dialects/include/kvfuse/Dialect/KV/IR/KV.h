//===- KV.h - The kv dialect ------------------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KV_H
#define KVFUSE_DIALECT_KV_IR_KV_H

#include "kvfuse/Dialect/KV/IR/Interval.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kvfuse/Dialect/KV/IR/KVOpsDialect.h.inc"

#include "kvfuse/Dialect/KV/IR/KVOpsEnums.h.inc"

#define GET_OP_CLASSES
#include "kvfuse/Dialect/KV/IR/KVOps.h.inc"

namespace mlir::kv {

/// Does float type `type` have no encoding of infinity, so that a cast to it
/// may saturate (SC3)?
bool hasNoInfinity(Type type);

/// Rounds `value` once to the semantics of `type`, nearest even, by the rules
/// SC1 to SC3. This is what `kv.cast` means.
APFloat castFloat(APFloat value, FloatType type, bool saturating);

} // namespace mlir::kv

#endif // KVFUSE_DIALECT_KV_IR_KV_H
