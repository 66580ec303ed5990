//===- KVDialect.cpp - The kv dialect -------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::kv;

#include "kvfuse/Dialect/KV/IR/KVOpsDialect.cpp.inc"

#include "kvfuse/Dialect/KV/IR/KVOpsEnums.cpp.inc"

namespace {
/// Every kv operation may be inlined anywhere. Nothing is ever inlined into a
/// region of a write, for no call may stand there.
struct KVInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void KVDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kvfuse/Dialect/KV/IR/KVOps.cpp.inc"
      >();
  addInterfaces<KVInlinerInterface>();
}

Operation *KVDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
