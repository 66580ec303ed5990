//===- OtherTargets.cpp - Vendors that kvfuse has no kernels for ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To register all dialects is to register what makes binaries of kernels, and
// with it LLVM's code generators for all vendors. gpu-module-to-binary is no
// part of kvfuse's pipelines: here two of its targets are registered as
// nothing, in front of MLIR's archives, whose members with the same names are
// then not linked. That is a quarter of the library.
//
//===----------------------------------------------------------------------===//

#include "mlir/Target/LLVM/ROCDL/Target.h"
#include "mlir/Target/LLVM/XeVM/Target.h"

void mlir::ROCDL::registerROCDLTargetInterfaceExternalModels(
    DialectRegistry &) {}

void mlir::xevm::registerXeVMTargetInterfaceExternalModels(DialectRegistry &) {}
