//===- AllocToRuntime.cpp - Temporaries in memory of the device -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "RuntimeCalls.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVALLOCTORUNTIME
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// Alignment in bytes that the runtime gives.
static constexpr uint64_t kAlignment = 64;

namespace {
struct AllocLowering : ConvertOpToLLVMPattern<memref::AllocOp> {
  AllocLowering(const LLVMTypeConverter &converter, RuntimeCalls &calls)
      : ConvertOpToLLVMPattern(converter), calls(calls) {}

  LogicalResult
  matchAndRewrite(memref::AllocOp alloc, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = alloc.getType();
    if (!isConvertibleAndHasIdentityMaps(type) ||
        alloc.getAlignment().value_or(1) > kAlignment)
      return rewriter.notifyMatchFailure(alloc, "layout or alignment");
    Location loc = alloc.getLoc();
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(loc, type, adaptor.getDynamicSizes(), rewriter,
                             sizes, strides, bytes);
    Value place = createPlace(alloc, rewriter);
    calls.create(rewriter, loc, "kvfuse_allocate", {bytes, place},
                 /*mayFail=*/true);
    Value data = LLVM::LoadOp::create(rewriter, loc, getPtrType(), place);
    rewriter.replaceOp(alloc,
                       {createMemRefDescriptor(loc, type, data, data, sizes,
                                               strides, rewriter)});
    return success();
  }

private:
  /// Makes room for the address on the stack of the function, where a loop does
  /// not make it again and again.
  Value createPlace(memref::AllocOp alloc,
                    ConversionPatternRewriter &rewriter) const {
    OpBuilder::InsertionGuard guard(rewriter);
    auto function = alloc->getParentOfType<func::FuncOp>();
    rewriter.setInsertionPointToStart(&function.front());
    Location loc = alloc.getLoc();
    Value one = LLVM::ConstantOp::create(rewriter, loc, getIndexType(), 1);
    return LLVM::AllocaOp::create(rewriter, loc, getPtrType(), getPtrType(),
                                  one);
  }

  RuntimeCalls &calls;
};

struct DeallocLowering : ConvertOpToLLVMPattern<memref::DeallocOp> {
  DeallocLowering(const LLVMTypeConverter &converter, RuntimeCalls &calls)
      : ConvertOpToLLVMPattern(converter), calls(calls) {}

  LogicalResult
  matchAndRewrite(memref::DeallocOp dealloc, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(dealloc.getMemref().getType()))
      return rewriter.notifyMatchFailure(dealloc, "unranked");
    MemRefDescriptor memref(adaptor.getMemref());
    Value data = memref.allocatedPtr(rewriter, dealloc.getLoc());
    calls.create(rewriter, dealloc.getLoc(), "kvfuse_release", data,
                 /*mayFail=*/false);
    rewriter.eraseOp(dealloc);
    return success();
  }

private:
  RuntimeCalls &calls;
};

struct KVAllocToRuntimePass
    : kvfuse::impl::KVAllocToRuntimeBase<KVAllocToRuntimePass> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    RuntimeCalls calls(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<AllocLowering, DeallocLowering>(converter, calls);
    ConversionTarget target(getContext());
    target.addIllegalOp<memref::AllocOp, memref::DeallocOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
