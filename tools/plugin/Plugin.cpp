//===- Plugin.cpp - kvfuse for the stock mlir-opt -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt --load-dialect-plugin=KVFusePlugin.so
// --load-pass-plugin=KVFusePlugin.so
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Pipelines/Pipelines.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "kvfuse", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            kvfuse::registerDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "kvfuse", LLVM_VERSION_STRING,
          kvfuse::registerPassesAndPipelines};
}
