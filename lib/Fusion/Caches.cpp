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
#include "mlir/Interfaces/ControlFlowInterfaces.h"
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

Value kvfuse::stripTypeCasts(Value version) {
  while (Operation *def = version.getDefiningOp()) {
    if (!isTypeCast(def))
      break;
    version = def->getOperand(0);
  }
  return version;
}

Value CacheBases::getPrevious(Value version) {
  if (auto argument = dyn_cast<BlockArgument>(version)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return {};
    // What every round hands on must be a version of what it was given.
    previous[version] = Value();
    Value next = loop.getTiedLoopYieldedValue(argument)->get();
    return lookup(next) == version ? loop.getTiedLoopInit(argument)->get()
                                   : Value();
  }
  Operation *def = version.getDefiningOp();
  unsigned number = cast<OpResult>(version).getResultNumber();
  if (auto write = dyn_cast<WriteOp>(def))
    return write.getDests()[number];
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def))
    return slice.getSource();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(def))
    return insert.getDest();
  if (isTypeCast(def))
    return def->getOperand(0);
  if (auto loop = dyn_cast<scf::ForOp>(def)) {
    BlockArgument argument = loop.getRegionIterArg(number);
    return lookup(argument) == argument ? Value() : argument;
  }
  if (auto branch = dyn_cast<scf::IfOp>(def)) {
    Value one = branch.thenYield().getOperand(number);
    Value other = branch.elseYield().getOperand(number);
    return lookup(one) == lookup(other) ? one : Value();
  }
  return {};
}

Value CacheBases::lookup(Value version) {
  SmallVector<Value> path;
  while (true) {
    auto known = previous.find(version);
    Value next = known != previous.end() ? known->second : getPrevious(version);
    previous[version] = next;
    if (!next)
      break;
    path.push_back(version);
    version = next;
  }
  // Everybody on the path points to its end from now on.
  for (Value value : path)
    previous[value] = version;
  return version;
}

BlockArgument CacheBases::getArgument(Value version) {
  auto argument = dyn_cast<BlockArgument>(lookup(version));
  if (argument && argument.getOwner()->isEntryBlock() &&
      isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return argument;
  return {};
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

Operation *kvfuse::getLoopAround(Operation *op, Operation *other, Value value) {
  for (Region *region = op->getParentRegion();;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (isa<FunctionOpInterface>(parent) ||
        region->isAncestor(value.getParentRegion()))
      return nullptr;
    auto branch = dyn_cast<RegionBranchOpInterface>(parent);
    bool repeats =
        !branch || branch.isRepetitiveRegion(region->getRegionNumber());
    if (repeats && region->findAncestorOpInRegion(*other))
      return parent;
  }
}

Value kvfuse::getBufferBase(Value memref) {
  return memref::skipViewLikeOps(cast<MemrefValue>(memref));
}

bool kvfuse::isRefused(WriteOp write) { return write->hasAttr(kRefusedAttr); }
