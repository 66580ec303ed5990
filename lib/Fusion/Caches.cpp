//===- Caches.cpp - Versions of a cache in SSA ----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Caches.h"

#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

/// The first value of the same version: `version` without type casts.
static Value stripTypeCasts(Value version) {
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

bool kvfuse::mayComeBefore(Operation *op, Operation *other) {
  Operation *ancestor = other->getBlock()->findAncestorOpInBlock(*op);
  return !ancestor || ancestor->isBeforeInBlock(other);
}

llvm::SetVector<Value> kvfuse::getAliases(Value version, Operation *until) {
  llvm::SetVector<Value> aliases;
  aliases.insert(stripTypeCasts(version));
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses())
      if (resultsMayAlias(use) && mayComeBefore(use.getOwner(), until))
        aliases.insert_range(use.getOwner()->getResults());
  return aliases;
}

bool kvfuse::isRefused(WriteOp write) { return write->hasAttr(kRefusedAttr); }
