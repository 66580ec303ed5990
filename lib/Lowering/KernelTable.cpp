//===- KernelTable.cpp - The kernels of a module --------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace kvfuse;

static constexpr StringLiteral kModuleName = "kernels";

KernelTable::KernelTable(ModuleOp module) : module(module) {
  auto existing = module.getOps<gpu::GPUModuleOp>();
  if (existing.empty())
    return;
  kernels = *existing.begin();
  for (auto func : kernels.getOps<gpu::GPUFuncOp>())
    byType[func.getFunctionType()].push_back(func);
}

/// `value` as a kernel takes it. Small floats travel as their bits: not every
/// processor has a way to pass them.
static Value createOperand(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<FloatType>(value.getType());
  if (!type || type.getWidth() >= 32)
    return value;
  return arith::BitcastOp::create(
      builder, loc, builder.getIntegerType(type.getWidth()), value);
}

Kernel KernelTable::create(Operation *site, StringRef name,
                           const KernelInputs &inputs) {
  Location loc = site->getLoc();
  Kernel kernel;
  OpBuilder host(site);
  for (Value value : inputs.passed)
    kernel.operands.push_back(createOperand(host, loc, value));

  OpBuilder builder(module.getContext());
  if (!kernels) {
    kernels = gpu::GPUModuleOp::create(builder, loc, kModuleName);
    // A function may have the name; then the module gets another one.
    SymbolTable(module).insert(kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
  }
  builder.setInsertionPointToEnd(kernels.getBody());
  kernel.func = gpu::GPUFuncOp::create(
      builder, loc, name,
      builder.getFunctionType(ValueRange(kernel.operands).getTypes(), {}));
  kernel.func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                       builder.getUnitAttr());
  builder.setInsertionPointToStart(&kernel.func.getBody().front());
  for (auto [value, argument] :
       llvm::zip_equal(inputs.passed, kernel.func.getArguments())) {
    Value inside = argument;
    if (inside.getType() != value.getType())
      inside = arith::BitcastOp::create(builder, loc, value.getType(), inside);
    kernel.mapping.map(value, inside);
  }
  for (Operation *op : inputs.cloned) {
    Operation *clone = builder.clone(*op, kernel.mapping);
    if (auto get = dyn_cast<memref::GetGlobalOp>(clone))
      importGlobal(get);
  }
  return kernel;
}

void KernelTable::importGlobal(memref::GetGlobalOp get) {
  FlatSymbolRefAttr &name = globals[get.getNameAttr().getAttr()];
  if (!name) {
    Operation *global = SymbolTable(module).lookup(get.getName())->clone();
    name = FlatSymbolRefAttr::get(
        SymbolTable(kernels).insert(global, kernels.getBody()->begin()));
  }
  get.setNameAttr(name);
}

gpu::GPUFuncOp KernelTable::finish(Kernel &kernel) {
  gpu::GPUFuncOp func = kernel.func;
  SmallVector<gpu::GPUFuncOp> &candidates = byType[func.getFunctionType()];
  for (gpu::GPUFuncOp candidate : candidates) {
    if (candidate.getKnownBlockSize() != func.getKnownBlockSize() ||
        !OperationEquivalence::isRegionEquivalentTo(
            &candidate.getBody(), &func.getBody(),
            OperationEquivalence::IgnoreLocations))
      continue;
    func.erase();
    return candidate;
  }
  func->remove();
  SymbolTable(kernels).insert(func);
  candidates.push_back(func);
  return func;
}

Value kvfuse::createSize(ImplicitLocOpBuilder &b, Value memref, int64_t dim) {
  return b.createOrFold<memref::DimOp>(memref, dim);
}

Value kvfuse::createProduct(ImplicitLocOpBuilder &b, ValueRange factors) {
  if (factors.empty())
    return arith::ConstantIndexOp::create(b, 1);
  Value product = factors.front();
  for (Value factor : factors.drop_front())
    product = b.createOrFold<arith::MulIOp>(product, factor);
  return product;
}

SmallVector<Value> kvfuse::delinearize(ImplicitLocOpBuilder &b, Value linear,
                                       ValueRange sizes) {
  if (sizes.empty())
    return {};
  if (sizes.size() == 1)
    return {linear};
  // The op takes no size of 0, under which nothing is walked over.
  auto basis = llvm::map_to_vector(sizes.drop_front(), [&](Value size) {
    return isZeroInteger(size) ? b.getIndexAttr(1) : getAsOpFoldResult(size);
  });
  return affine::AffineDelinearizeIndexOp::create(b, linear, basis,
                                                  /*hasOuterBound=*/false)
      .getResults();
}

SmallVector<Value> kvfuse::createRowExtents(ImplicitLocOpBuilder &b,
                                            kv::WriteOp write, unsigned i,
                                            Value dest, Value values) {
  SmallVector<Value> extents;
  for (unsigned row = 0, e = write.getRowRank(i); row < e; ++row) {
    kv::WriteOp::Extent extent = write.getRowExtent(i, row);
    extents.push_back(
        createSize(b, extent.fromValues ? values : dest, extent.dim));
  }
  return extents;
}

SmallVector<Value> kvfuse::createGroupCounts(ImplicitLocOpBuilder &b,
                                             kv::WriteOp write, unsigned i,
                                             ValueRange extents) {
  SmallVector<Value> counts(extents);
  int64_t access = write.getAccess(i);
  if (access == 1)
    return counts;
  counts.back() = b.createOrFold<arith::CeilDivUIOp>(
      counts.back(), arith::ConstantIndexOp::create(b, access));
  return counts;
}

scf::ForOp kvfuse::createThreadLoop(ImplicitLocOpBuilder &b, gpu::Dimension dim,
                                    Value total, int64_t elementsPerThread) {
  Value share = gpu::BlockDimOp::create(b, gpu::Dimension::x);
  if (elementsPerThread != 1)
    share = arith::MulIOp::create(
        b, share, arith::ConstantIndexOp::create(b, elementsPerThread));
  Value start = arith::AddIOp::create(
      b, arith::MulIOp::create(b, gpu::BlockIdOp::create(b, dim), share),
      gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value step = arith::MulIOp::create(b, gpu::GridDimOp::create(b, dim), share);
  return scf::ForOp::create(b, start, total, step);
}

void kvfuse::enterIf(ImplicitLocOpBuilder &b, Value condition) {
  if (!condition)
    return;
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

llvm::MaybeAlign kvfuse::getElementAlignment(Value memref) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  return llvm::MaybeAlign(llvm::bit_floor(element.getIntOrFloatBitWidth() / 8));
}
