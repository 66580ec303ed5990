//===- KernelTable.h - The kernels of a module ------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_KERNELTABLE_H
#define KVFUSE_LOWERING_KERNELTABLE_H

#include "KernelInputs.h"
#include "LaunchShape.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace kvfuse {

/// A kernel under construction. `mapping` takes host values to what they are in
/// the kernel.
struct Kernel {
  mlir::gpu::GPUFuncOp func;
  mlir::IRMapping mapping;
  /// Host values to launch it with, one per argument, without repetition.
  llvm::SmallVector<mlir::Value> operands;
};

/// The `gpu.module @kernels` of a module; equal kernels are kept once.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module);

  /// Starts an empty kernel for `site`. It knows, by its `mapping`, what `site`
  /// and its regions use from outside: `inputs` says how.
  Kernel create(mlir::Operation *site, llvm::StringRef name,
                const KernelInputs &inputs);

  /// Ends `kernel`; an equal one that stands in the table already takes its
  /// place.
  mlir::gpu::GPUFuncOp finish(Kernel &kernel);

private:
  /// Makes `get`, a copy in a kernel, refer to a global of the kernels' module.
  void importGlobal(mlir::memref::GetGlobalOp get);

  mlir::ModuleOp module;
  mlir::gpu::GPUModuleOp kernels;
  /// Host globals and the names of their copies for kernels.
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> globals;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::gpu::GPUFuncOp>> byType;
};

/// Size of dimension `dim` of `memref`, folded where it is static.
mlir::Value createSize(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                       int64_t dim);
/// Product of index values, one for none.
mlir::Value createProduct(mlir::ImplicitLocOpBuilder &b,
                          mlir::ValueRange factors);
/// Coordinates of `linear` in a box of `sizes`, the last one fastest.
llvm::SmallVector<mlir::Value> delinearize(mlir::ImplicitLocOpBuilder &b,
                                           mlir::Value linear,
                                           mlir::ValueRange sizes);

/// Extents of the row coordinates of destination `i`, read from its operands
/// `dest` and `values` (those of the write, or of a kernel).
llvm::SmallVector<mlir::Value> createRowExtents(mlir::ImplicitLocOpBuilder &b,
                                                mlir::kv::WriteOp write,
                                                unsigned i, mlir::Value dest,
                                                mlir::Value values);
/// How many groups of `write.getAccess(i)` elements, the last one maybe partly
/// filled, lie along each row coordinate of destination `i`, whose extents are
/// `extents`. A group lies along the last one.
llvm::SmallVector<mlir::Value> createGroupCounts(mlir::ImplicitLocOpBuilder &b,
                                                 mlir::kv::WriteOp write,
                                                 unsigned i,
                                                 mlir::ValueRange extents);
/// for (e = first of the thread; e < total; e += elements of all threads), over
/// the blocks of grid dimension `dim`. A block has `elementsPerThread` times
/// its threads, and a thread those of the same number in each round of the
/// block.
mlir::scf::ForOp createThreadLoop(mlir::ImplicitLocOpBuilder &b,
                                  mlir::gpu::Dimension dim, mlir::Value total,
                                  int64_t elementsPerThread = 1);
/// Goes on in a branch that is taken if `condition`, which may be null for
/// true, holds.
void enterIf(mlir::ImplicitLocOpBuilder &b, mlir::Value condition);
/// Buffers are aligned to their elements, which LLVM does not take for granted.
llvm::MaybeAlign getElementAlignment(mlir::Value memref);

/// Clones the operations of `block`, a region of a write, here, and returns
/// what it yields. `mapping` takes values from outside to those in the kernel.
mlir::Value cloneRegion(mlir::ImplicitLocOpBuilder &b, mlir::Block &block,
                        mlir::ValueRange arguments, mlir::IRMapping mapping);

/// The same for every element of the vector `elements`; returns the vector of
/// what `block` yields. Scalars from outside are broadcast.
mlir::Value cloneRegionOnVector(mlir::ImplicitLocOpBuilder &b,
                                mlir::Block &block, mlir::Value elements,
                                mlir::IRMapping mapping);

/// Fills in the kernel of a write: block x has the tokens of `shape`, its
/// threads and grid y the groups of elements of their rows.
void buildWriteKernel(mlir::kv::WriteOp write, Kernel &kernel,
                      const LaunchShape &shape);

/// Can `op` be one kernel: buffers, parallel loops, plain accesses?
bool isElementwise(mlir::linalg::GenericOp op);

/// Elements that a thread of an elementwise kernel moves at once.
inline constexpr int64_t kElementsPerThread = 4;

/// Fills in the kernel of an elementwise operation: threads walk over its
/// elements.
void buildElementwiseKernel(mlir::linalg::GenericOp op, Kernel &kernel);

/// Sizes of the loops of `op`, read from `operands` (its own, or a kernel's).
llvm::SmallVector<mlir::Value> createLoopSizes(mlir::ImplicitLocOpBuilder &b,
                                               mlir::linalg::GenericOp op,
                                               mlir::ValueRange operands);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_KERNELTABLE_H
