//===- DependentLaunch.cpp - Kernels that start before the last one ends --===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVDEPENDENTLAUNCH
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

namespace {
struct KVDependentLaunchPass
    : public kvfuse::impl::KVDependentLaunchBase<KVDependentLaunchPass> {
  using KVDependentLaunchBase::KVDependentLaunchBase;

  void runOnOperation() override {
    getOperation()->walk([&](LLVM::LLVMFuncOp func) {
      if (!func.isExternal() &&
          func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        convert(func);
    });
  }

private:
  void convert(LLVM::LLVMFuncOp func) {
    OpBuilder b(func.getContext());
    auto create = [&](NVVM::GridDepActionKind kind) {
      NVVM::GriddepcontrolOp::create(b, func.getLoc(), kind);
    };
    // SP1: every thread waits, before it does anything else.
    b.setInsertionPointToStart(&func.getBody().front());
    if (early)
      create(NVVM::GridDepActionKind::launch_dependents);
    create(NVVM::GridDepActionKind::wait);
    if (early)
      return;
    func.walk([&](LLVM::ReturnOp op) {
      b.setInsertionPoint(op);
      create(NVVM::GridDepActionKind::launch_dependents);
    });
  }
};
} // namespace
