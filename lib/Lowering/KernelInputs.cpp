//===- KernelInputs.cpp - What a kernel uses from outside -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelInputs.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Who writes what
//===----------------------------------------------------------------------===//

/// The buffer that `memref` is a view of, if it is known that no other buffer
/// overlaps it: an argument of the function (SM8), or memory allocated in it.
static Value getDistinctBuffer(Value memref) {
  if (!isa<MemRefType>(memref.getType()))
    return {};
  Value buffer = memref::skipViewLikeOps(cast<MemrefValue>(memref));
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
                   argument.getOwner()->isEntryBlock()
               ? buffer
               : Value();
  return hasEffect<MemoryEffects::Allocate>(buffer.getDefiningOp(), buffer)
             ? buffer
             : Value();
}

InputCollector::InputCollector(func::FuncOp func) {
  func.walk([&](Operation *op) {
    // An assert has effects, but on no buffer.
    if (op == func || isa<cf::AssertOp>(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    // What is called has only the buffers that it is given.
    if (auto call = dyn_cast<func::CallOp>(op)) {
      for (Value operand : call.getOperands())
        if (isa<BaseMemRefType>(operand.getType()))
          writers[getDistinctBuffer(operand)].push_back(op);
      return;
    }
    auto effects = getEffectsRecursively(op);
    if (!effects) {
      writers[Value()].push_back(op);
      return;
    }
    for (MemoryEffects::EffectInstance &effect : *effects) {
      if (isa<MemoryEffects::Read, MemoryEffects::Allocate>(effect.getEffect()))
        continue;
      Value written = effect.getValue();
      writers[written ? getDistinctBuffer(written) : Value()].push_back(op);
    }
  });
}

/// Between `load` and `site` runs what stands between them in the block of
/// `load`, and what else is in the operation that holds `site`.
bool InputCollector::isUnchanged(memref::LoadOp load, Operation *site) {
  Block *block = load->getBlock();
  Operation *last = block->findAncestorOpInBlock(*site);
  Value buffer = getDistinctBuffer(load.getMemRef());
  if (!last || !buffer)
    return false;
  auto isElsewhere = [&](Operation *writer) {
    Operation *ancestor = block->findAncestorOpInBlock(*writer);
    return !ancestor || ancestor->isBeforeInBlock(load) ||
           last->isBeforeInBlock(ancestor);
  };
  return llvm::all_of(writers[buffer], isElsewhere) &&
         llvm::all_of(writers[Value()], isElsewhere);
}

//===----------------------------------------------------------------------===//
// Inputs of a site
//===----------------------------------------------------------------------===//

/// Is `get` a reference to a global that nobody writes?
static bool isConstant(memref::GetGlobalOp get) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
  return global && global.getConstant();
}

bool InputCollector::isCloned(Value value, Operation *site) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  if (def->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (auto get = dyn_cast<memref::GetGlobalOp>(def))
    return isConstant(get);
  if (auto load = dyn_cast<memref::LoadOp>(def))
    return isUnchanged(load, site);
  auto [answer, isNew] = clonedHere.try_emplace(value, false);
  if (!isNew)
    return answer->second;
  bool cloned = false;
  if (auto view = dyn_cast<ViewLikeOpInterface>(def))
    cloned = isCloned(view.getViewSource(), site);
  else if (isPure(def) && def->getNumRegions() == 0 &&
           value.getType().isIntOrIndexOrFloat())
    cloned = llvm::any_of(def->getOperands(), [&](Value operand) {
      return !matchPattern(operand, m_Constant()) && isCloned(operand, site);
    });
  clonedHere[value] = cloned;
  return cloned;
}

void InputCollector::add(Value value, Operation *site, KernelInputs &inputs) {
  if (!isCloned(value, site)) {
    inputs.passed.insert(value);
    return;
  }
  Operation *def = value.getDefiningOp();
  if (inputs.cloned.contains(def))
    return;
  for (Value operand : def->getOperands())
    add(operand, site, inputs);
  inputs.cloned.insert(def);
}

KernelInputs InputCollector::collect(Operation *site) {
  llvm::SetVector<Value> used(site->operand_begin(), site->operand_end());
  getUsedValuesDefinedAbove(site->getRegions(), used);
  clonedHere.clear();
  KernelInputs inputs;
  for (Value value : used)
    add(value, site, inputs);
  return inputs;
}
