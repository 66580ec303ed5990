//===- kvfuse-opt.cpp - mlir-opt with kvfuse's dialect and passes ---------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // gpu-module-to-binary translates to LLVM IR inside a pass.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  kvfuse::registerDialects(registry);

  mlir::registerAllPasses();
  kvfuse::registerPassesAndPipelines();

  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "kvfuse: fused writes into paged key/value caches\n",
      registry));
}
