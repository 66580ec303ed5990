//===- WrittenArguments.cpp - Which arguments are written? ----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Layout/WrittenArguments.h"

#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

namespace {
/// Adds what the operations of one function touch.
class TouchCollector {
public:
  TouchCollector(func::FuncOp func, WrittenArguments &callees)
      : func(func), callees(callees), aliases(func) {
    aliases.addAnalysisImplementation(DistinctBuffers());
    touched.written.resize(func.getNumArguments());
    touched.shared.resize(func.getNumArguments());
  }

  TouchedArguments collect() {
    func.walk([&](Operation *op) {
      if (auto write = dyn_cast<WriteOp>(op))
        add(write);
      else if (auto call = dyn_cast<func::CallOp>(op))
        add(call);
      else if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        add(launch);
    });
    return std::move(touched);
  }

private:
  void add(WriteOp write);
  void add(func::CallOp call);
  void add(gpu::LaunchFuncOp launch);
  /// The arguments that `memref` may be a view of.
  llvm::BitVector getArguments(Value memref);

  func::FuncOp func;
  WrittenArguments &callees;
  AliasAnalysis aliases;
  TouchedArguments touched;
};
} // namespace

llvm::BitVector TouchCollector::getArguments(Value memref) {
  llvm::BitVector found(func.getNumArguments());
  // Nearly every memref is a view of an argument.
  auto base = dyn_cast<BlockArgument>(
      memref::skipViewLikeOps(cast<MemrefValue>(memref)));
  if (base && base.getOwner() == &func.front()) {
    found.set(base.getArgNumber());
    return found;
  }
  for (BlockArgument argument : func.getArguments())
    if (isa<MemRefType>(argument.getType()) &&
        !aliases.alias(memref, argument).isNo())
      found.set(argument.getArgNumber());
  return found;
}

void TouchCollector::add(WriteOp write) {
  if (write.hasTensorForm())
    return;
  llvm::BitVector once(func.getNumArguments()), twice = once, written = once;
  for (Value operand : write->getOperands()) {
    llvm::BitVector found = getArguments(operand);
    if (llvm::is_contained(write.getDests(), operand))
      written |= found;
    llvm::BitVector again = found;
    again &= once;
    twice |= again;
    once |= found;
  }
  touched.written |= written;
  twice &= written;
  if (write.getNumDests() > 1)
    touched.shared |= twice;
}

void TouchCollector::add(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return;
  TouchedArguments inside = callees.lookup(callee);
  for (unsigned i : inside.written.set_bits())
    touched.written |= getArguments(call.getOperand(i));
  for (unsigned i : inside.shared.set_bits())
    touched.shared |= getArguments(call.getOperand(i));
}

/// Does `op` write to memory that it names, or that a memref of its may be?
static bool mayWriteMemRef(Operation *op,
                           const MemoryEffects::EffectInstance &effect) {
  // An assert, which may not be removed, is said to write, too.
  return isa<MemoryEffects::Write>(effect.getEffect()) &&
         (effect.getValue() ||
          llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>));
}

/// What `value` may be a view of, one of them being picked by a select; null if
/// that is not known.
static SmallVector<Value> getBases(Value value) {
  auto memref = dyn_cast_or_null<MemrefValue>(value);
  if (!memref)
    return {Value()};
  Value base = memref::skipViewLikeOps(memref);
  auto select = base.getDefiningOp<arith::SelectOp>();
  if (!select)
    return {base};
  SmallVector<Value> bases = getBases(select.getTrueValue());
  llvm::append_range(bases, getBases(select.getFalseValue()));
  return bases;
}

/// The arguments of `kernel` that it writes. A write to what is no view of one
/// may be to any.
static llvm::BitVector getWrittenArguments(gpu::GPUFuncOp kernel) {
  llvm::BitVector written(kernel.getNumArguments());
  kernel.walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!mayWriteMemRef(op, effect))
        continue;
      for (Value base : getBases(effect.getValue())) {
        auto argument = dyn_cast_or_null<BlockArgument>(base);
        if (argument && argument.getOwner() == &kernel.front())
          written.set(argument.getArgNumber());
        else
          written.set();
      }
    }
  });
  return written;
}

void TouchCollector::add(gpu::LaunchFuncOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  if (!kernel)
    return;
  llvm::BitVector written = getWrittenArguments(kernel);
  for (unsigned i : written.set_bits())
    if (Value operand = launch.getKernelOperand(i);
        isa<MemRefType>(operand.getType()))
      touched.written |= getArguments(operand);
}

TouchedArguments WrittenArguments::lookup(func::FuncOp func) {
  // Of a function that calls itself nothing is known yet.
  llvm::BitVector none(func.getNumArguments());
  auto [it, isNew] = known.try_emplace(func, TouchedArguments{none, none});
  if (!isNew)
    return it->second;
  TouchedArguments touched = TouchCollector(func, *this).collect();
  known[func] = touched;
  return touched;
}
