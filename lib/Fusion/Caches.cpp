//===- Caches.cpp - Versions of a cache in SSA ----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Caches.h"

#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

bool kvfuse::isTypeCast(Operation *op) {
  if (isa<tensor::CastOp, UnrealizedConversionCastOp>(op))
    return op->getNumOperands() == 1 && op->getNumResults() == 1;
  // The Torch dialect need not be registered.
  StringRef name = op->getName().getStringRef();
  return name == "torch_c.to_builtin_tensor" ||
         name == "torch_c.from_builtin_tensor";
}

Value kvfuse::getCacheBase(Value version) {
  while (Operation *def = version.getDefiningOp()) {
    if (auto write = dyn_cast<WriteOp>(def))
      version = write.getDests()[cast<OpResult>(version).getResultNumber()];
    else if (isTypeCast(def))
      version = def->getOperand(0);
    else
      break;
  }
  return version;
}

BlockArgument kvfuse::getCacheArgument(Value version) {
  auto argument = dyn_cast<BlockArgument>(getCacheBase(version));
  if (argument && argument.getOwner()->isEntryBlock() &&
      isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return argument;
  return {};
}

Value kvfuse::stripTypeCasts(Value version) {
  while (Operation *def = version.getDefiningOp()) {
    if (!isTypeCast(def))
      break;
    version = def->getOperand(0);
  }
  return version;
}

/// May results of `op` share memory with operand `use`? Elementwise operations
/// compute new tensors, and of a write only the next version comes out.
static bool resultsMayAlias(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<WriteOp>(op))
    return false;
  return !OpTrait::hasElementwiseMappableTraits(op) && !isa<tensor::DimOp>(op);
}

/// Does `op` run before `until`, or is it not plain to see that it does not?
static bool mayRunBefore(Operation *op, Operation *until) {
  Operation *ancestor = until->getBlock()->findAncestorOpInBlock(*op);
  return !ancestor || ancestor->isBeforeInBlock(until);
}

/// Does `op` end a branch of an scf.if that has `other` in its other branch?
static bool excludes(Operation *op, Operation *other) {
  auto ifOp = dyn_cast<scf::IfOp>(op->getParentOp());
  return ifOp && ifOp->isProperAncestor(other) &&
         !op->getParentRegion()->findAncestorOpInRegion(*other);
}

/// Adds the values that `op`, which takes an alias, may hand on: results,
/// arguments of its regions and of the blocks it branches to, and results of
/// the operation whose region it ends. Numbers share no memory.
static void addAliasesOf(Operation *op, Operation *until,
                         llvm::SetVector<Value> &aliases) {
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (!value.getType().isIntOrIndexOrFloat())
        aliases.insert(value);
  };
  add(op->getResults());
  for (Region &region : op->getRegions())
    if (!region.empty())
      add(region.getArguments());
  for (Block *successor : op->getSuccessors())
    add(successor->getArguments());
  if (op->hasTrait<OpTrait::IsTerminator>() &&
      !isa<FunctionOpInterface>(op->getParentOp()) && !excludes(op, until))
    add(op->getParentOp()->getResults());
}

llvm::SetVector<Value> kvfuse::getAliases(Value version, Operation *until) {
  llvm::SetVector<Value> aliases;
  aliases.insert(stripTypeCasts(version));
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      Operation *user = use.getOwner();
      if (resultsMayAlias(use) &&
          (isTypeCast(user) || mayRunBefore(user, until)))
        addAliasesOf(user, until, aliases);
    }
  return aliases;
}

bool kvfuse::readsAny(WriteOp write, const llvm::SetVector<Value> &aliases) {
  return llvm::any_of(write.getDpsInputs(),
                      [&](Value input) { return aliases.contains(input); });
}

bool kvfuse::mayRunAfter(Operation *op, Operation *other) {
  // Outwards, to the innermost region that both are in.
  for (Operation *at = other; at; at = at->getParentOp()) {
    Region *region = at->getParentRegion();
    Operation *ancestor =
        region ? region->findAncestorOpInRegion(*op) : nullptr;
    if (!ancestor)
      continue;
    // The operation around `other` begins before it. Of its other regions that
    // is not known, but one branch of scf.if excludes the other.
    if (ancestor == at)
      return op != at && !isa<scf::IfOp>(at);
    Block *from = at->getBlock(), *to = ancestor->getBlock();
    return (from == to && at->isBeforeInBlock(ancestor)) ||
           from->isReachable(to);
  }
  return true;
}

Value kvfuse::getBufferBase(Value memref) {
  return memref::skipViewLikeOps(cast<MemrefValue>(memref));
}

bool kvfuse::isRefused(WriteOp write) { return write->hasAttr(kRefusedAttr); }
