//===- DependentLaunch.cpp - Kernels that start before the last one ends --===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
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

/// Arithmetic that costs little and that may be done for nothing.
static bool isCheap(Operation &op) {
  return isa<LLVM::AddOp, LLVM::AndOp, LLVM::AShrOp, LLVM::BitcastOp,
             LLVM::ConstantOp, LLVM::ExtractValueOp, LLVM::GEPOp, LLVM::ICmpOp,
             LLVM::LShrOp, LLVM::MulOp, LLVM::OrOp, LLVM::SelectOp,
             LLVM::SExtOp, LLVM::ShlOp, LLVM::SubOp, LLVM::TruncOp, LLVM::XOrOp,
             LLVM::ZExtOp>(op);
}

/// Is it a register of 64 bits that something was computed into?
static bool isComputed(Value value) {
  if (value.getDefiningOp<LLVM::ConstantOp>())
    return false;
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(value.getType()))
    return pointer.getAddressSpace() == NVVM::NVVMMemorySpace::Generic ||
           pointer.getAddressSpace() == NVVM::NVVMMemorySpace::Global;
  return value.getType().isInteger(64);
}

/// Moves arithmetic that needs no memory from behind `first`, an operation that
/// does, in front of it. Returns what is used behind it.
static SetVector<Value> computeAhead(Operation *first) {
  SetVector<Value> used;
  DominanceInfo dominance(first->getParentOp());
  auto isKnown = [&](Value value) {
    return dominance.properlyDominates(value, first) &&
           !value.getDefiningOp<LLVM::AddressOfOp>();
  };
  for (Block *block :
       llvm::ReversePostOrderTraversal<Block *>(first->getBlock())) {
    bool isHere = block == first->getBlock();
    if (!dominance.dominates(first->getBlock(), block))
      continue;
    auto begin = isHere ? first->getIterator() : block->begin();
    for (Operation &op :
         llvm::make_early_inc_range(llvm::make_range(begin, block->end()))) {
      if (isCheap(op) && llvm::all_of(op.getOperands(), isKnown))
        op.moveBefore(first);
      else
        used.insert_range(
            llvm::make_filter_range(op.getOperands(), [&](Value value) {
              return isKnown(value) && isComputed(value);
            }));
    }
  }
  return used;
}

/// Puts a wait in front of `first`, which reads at an address, and behind the
/// arithmetic that needs no memory. ptxas would move that behind the wait,
/// where every cycle counts, and the misses of parameters with it: so the wait
/// depends on it. It is done whatever comes out, as the address is not null.
static void waitBefore(LLVM::LoadOp first) {
  SetVector<Value> used = computeAhead(first);
  used.insert(first.getAddr());
  std::string text = "{ .reg .pred %p; .reg .b64 %any; mov.b64 %any, $0; ";
  std::string constraints = "l,";
  for (unsigned i = 1, e = used.size(); i < e; ++i) {
    text += llvm::formatv("or.b64 %any, %any, ${0}; ", i);
    constraints += "l,";
  }
  text += "setp.ne.b64 %p, %any, 0; @%p griddepcontrol.wait; }";
  OpBuilder b(first);
  LLVM::InlineAsmOp::create(b, first->getLoc(), /*resultTypes=*/TypeRange(),
                            used.getArrayRef(), text, constraints + "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None,
                            /*asm_dialect=*/LLVM::AsmDialectAttr(),
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
/// front; with `ahead`, all that needs no memory comes earlier.
static void placeWaits(LLVM::LLVMFuncOp func, bool ahead) {
  SmallVector<Block *> worklist = {&func.getBody().front()};
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    auto first = llvm::find_if(*block, [](Operation &op) {
      return !isMemoryEffectFree(&op) || op.hasTrait<OpTrait::ReturnLike>();
    });
    if (first != block->end()) {
      auto load = dyn_cast<LLVM::LoadOp>(*first);
      if (ahead && load && isComputed(load.getAddr())) {
        waitBefore(load);
      } else {
        OpBuilder b(&*first);
        createControl(b, first->getLoc(), NVVM::GridDepActionKind::wait);
      }
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

/// Does `kernel` serve long steps? They wait for bandwidth, and more registers
/// of a thread mean fewer threads.
static bool isForLongSteps(LLVM::LLVMFuncOp kernel) {
  auto tokens = kernel->getAttrOfType<IntegerAttr>(kTokenKernelAttr);
  return tokens && tokens.getInt() > 1;
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
    OpBuilder start(func.getBody());
    // Unless kernels overlap, nothing is gained by computing ahead.
    if (isForLongSteps(func))
      createControl(start, func.getLoc(), NVVM::GridDepActionKind::wait);
    else
      placeWaits(func, /*ahead=*/early);
    if (early) {
      start.setInsertionPointToStart(&func.getBody().front());
      return createControl(start, func.getLoc(),
                           NVVM::GridDepActionKind::launch_dependents);
    }
    func.walk([&](LLVM::ReturnOp op) {
      OpBuilder b(op);
      createControl(b, op.getLoc(), NVVM::GridDepActionKind::launch_dependents);
    });
  }
};
} // namespace
