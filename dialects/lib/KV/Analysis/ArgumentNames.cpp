//===- ArgumentNames.cpp - Names of the model's code ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"

#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

StringRef mlir::kv::getArgumentName(Value value) {
  if (auto memref = dyn_cast<MemrefValue>(value))
    value = memref::skipViewLikeOps(memref);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto func = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto name = func ? func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       kNameAttr)
                   : StringAttr();
  return name ? name.getValue() : StringRef();
}

std::string mlir::kv::quoteName(Value value) {
  StringRef name = getArgumentName(value);
  return name.empty() ? std::string() : (" ('" + name + "')").str();
}
