//===- KernelHandles.h - Kernels as the runtime knows them ---- -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_LOWERING_KERNELHANDLES_H
#define KVFUSE_LIB_LOWERING_KERNELHANDLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace kvfuse {

/// Globals of type `KVFuseKernel`, by the symbol that launches name.
using KernelHandles = llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp>;

/// Makes the handles of all kernels that functions of `module` launch, and
/// those of the modules they are in, in place of `gpu.binary` operations. With
/// `isDependent`, they wait for the kernel in front by themselves (SP4).
mlir::LogicalResult createKernelHandles(mlir::ModuleOp module, bool isDependent,
                                        KernelHandles &handles);

} // namespace kvfuse

#endif // KVFUSE_LIB_LOWERING_KERNELHANDLES_H
