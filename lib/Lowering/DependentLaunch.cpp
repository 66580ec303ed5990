//===- DependentLaunch.cpp - Kernels that start before the last one ends --===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVDEPENDENTLAUNCH
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

static void createControl(OpBuilder &b, Location loc,
                          NVVM::GridDepActionKind kind) {
  NVVM::GriddepcontrolOp::create(b, loc, kind);
}

static bool isGlobal(Value address) {
  auto type = cast<LLVM::LLVMPointerType>(address.getType());
  return type.getAddressSpace() == NVVM::NVVMMemorySpace::Generic ||
         type.getAddressSpace() == NVVM::NVVMMemorySpace::Global;
}

/// Where the loads that begin with `first` read, as far as that can be computed
/// ahead of them all.
static SmallVector<Value> computeAddresses(Operation *first) {
  IRRewriter rewriter(first->getContext());
  SmallVector<Value> addresses;
  for (Operation *op = first; op; op = op->getNextNode()) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      if (isGlobal(load.getAddr()))
        addresses.push_back(load.getAddr());
    } else if (!isMemoryEffectFree(op)) {
      break;
    }
  }
  llvm::erase_if(addresses, [&](Value address) {
    return failed(moveValueDefinitions(rewriter, address, first));
  });
  return addresses;
}

/// Puts a wait in front of `first`, and behind the arithmetic for the loads
/// that begin there. ptxas would move it behind the wait, where every cycle
/// counts: so the wait depends on the addresses. None of them is null, or the
/// load would fail.
static void waitBefore(Operation *first) {
  SmallVector<Value> addresses = computeAddresses(first);
  OpBuilder b(first);
  if (addresses.empty())
    return createControl(b, first->getLoc(), NVVM::GridDepActionKind::wait);
  std::string text = "{ .reg .pred %p; setp.ne.b64 %p, $0, 0; ";
  std::string constraints = "l,";
  for (unsigned i = 1, e = addresses.size(); i < e; ++i) {
    text += llvm::formatv("setp.ne.and.b64 %p, ${0}, 0, %p; ", i);
    constraints += "l,";
  }
  LLVM::InlineAsmOp::create(
      b, first->getLoc(), /*resultTypes=*/TypeRange(), addresses,
      text + "@%p griddepcontrol.wait; }", constraints + "~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
      /*operand_attrs=*/ArrayAttr());
}

/// Puts a wait on the way from `branch` to its successor `number`.
static void waitBetween(BranchOpInterface branch, unsigned number) {
  Block *next = branch->getSuccessor(number);
  OpBuilder b(branch);
  Block *between = b.createBlock(next);
  createControl(b, branch.getLoc(), NVVM::GridDepActionKind::wait);
  SuccessorOperands operands = branch.getSuccessorOperands(number);
  LLVM::BrOp::create(b, branch.getLoc(), operands.getForwardedOperands(), next);
  operands.getMutableForwardedOperands().clear();
  branch->setSuccessor(between, number);
}

/// SP1: every way from the entry waits once, and does so before anything that
/// touches memory, and before it ends. What comes earlier, the arithmetic of
/// addresses and the misses of code and parameters, overlaps with the kernel in
/// front.
static void placeWaits(LLVM::LLVMFuncOp func) {
  SmallVector<Block *> worklist = {&func.getBody().front()};
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    auto first = llvm::find_if(*block, [](Operation &op) {
      return !isMemoryEffectFree(&op) || op.hasTrait<OpTrait::ReturnLike>();
    });
    if (first != block->end()) {
      waitBefore(&*first);
      continue;
    }
    for (unsigned i = 0, e = block->getNumSuccessors(); i < e; ++i) {
      Block *next = block->getSuccessor(i);
      if (next->getSinglePredecessor())
        worklist.push_back(next);
      else
        waitBetween(cast<BranchOpInterface>(block->getTerminator()), i);
    }
  }
}

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
    placeWaits(func);
    if (early) {
      OpBuilder b(func.getBody());
      return createControl(b, func.getLoc(),
                           NVVM::GridDepActionKind::launch_dependents);
    }
    func.walk([&](LLVM::ReturnOp op) {
      OpBuilder b(op);
      createControl(b, op.getLoc(), NVVM::GridDepActionKind::launch_dependents);
    });
  }
};
} // namespace
