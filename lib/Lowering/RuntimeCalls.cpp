//===- RuntimeCalls.cpp - Calls of kvfuse's runtime -----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "kvfuse/Lowering/Passes.h"

using namespace mlir;
using namespace kvfuse;

void RuntimeCalls::create(OpBuilder &b, Location loc, StringRef name,
                          ValueRange operands, bool mayFail) {
  auto function = symbols.lookup<func::FuncOp>(name);
  if (!function) {
    function = func::FuncOp::create(
        builder, loc, name,
        builder.getFunctionType(TypeRange(operands), TypeRange()));
    function.setPrivate();
    if (mayFail)
      function->setAttr(kMayFailAttr, builder.getUnitAttr());
    symbols.insert(function);
  }
  func::CallOp::create(b, loc, function, operands);
}
