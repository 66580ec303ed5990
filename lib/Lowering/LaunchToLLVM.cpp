//===- LaunchToLLVM.cpp - Launches through kvfuse's runtime ---------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "KernelHandles.h"
#include "RuntimeCalls.h"
#include "RuntimeData.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVLAUNCHTOLLVM
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

static LogicalResult checkLaunch(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject() || launch.hasClusterSize() ||
      launch.getDynamicSharedMemorySize())
    return launch.emitOpError("expects a synchronous launch, without clusters "
                              "and shared memory");
  for (Value operand : launch.getKernelOperands()) {
    auto memref = dyn_cast<MemrefValue>(operand);
    if (memref && !isa<MemRefType>(memref.getType()))
      return launch.emitOpError("passes a buffer of unknown rank");
    if (memref &&
        memref::skipViewLikeOps(memref).getDefiningOp<memref::GetGlobalOp>())
      return launch.emitOpError("passes memory of the host to a kernel");
  }
  return success();
}

/// The slots of 8 bytes that the parameters of `launch` need.
static int64_t countSlots(gpu::LaunchFuncOp launch) {
  int64_t count = 0;
  for (Type type : launch.getKernelOperands().getTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    count += memref ? MemRefDescriptor::getNumUnpackedValues(memref) : 1;
  }
  return count;
}

namespace {
/// Lowers the launches of one module.
class LaunchLowerer {
public:
  LaunchLowerer(ModuleOp module, const KernelHandles &kernels)
      : kernels(kernels), calls(module), converter(module.getContext()) {}

  void lower(func::FuncOp function);

private:
  void lower(gpu::LaunchFuncOp launch, Value slots);
  Value convert(ImplicitLocOpBuilder &b, Value value);
  Value convertOperand(ImplicitLocOpBuilder &b, Value operand);

  const KernelHandles &kernels;
  RuntimeCalls calls;
  LLVMTypeConverter converter;
};
} // namespace

void LaunchLowerer::lower(func::FuncOp function) {
  SmallVector<gpu::LaunchFuncOp> launches;
  function.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  if (launches.empty())
    return;
  int64_t numSlots = 0;
  for (gpu::LaunchFuncOp launch : launches)
    numSlots = std::max(numSlots, countSlots(launch));
  auto b =
      ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &function.front());
  Value slots =
      LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                             b.getI64Type(), createInteger(b, 64, numSlots));
  for (gpu::LaunchFuncOp launch : launches)
    lower(launch, slots);
}

Value LaunchLowerer::convert(ImplicitLocOpBuilder &b, Value value) {
  Type type = converter.convertType(value.getType());
  return type == value.getType() ? value
                                 : converter.materializeTargetConversion(
                                       b, b.getLoc(), type, value);
}

/// Buffers begin at their pointers (see kv-zero-offsets).
Value LaunchLowerer::convertOperand(ImplicitLocOpBuilder &b, Value operand) {
  Value converted = convert(b, operand);
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return converted;
  MemRefDescriptor descriptor(converted);
  descriptor.setAlignedPtr(
      b, b.getLoc(), descriptor.bufferPtr(b, b.getLoc(), converter, type));
  descriptor.setConstantOffset(b, b.getLoc(), 0);
  return descriptor;
}

void LaunchLowerer::lower(gpu::LaunchFuncOp launch, Value slots) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  SmallVector<Value> parameters = converter.promoteOperands(
      b.getLoc(), launch.getKernelOperands(),
      llvm::map_to_vector(
          launch.getKernelOperands(),
          [&](Value value) { return convertOperand(b, value); }),
      b);
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    Value slot = LLVM::GEPOp::create(b, slots.getType(), b.getI64Type(), slots,
                                     LLVM::GEPArg(i));
    LLVM::StoreOp::create(b, parameter, slot);
  }

  SmallVector<Value> operands = {
      createAddress(b, kernels.at(launch.getKernelAttr()))};
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  for (Value size : {grid.x, grid.y, grid.z, block.x, block.y, block.z}) {
    Value converted = convert(b, size);
    operands.push_back(
        converted.getType().isInteger(64)
            ? converted
            : LLVM::ZExtOp::create(b, b.getI64Type(), converted));
  }
  operands.append({slots, createInteger(b, 64, parameters.size())});
  calls.create(b, b.getLoc(), "kvfuse_launch", operands, /*mayFail=*/true);
  launch.erase();
}

namespace {
struct KVLaunchToLLVMPass
    : kvfuse::impl::KVLaunchToLLVMBase<KVLaunchToLLVMPass> {
  using KVLaunchToLLVMBase::KVLaunchToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult check = module.walk([](gpu::LaunchFuncOp launch) {
      return WalkResult(checkLaunch(launch));
    });
    KernelHandles kernels;
    if (check.wasInterrupted() ||
        failed(createKernelHandles(module, dependent, kernels)))
      return signalPassFailure();
    LaunchLowerer lowerer(module, kernels);
    for (auto function : module.getOps<func::FuncOp>())
      lowerer.lower(function);
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
