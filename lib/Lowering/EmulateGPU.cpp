//===- EmulateGPU.cpp - Launches as loops on the CPU ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVEMULATEGPU
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;

/// Sizes of the grid and of a block, x, y and z each.
static constexpr unsigned numSizes = 6;

//===----------------------------------------------------------------------===//
// What has an emulation
//===----------------------------------------------------------------------===//

static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (!kernel.isKernel() || !llvm::hasSingleElement(kernel.getBody()) ||
      kernel.getNumWorkgroupAttributions() != 0 ||
      !kernel.getPrivateAttributions().empty())
    return kernel.emitOpError("expects a kernel of one block, without memory "
                              "attributions, to be emulated on the CPU");
  return success();
}

static LogicalResult checkLaunch(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject() || launch.hasClusterSize() ||
      launch.getDynamicSharedMemorySize())
    return launch.emitOpError("expects a synchronous launch, without clusters "
                              "and shared memory, to be emulated on the CPU");
  return success();
}

static LogicalResult checkOperation(Operation *op) {
  if (isa<gpu::GPUModuleOp>(op->getParentOp()) &&
      !isa<gpu::GPUFuncOp, memref::GlobalOp>(op))
    return op->emitOpError("has no emulation on the CPU beside kernels");
  if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
    return success();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](gpu::GPUFuncOp kernel) { return checkKernel(kernel); })
      .Case([](gpu::LaunchFuncOp launch) { return checkLaunch(launch); })
      .Case<gpu::GPUModuleOp, gpu::ReturnOp, gpu::ThreadIdOp, gpu::BlockIdOp,
            gpu::BlockDimOp, gpu::GridDimOp>([](auto) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError("has no emulation on the CPU");
      });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Where a size of the grid or block, or the index along it, stands among the
/// `numSizes` of a launch; nothing for other operations.
static std::optional<unsigned> getSizePosition(Operation *op) {
  return TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case<gpu::GridDimOp, gpu::BlockIdOp>(
          [](auto dim) { return static_cast<unsigned>(dim.getDimension()); })
      .Case<gpu::BlockDimOp, gpu::ThreadIdOp>([](auto dim) {
        return numSizes / 2 + static_cast<unsigned>(dim.getDimension());
      })
      .Default(std::nullopt);
}

/// Enters a branch that is taken if none of `sizes` is zero.
static void enterIfNonZero(ImplicitLocOpBuilder &builder, ValueRange sizes,
                           Value zero) {
  Value condition;
  for (Value size : sizes) {
    Value isNonZero =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, size, zero);
    condition = condition ? arith::AndIOp::create(builder, condition, isNonZero)
                          : isNonZero;
  }
  auto branch = scf::IfOp::create(builder, condition, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
}

/// Enters loops over the grid and block, and returns the indices. Threads along
/// a dimension whose index the kernel does not use all do the same: there one
/// of them does it, if there is any.
static SmallVector<Value> enterLoops(ImplicitLocOpBuilder &builder,
                                     ValueRange sizes, const BitVector &used) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  SmallVector<Value> unusedSizes;
  for (unsigned position : BitVector(used).flip().set_bits())
    unusedSizes.push_back(sizes[position]);
  if (!unusedSizes.empty())
    enterIfNonZero(builder, unusedSizes, zero);

  SmallVector<Value> indices(sizes.size());
  for (unsigned position : used.set_bits()) {
    auto loop = scf::ForOp::create(builder, zero, sizes[position], one);
    builder.setInsertionPointToStart(loop.getBody());
    indices[position] = loop.getInductionVar();
  }
  return indices;
}

/// Makes an empty private function with the arguments of a kernel, after the
/// sizes of its launch.
static func::FuncOp createFunction(gpu::GPUFuncOp kernel) {
  OpBuilder builder(kernel->getParentOp());
  SmallVector<Type> inputs(numSizes, builder.getIndexType());
  llvm::append_range(inputs, kernel.getArgumentTypes());
  auto function =
      func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(),
                           builder.getFunctionType(inputs, TypeRange()));
  function.setPrivate();
  // In an object file too: a kernel may have the name of a C function.
  function->setDiscardableAttr(
      LLVM::LinkageAttr::name,
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  builder.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(builder, kernel.getLoc());
  return function;
}

