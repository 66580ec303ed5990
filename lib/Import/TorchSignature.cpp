//===- TorchSignature.cpp - Functions that need no torch type any more ----===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchFunction.h"
#include "TorchTypes.h"
#include "TorchViews.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

static bool isCast(Operation *op) {
  return isToBuiltin(op) || isFromBuiltin(op);
}

void torch::eraseDeadOps(ArrayRef<Operation *> ops) {
  SmallPtrSet<Operation *, 32> candidates(ops.begin(), ops.end());
  llvm::SetVector<Operation *> worklist(ops.begin(), ops.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    // One that is still used comes back when its last user goes.
    if (!op->use_empty())
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (isConstantOrList(def) || isCast(def) || isViewOp(def) ||
            candidates.contains(def))
          worklist.insert(def);
    candidates.erase(op);
    op->erase();
  }
}

static Type toBuiltin(Type type) {
  RankedTensorType tensor = readTensorType(type);
  return tensor ? dropSign(tensor) : type;
}

/// May `op` stay when the torch types go? Casts go with them, and so does a
/// none that is returned.
static bool canLoseTorchTypes(Operation *op) {
  auto isReturn = [](Operation *user) { return isa<func::ReturnOp>(user); };
  auto isReturnable = [](Value value) {
    return !isTorchType(value.getType()) || isNone(value) ||
           isFunctionArgument(value) ||
           (value.getDefiningOp() && isFromBuiltin(value.getDefiningOp()));
  };
  if (isReturn(op))
    return llvm::all_of(op->getOperands(), isReturnable);
  if (isToBuiltin(op))
    return isFunctionArgument(op->getOperand(0)) &&
           op->getResult(0).getType() == toBuiltin(op->getOperand(0).getType());
  if (isFromBuiltin(op))
    return op->getOperand(0).getType() == toBuiltin(op->getResult(0).getType());
  if (isConstantOrList(op))
    return op->use_empty() ||
           (isNone(op->getResult(0)) && llvm::all_of(op->getUsers(), isReturn));
  return llvm::none_of(op->getOperandTypes(), isTorchType) &&
         llvm::none_of(op->getResultTypes(), isTorchType);
}

static bool canLoseTorchTypes(func::FuncOp func) {
  auto isTensor = [](Type type) {
    return !isTorchType(type) || readTensorType(type);
  };
  auto isTensorOrNone = [&](Type type) {
    return isNoneType(type) || isTensor(type);
  };
  WalkResult body = func.getBody().walk(
      [](Operation *op) { return WalkResult(success(canLoseTorchTypes(op))); });
  // Callers would have to change too, so there must be none.
  return !body.wasInterrupted() &&
         llvm::all_of(func.getArgumentTypes(), isTensor) &&
         llvm::all_of(func.getResultTypes(), isTensorOrNone) &&
         SymbolTable::symbolKnownUseEmpty(func,
                                          func->getParentOfType<ModuleOp>());
}

/// return(from_builtin_tensor(x), none) -> return(x)
static void convertReturn(func::ReturnOp op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    if (isNone(operand))
      continue;
    Operation *def = operand.getDefiningOp();
    operands.push_back(def && isFromBuiltin(def) ? def->getOperand(0)
                                                 : operand);
  }
  op->setOperands(operands);
}

void torch::convertSignature(func::FuncOp func) {
  if (!canLoseTorchTypes(func))
    return;
  func.walk([](func::ReturnOp op) { convertReturn(op); });
  for (BlockArgument arg : func.getArguments()) {
    arg.setType(toBuiltin(arg.getType()));
    for (Operation *user : llvm::make_early_inc_range(arg.getUsers()))
      if (isToBuiltin(user))
        user->getResult(0).replaceAllUsesWith(arg);
  }
  SmallVector<Operation *> remains;
  func.walk([&](Operation *op) {
    if (isCast(op) || isConstantOrList(op))
      remains.push_back(op);
  });
  eraseDeadOps(remains);

  llvm::BitVector nones(func.getNumResults());
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    nones[i] = isNoneType(type);
  LogicalResult erased = func.eraseResults(nones);
  assert(succeeded(erased) && "a function type may have any results");
  (void)erased;
  SmallVector<Type> results =
      llvm::map_to_vector(func.getResultTypes(), toBuiltin);
  func.setType(FunctionType::get(
      func.getContext(), func.getBody().front().getArgumentTypes(), results));
}
