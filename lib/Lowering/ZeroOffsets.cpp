//===- ZeroOffsets.cpp - Buffers of kernels begin at their pointers -------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVZEROOFFSETS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// The place of the offset among the parameters that a memref is taken apart
/// into, behind the allocated and the aligned pointer.
static constexpr unsigned kOffset = 2;

/// Replaces what `kernel`, which `launch` launches, reads of offsets.
static void zeroOffsets(LLVM::LLVMFuncOp kernel, gpu::LaunchFuncOp launch) {
  OpBuilder b(kernel.getBody());
  unsigned parameter = 0;
  for (Type type : launch.getKernelOperands().getTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      ++parameter;
      continue;
    }
    Value offset = kernel.getArgument(parameter + kOffset);
    offset.replaceAllUsesWith(LLVM::ConstantOp::create(
        b, kernel.getLoc(), offset.getType(), b.getIndexAttr(0)));
    parameter += MemRefDescriptor::getNumUnpackedValues(memref);
  }
}

namespace {
struct KVZeroOffsetsPass : kvfuse::impl::KVZeroOffsetsBase<KVZeroOffsetsPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    DenseSet<Operation *> seen;
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      auto kernel = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
          launch, launch.getKernelAttr());
      if (kernel && seen.insert(kernel).second)
        zeroOffsets(kernel, launch);
    });
  }
};
} // namespace