/// Moves the body of a kernel into loops of a new function.
static func::FuncOp emulateKernel(gpu::GPUFuncOp kernel) {
  Block &body = kernel.getBody().front();
  SmallVector<std::pair<Operation *, unsigned>> positions;
  BitVector used(numSizes);
  body.walk([&](Operation *op) {
    std::optional<unsigned> position = getSizePosition(op);
    if (!position)
      return;
    positions.emplace_back(op, *position);
    if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op))
      used.set(*position);
  });

  func::FuncOp function = createFunction(kernel);
  ValueRange arguments = function.getArguments();
  ValueRange sizes = arguments.take_front(numSizes);
  auto builder =
      ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), &function.front());
  SmallVector<Value> indices = enterLoops(builder, sizes, used);

  IRRewriter rewriter(builder);
  for (auto [op, position] : positions)
    rewriter.replaceOp(op, isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op)
                               ? indices[position]
                               : sizes[position]);
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, builder.getInsertionBlock(),
                             builder.getInsertionPoint(),
                             arguments.drop_front(numSizes));
  return function;
}

/// Moves the globals of `gpuModule` to the module that `symbols` belongs to.
static LogicalResult moveGlobals(gpu::GPUModuleOp gpuModule,
                                 SymbolTable &symbols) {
  SymbolTable kernelSymbols(gpuModule);
  for (auto global :
       llvm::make_early_inc_range(gpuModule.getOps<memref::GlobalOp>())) {
    if (failed(kernelSymbols.renameToUnique(global, {&symbols})))
      return failure();
    global->remove();
    symbols.insert(global);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void emulateLaunch(IRRewriter &rewriter, gpu::LaunchFuncOp launch,
                          func::FuncOp function) {
  rewriter.setInsertionPoint(launch);
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  SmallVector<Value> operands = {grid.x,  grid.y,  grid.z,
                                 block.x, block.y, block.z};
  for (Value &size : operands)
    if (!size.getType().isIndex())
      size = arith::IndexCastOp::create(rewriter, launch.getLoc(),
                                        rewriter.getIndexType(), size);
  llvm::append_range(operands, launch.getKernelOperands());
  rewriter.replaceOpWithNewOp<func::CallOp>(launch, function, operands);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct KVEmulateGPUPass
    : public kvfuse::impl::KVEmulateGPUBase<KVEmulateGPUPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<gpu::GPUFuncOp> kernels;
    SmallVector<gpu::LaunchFuncOp> launches;
    if (failed(collect(kernels, launches)))
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    SymbolTable symbols(module);
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      if (failed(moveGlobals(gpuModule, symbols)))
        return signalPassFailure();
    DenseMap<Operation *, func::FuncOp> functions;
    for (gpu::GPUFuncOp kernel : kernels) {
      func::FuncOp function = emulateKernel(kernel);
      symbols.insert(function);
      functions[kernel] = function;
    }
    for (gpu::LaunchFuncOp launch : launches) {
      // A launch verifies only with a kernel of the module it is in.
      Operation *kernel =
          SymbolTable::lookupSymbolIn(module, launch.getKernelAttr());
      emulateLaunch(rewriter, launch, functions.at(kernel));
    }
    for (auto gpuModule :
         llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
      rewriter.eraseOp(gpuModule);
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  /// Finds the kernels and launches of this module, not of nested ones, and
  /// checks that nothing else of the GPU is there.
  LogicalResult collect(SmallVectorImpl<gpu::GPUFuncOp> &kernels,
                        SmallVectorImpl<gpu::LaunchFuncOp> &launches) {
    WalkResult result =
        getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (op == getOperation())
            return WalkResult::advance();
          if (isa<ModuleOp>(op))
            return WalkResult::skip();
          if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
            kernels.push_back(kernel);
          if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
            launches.push_back(launch);
          return WalkResult(checkOperation(op));
        });
    return failure(result.wasInterrupted());
  }
};
} // namespace
