//===- KernelInputs.cpp - What a kernel uses from outside -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace kvfuse;

/// Is `op` a reference to a global that nobody writes?
static bool isConstantGlobal(Operation *op) {
  auto get = dyn_cast<memref::GetGlobalOp>(op);
  if (!get)
    return false;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
  return global && global.getConstant();
}

/// Does the kernel compute `value` itself?
static bool isCloned(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (def->hasTrait<OpTrait::ConstantLike>() || isConstantGlobal(def))
      return true;
    auto view = dyn_cast<ViewLikeOpInterface>(def);
    if (!view)
      return false;
    value = view.getViewSource();
  }
  return false;
}

/// Adds what `value` needs to `inputs`, operands first.
static void addInput(Value value, KernelInputs &inputs) {
  if (!isCloned(value)) {
    inputs.passed.insert(value);
    return;
  }
  Operation *def = value.getDefiningOp();
  if (inputs.cloned.contains(def))
    return;
  for (Value operand : def->getOperands())
    addInput(operand, inputs);
  inputs.cloned.insert(def);
}

KernelInputs kvfuse::collectInputs(Operation *site) {
  llvm::SetVector<Value> used(site->operand_begin(), site->operand_end());
  getUsedValuesDefinedAbove(site->getRegions(), used);
  KernelInputs inputs;
  for (Value value : used)
    addInput(value, inputs);
  return inputs;
}
