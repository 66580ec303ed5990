//===- Pipelines.cpp - Stages in a row ------------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Pipelines/Pipelines.h"

#include "kvfuse/Dialect/KV/Transforms/Passes.h"
#include "kvfuse/Fusion/Passes.h"
#include "kvfuse/Import/Passes.h"
#include "kvfuse/Layout/Passes.h"
#include "kvfuse/Lowering/Capability.h"
#include "kvfuse/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace kvfuse;

namespace {
/// Runs passes on `module @kvfuse` of a module, if there is one. Other modules
/// in it are not kvfuse's.
struct OnWritesPass : PassWrapper<OnWritesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OnWritesPass)

  OnWritesPass() : pipeline(ModuleOp::getOperationName()) {}

  StringRef getName() const override { return "KVFuseOnWrites"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    pipeline.getDependentDialects(registry);
  }
  void runOnOperation() override {
    if (auto nested = getOperation().lookupSymbol<ModuleOp>(kWritesModule))
      if (failed(runPipeline(pipeline, nested)))
        signalPassFailure();
  }

  OpPassManager pipeline;
};
} // namespace

/// SP4: are kernels launched while the one in front runs?
static bool isLaunchDependent(const PipelineOptions &options) {
  return options.pdl != DependentLaunch::Off &&
         Capability(options.chip).hasDependentLaunch();
}

/// Adds the passes that `build` adds to its argument, for `module @kvfuse`
/// only.
static void addOnWrites(OpPassManager &pm,
                        llvm::function_ref<void(OpPassManager &)> build) {
  auto pass = std::make_unique<OnWritesPass>();
  build(pass->pipeline);
  pm.addPass(std::move(pass));
}

void kvfuse::buildImportPipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  KVImportTorchOptions import;
  import.mutates = options.mutates;
  import.torchVersion = options.torchVersion;
  import.negative = options.negative;
  import.outOfBounds = options.outOfBounds;
  import.reservedSlot = options.reservedSlot;
  pm.addPass(createKVImportTorch(import));
}

void kvfuse::buildFusionPipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  bool required = options.fuse == FuseMode::Required;
  if (options.fuse == FuseMode::Off) {
    pm.addPass(kv::createKVDecomposeWrites());
  } else {
    KVFuseChainsOptions chains;
    chains.required = required;
    pm.addPass(createKVFuseChains(chains));
  }
  pm.addPass(createKVNormalizeSlices());
  if (options.fuse != FuseMode::Off) {
    pm.addPass(createKVFoldRepeatedWrites());
    KVGroupWritesOptions groups;
    groups.required = required;
    pm.addPass(createKVGroupWrites(groups));
  }
  KVOutlineWritesOptions outline;
  outline.required = required;
  outline.group = options.fuse != FuseMode::Off;
  outline.keepCallers = options.keepCallers;
  pm.addPass(createKVOutlineWrites(outline));
}

void kvfuse::buildBufferPipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  addOnWrites(pm, [&](OpPassManager &nested) {
    nested.addPass(createConvertElementwiseToLinalgPass());

    bufferization::OneShotBufferizePassOptions bufferize;
    bufferize.bufferizeFunctionBoundaries = true;
    // Slices before what is computed from them: the slice is a view, and what
    // is computed is new, not the other way round.
    bufferize.analysisHeuristic = "top-down";
    bufferize.functionBoundaryTypeConversion =
        bufferization::LayoutMapOption::FullyDynamicLayoutMap;
    nested.addPass(bufferization::createOneShotBufferizePass(bufferize));
    nested.addPass(createKVCheckInPlace());
    if (options.fuse != FuseMode::Off) {
      KVMergeWritesOptions merge;
      merge.onlyProven = options.noVersioning;
      nested.addPass(createKVMergeWrites(merge));
    }
  });
}

void kvfuse::buildLayoutPipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  addOnWrites(pm, [&](OpPassManager &nested) {
    KVVersionLayoutsOptions layouts;
    layouts.assumeDisjoint = options.assumeDisjoint;
    layouts.assumeAligned = options.assumeAligned;
    layouts.unitStrideOnly = options.unitStrideOnly;
    // A chain is compiled as it is written: element by element.
    layouts.noVersioning =
        options.noVersioning || options.fuse == FuseMode::Off;
    layouts.countBranches = options.countBranches;
    nested.addPass(createKVVersionLayouts(layouts));
  });
}

void kvfuse::buildGPUPipeline(OpPassManager &pm,
                              const PipelineOptions &options) {
  addOnWrites(pm, [&](OpPassManager &nested) {
    nested.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
    ConvertKVToGPUOptions shape;
    shape.blockSize = options.blockSize;
    shape.tokensPerThread = options.tokensPerThread;
    // Writes of a chain move element by element; as many are in flight as in
    // its other kernels.
    if (options.fuse == FuseMode::Off && shape.tokensPerThread == 0)
      shape.tokensPerThread = 4;
    nested.addPass(createConvertKVToGPU(shape));
    nested.addPass(createCanonicalizerPass());
    nested.addPass(createCSEPass());
    // Sizes of temporaries have folded to sizes of arguments.
    nested.addPass(createKVHoistChecks());
    nested.addPass(createCSEPass());
    nested.addPass(createCanonicalizerPass());
  });
}

