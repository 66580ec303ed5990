//===- BranchCounter.cpp - Which branches run -----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchCounter.h"

#include "kvfuse/Layout/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace kvfuse;

/// The global with a counter for each of `branches`.
static memref::GlobalOp createCounters(ImplicitLocOpBuilder &b,
                                       ArrayRef<Operation *> branches) {
  SmallVector<Attribute> names;
  for (Operation *branch : branches) {
    auto func = branch->getParentOfType<func::FuncOp>();
    names.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("function", func.getSymNameAttr()),
         b.getNamedAttr("location", LocationAttr(branch->getLoc())),
         b.getNamedAttr("branch", branch->getAttr(kBranchAttr))}));
  }
  int64_t count = branches.size();
  auto zeros = DenseElementsAttr::get(
      RankedTensorType::get(count, b.getI64Type()), int64_t(0));
  auto counters = memref::GlobalOp::create(
      b, kBranchesGlobal, /*sym_visibility=*/StringAttr(),
      MemRefType::get(count, b.getI64Type()), zeros, /*constant=*/false,
      /*alignment=*/IntegerAttr());
  counters->setAttr(kBranchesAttr, b.getArrayAttr(names));
  return counters;
}

/// A function that adds one to a counter. To callers it has no buffers: what
/// they know of theirs stays known.
static func::FuncOp createCount(ImplicitLocOpBuilder &b,
                                memref::GlobalOp counters) {
  auto count = func::FuncOp::create(b, "kvfuse_count_branch",
                                    b.getFunctionType(b.getIndexType(), {}));
  count.setPrivate();
  OpBuilder::InsertionGuard guard(b);
  Block *body = count.addEntryBlock();
  b.setInsertionPointToStart(body);
  Value memref =
      memref::GetGlobalOp::create(b, counters.getType(), counters.getSymName());
  Value one = arith::ConstantIntOp::create(b, 1, 64);
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi, one, memref,
                              ValueRange(body->getArgument(0)));
  func::ReturnOp::create(b);
  return count;
}

void kvfuse::countBranches(ModuleOp module, ArrayRef<Operation *> branches) {
  if (branches.empty())
    return;
  ImplicitLocOpBuilder b(module.getLoc(), module.getBodyRegion());
  func::FuncOp count = createCount(b, createCounters(b, branches));
  for (auto [i, branch] : llvm::enumerate(branches)) {
    b.setInsertionPoint(branch);
    Value index = arith::ConstantIndexOp::create(b, i);
    func::CallOp::create(b, count, index);
  }
}
