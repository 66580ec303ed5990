//===- Pipelines.h - Registration and pipelines -----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of a module, step by step. `kvfuse-compile` runs them one by one;
// the pipelines `kvfuse-to-gpu`, `kvfuse-to-nvvm`, `kvfuse-to-gpu-host` and
// `kvfuse-to-cpu` of `kvfuse-opt` and the plugin are the same steps in a row.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_PIPELINES_PIPELINES_H
#define KVFUSE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kvfuse {

enum class FuseMode { On, Off, Required };

/// May a kernel start before the one in front has ended, and when may the one
/// behind (SP3)?
enum class DependentLaunch { Off, Late, Early };

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<FuseMode> fuse{
      *this, "fuse", llvm::cl::desc("Fuse cache writes, or compile the chain"),
      llvm::cl::init(FuseMode::On),
      llvm::cl::values(
          clEnumValN(FuseMode::On, "on", "fuse what may be fused"),
          clEnumValN(FuseMode::Off, "off", "a kernel for every operation"),
          clEnumValN(FuseMode::Required, "required",
                     "fuse, and fail if something is refused"))};
  Option<std::string> mutates{
      *this, "mutates",
      llvm::cl::desc("Arguments that may be written in place: a list of "
                     "numbers, or auto"),
      llvm::cl::init("")};
  Option<std::string> torchVersion{
      *this, "torch-version",
      llvm::cl::desc("Version of torch whose casts are meant: 2.11 or 2.13"),
      llvm::cl::init("2.13")};
  Option<std::string> negative{
      *this, "negative",
      llvm::cl::desc("Meaning of negative indices: wrap, error, skip or "
                     "undefined"),
      llvm::cl::init("")};
  Option<std::string> outOfBounds{
      *this, "out-of-bounds",
      llvm::cl::desc("Treatment of indices outside the cache: trap, skip or "
                     "undefined"),
      llvm::cl::init("")};
  Option<std::string> reservedSlot{
      *this, "reserved-slot",
      llvm::cl::desc("A slot id whose rows are not written"),
      llvm::cl::init("")};
  Option<bool> assumeDisjoint{
      *this, "assume-disjoint",
      llvm::cl::desc("Promise: caches that are written overlap no other "
                     "argument, nor one another"),
      llvm::cl::init(false)};
  Option<bool> assumeAligned{
      *this, "assume-aligned",
      llvm::cl::desc("Promise: addresses and outer strides are multiples of 16 "
                     "bytes"),
      llvm::cl::init(false)};
  Option<bool> unitStrideOnly{
      *this, "unit-stride-only",
      llvm::cl::desc("Leave caches apart whose last stride is not 1"),
      llvm::cl::init(false)};
  Option<bool> noVersioning{
      *this, "no-versioning",
      llvm::cl::desc("One version of each write, by what is proven"),
      llvm::cl::init(false)};
  Option<bool> keepCallers{
      *this, "keep-callers",
      llvm::cl::desc("Compile groups of writes, never a whole function"),
      llvm::cl::init(false)};
  Option<bool> countBranches{*this, "count-branches",
                             llvm::cl::desc("Count which versions run"),
                             llvm::cl::init(false)};
  Option<DependentLaunch> pdl{
      *this, "pdl", llvm::cl::desc("Dependent launch, from sm_90 on"),
      llvm::cl::init(DependentLaunch::Late),
      llvm::cl::values(
          clEnumValN(DependentLaunch::Off, "off", "kernel after kernel"),
          clEnumValN(DependentLaunch::Late, "late",
                     "the next kernel may start once rows are stored"),
          clEnumValN(DependentLaunch::Early, "early",
                     "the next kernel may start at once"))};
  Option<unsigned> blockSize{
      *this, "block-size",
      llvm::cl::desc("Most threads of a block of a write; 0: the model's "
                     "choice"),
      llvm::cl::init(0)};
  Option<unsigned> tokensPerThread{
      *this, "tokens-per-thread",
      llvm::cl::desc("Tokens of a thread of a write; 0: the model's choice"),
      llvm::cl::init(0)};
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("GPU to compile for, such as sm_90"),
                           llvm::cl::init("sm_90")};
};

/// Registers the kv dialect and its interface implementations.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes and pipelines by name.
void registerPassesAndPipelines();

/// Front doors to kv IR on tensors.
void buildImportPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);

/// kv IR on tensors to functions of `module @kvfuse`, fused or taken apart.
void buildFusionPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);

/// `module @kvfuse` on tensors to buffers, in place, and unless fusing is off,
/// neighbouring writes merged. Other modules in the one that it is built for
/// stay.
void buildBufferPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);

/// Writes of `module @kvfuse` on buffers to versions by layout.
void buildLayoutPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);

/// `module @kvfuse` on buffers to kernels and launches.
void buildGPUPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Kernels of `module @kvfuse` to the NVVM dialect, nothing else left in a
/// `gpu.module`.
void buildNVVMPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Host code of `module @kvfuse` to the LLVM dialect, with kernels that were
/// compiled (`gpu.binary`) launched by kvfuse's runtime.
void buildGPUHostPipeline(mlir::OpPassManager &pm,
                          const PipelineOptions &options);

/// Kernels and host code of `module @kvfuse` to the LLVM dialect, launches as
/// loops on the CPU.
void buildCPUPipeline(mlir::OpPassManager &pm);

} // namespace kvfuse

#endif // KVFUSE_PIPELINES_PIPELINES_H
