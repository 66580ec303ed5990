//===- Register.cpp - The dialect and its interfaces ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Dialect/KV/Transforms/BufferizableOpInterfaceImpl.h"
#include "kvfuse/Fusion/InferIntRangeInterfaceImpl.h"
#include "kvfuse/Pipelines/Pipelines.h"

void kvfuse::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::kv::KVDialect>();
  mlir::kv::registerBufferizableOpInterfaceExternalModels(registry);
  registerInferIntRangeExternalModels(registry);
}