/// Affine and strided accesses to plain arithmetic and control flow; with
/// `hasFloat8`, casts to 8-bit floats to the instructions of the GPU.
static void addStructureLowering(OpPassManager &pm, bool hasFloat8 = false) {
  // Arithmetic on small floats in f32, rounded after each operation: the same
  // bytes on every target.
  arith::ArithEmulateUnsupportedFloatsOptions smallFloats;
  smallFloats.sourceTypeStrs = {"bf16",   "f16",        "f8E4M3FN",
                                "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};
  smallFloats.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(smallFloats));
  if (hasFloat8)
    pm.addPass(createKVCastsToNVVM());
  pm.addPass(createKVExpandCasts());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(affine::createAffineExpandIndexOpsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
}

void kvfuse::buildNVVMPipeline(OpPassManager &pm,
                               const PipelineOptions &options) {
  Capability capability(options.chip);
  addOnWrites(pm, [&](OpPassManager &nested) {
    KVCheckLoweredOptions host;
    host.host = true;
    nested.addPass(createKVCheckLowered(host));
    // While kernels show what they write.
    nested.addPass(createKVDescribeFunctions());

    OpPassManager &kernels = nested.nest<gpu::GPUModuleOp>();
    addStructureLowering(kernels, capability.hasFloat8Casts());
    ConvertGpuOpsToNVVMOpsOptions nvvm;
    nvvm.indexBitwidth = 64;
    kernels.addPass(createConvertGpuOpsToNVVMOps(nvvm));
    kernels.addPass(createReconcileUnrealizedCastsPass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createKVPinLoads());
    if (isLaunchDependent(options)) {
      KVDependentLaunchOptions dependent;
      dependent.early = options.pdl == DependentLaunch::Early;
      kernels.addPass(createKVDependentLaunch(dependent));
    }
    KVCheckLoweredOptions check;
    check.allow = {"llvm", "nvvm"};
    kernels.addPass(createKVCheckLowered(check));

    nested.addPass(createKVZeroOffsets());

    GpuNVVMAttachTargetOptions target;
    target.chip = options.chip;
    target.features = capability.getFeatures().str();
    target.optLevel = 3;
    nested.addPass(createGpuNVVMAttachTarget(target));
  });
}

/// Host code without launches, on structured control flow, to LLVM.
static void addHostLowering(OpPassManager &pm, bool isCUDA) {
  // Temporaries of an unfused chain end with the host code.
  bufferization::buildBufferDeallocationPipeline(pm, {});
  if (isCUDA)
    pm.addPass(createKVAllocToRuntime());
  // Functions of small floats in f32 too, as LLVM would compute them.
  pm.addPass(math::createMathExtendToSupportedTypes());
  addStructureLowering(pm);
  pm.addPass(createKVSmallFloatsToBits());
  pm.addPass(createKVTrapToStatus());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  KVExportFunctionsOptions exports;
  exports.cuda = isCUDA;
  pm.addPass(createKVExportFunctions(exports));
  KVCheckLoweredOptions check;
  check.allow = {"llvm"};
  pm.addPass(createKVCheckLowered(check));
}

void kvfuse::buildCPUPipeline(OpPassManager &pm) {
  addOnWrites(pm, [&](OpPassManager &nested) {
    nested.addPass(createKVDescribeFunctions());
    nested.addPass(createKVEmulateGPU());
    addHostLowering(nested, /*isCUDA=*/false);
  });
}

void kvfuse::buildGPUHostPipeline(OpPassManager &pm,
                                  const PipelineOptions &options) {
  addOnWrites(pm, [&](OpPassManager &nested) {
    KVLaunchToLLVMOptions launches;
    launches.dependent = isLaunchDependent(options);
    nested.addPass(createKVLaunchToLLVM(launches));
    addHostLowering(nested, /*isCUDA=*/true);
  });
}

void kvfuse::registerPassesAndPipelines() {
  kv::registerKVPasses();
  registerFusionPasses();
  registerImportPasses();
  registerLayoutPasses();
  registerLoweringPasses();

  auto toGPU = [](OpPassManager &pm, const PipelineOptions &options) {
    buildImportPipeline(pm, options);
    buildFusionPipeline(pm, options);
    buildBufferPipeline(pm, options);
    buildLayoutPipeline(pm, options);
    buildGPUPipeline(pm, options);
  };
  PassPipelineRegistration<PipelineOptions>(
      "kvfuse-to-gpu",
      "Turn the cache writes of a module into kernels and launches, in "
      "module @kvfuse",
      toGPU);
  PassPipelineRegistration<PipelineOptions>(
      "kvfuse-to-nvvm",
      "kvfuse-to-gpu, then the kernels to NVVM with a target attached",
      [=](OpPassManager &pm, const PipelineOptions &options) {
        toGPU(pm, options);
        buildNVVMPipeline(pm, options);
      });
  PassPipelineRegistration<PipelineOptions>(
      "kvfuse-to-gpu-host",
      "kvfuse-to-nvvm, then all of module @kvfuse to LLVM for the host, with "
      "the kernels as PTX",
      [=](OpPassManager &pm, const PipelineOptions &options) {
        toGPU(pm, options);
        buildNVVMPipeline(pm, options);
        addOnWrites(pm, [](OpPassManager &nested) {
          GpuModuleToBinaryPassOptions binary;
          binary.compilationTarget = "isa";
          nested.addPass(createGpuModuleToBinaryPass(binary));
        });
        buildGPUHostPipeline(pm, options);
      });
  PassPipelineRegistration<PipelineOptions>(
      "kvfuse-to-cpu",
      "kvfuse-to-gpu, then all of module @kvfuse to LLVM for the CPU",
      [=](OpPassManager &pm, const PipelineOptions &options) {
        toGPU(pm, options);
        buildCPUPipeline(pm);
      });
  PassPipelineRegistration<PipelineOptions>(
      "kv-finalize-nvvm",
      "Lower the kernels of module @kvfuse to NVVM and attach a target",
      buildNVVMPipeline);
}
