//===- WriteRun.cpp - Writes on buffers that may be one -------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteRun.h"

#include "kvfuse/Dialect/KV/Analysis/Conflicts.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// What a kernel can take on every target.
static constexpr unsigned kMaxParameterBytes = 4096;

void WriteRun::add(WriteOp write, AliasAnalysis &aliases) {
  isDisjoint &= write.getDisjoint() || getConflicts(write, aliases).empty();
  writes.push_back(write);
  dests.insert_range(write.getDests());
  inputs.insert_range(write.getDpsInputs());
  getUsedValuesDefinedAbove(write->getRegions(), inputs);
}

/// Bytes of a kernel parameter; of a memref two pointers, an offset, sizes and
/// strides.
static unsigned getParameterBytes(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type ? 8 * (3 + 2 * type.getRank()) : 8;
}

bool WriteRun::hasRoomFor(WriteOp write) const {
  llvm::SetVector<Value> parameters(dests);
  parameters.insert_range(inputs);
  parameters.insert_range(write->getOperands());
  getUsedValuesDefinedAbove(write->getRegions(), parameters);
  unsigned bytes = 0;
  for (Value value : parameters)
    bytes += getParameterBytes(value);
  return bytes <= kMaxParameterBytes;
}

std::string kvfuse::getLayoutText(Value memref) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(cast<MemRefType>(memref.getType())
                 .getStridesAndOffset(strides, offset)))
    return "no strides";
  auto getText = [](int64_t value) {
    return ShapedType::isDynamic(value) ? "?" : std::to_string(value);
  };
  return "strides [" + llvm::join(llvm::map_range(strides, getText), ", ") +
         "] at offset " + getText(offset);
}

static void emitConflict(WriteOp write, WriteOp member,
                         const Conflict &conflict) {
  std::string layouts =
      getLayoutText(conflict.dest) + ", and " + getLayoutText(conflict.other);
  if (conflict.isRead)
    emitRefusal(write, Refusal::AliasValue,
                "what one write reads is not known to be apart from what the "
                "other writes: " +
                    layouts,
                "copy the values before they are written", member.getLoc());
  else
    emitRefusal(write, Refusal::DestAlias,
                "two destinations are not known to be disjoint: " + layouts,
                "pass caches that do not overlap as arguments of their own",
                member.getLoc());
}

bool WriteRun::tryAdd(WriteOp write, AliasAnalysis &aliases, bool onlyProven) {
  bool isProven = true;
  for (WriteOp member : writes)
    for (const Conflict &conflict : getConflicts(member, write, aliases)) {
      isProven = false;
      if (conflict.overlap != Overlap::Yes && !onlyProven)
        continue;
      emitConflict(write, member, conflict);
      return false;
    }
  isDisjoint &= isProven;
  add(write, aliases);
  return true;
}

bool WriteRun::commutesWith(Operation *op, AliasAnalysis &aliases) const {
  auto effects = getEffectsRecursively(op);
  if (!effects)
    return false;
  return llvm::all_of(*effects, [&](MemoryEffects::EffectInstance &effect) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      return true;
    Value touched = effect.getValue();
    auto isOther = [&](Value value) {
      return !isa<MemRefType>(value.getType()) ||
             aliases.alias(touched, value).isNo();
    };
    return touched && llvm::all_of(dests, isOther) &&
           (isa<MemoryEffects::Read>(effect.getEffect()) ||
            llvm::all_of(inputs, isOther));
  });
}

void WriteRun::merge() const {
  if (writes.size() < 2)
    return;
  WriteOp first = getFirst(), last = writes.back();
  OpBuilder builder(last);
  SmallVector<Value> dests, values;
  SmallVector<AffineMap> maps, orders;
  SmallVector<bool> boxes;
  SmallVector<Location> locs;
  for (WriteOp write : writes) {
    llvm::append_range(dests, write.getDests());
    llvm::append_range(values, write.getValues());
    llvm::append_range(boxes, write.getBoxes());
    for (unsigned i = 0; i < write.getNumDests(); ++i) {
      maps.push_back(write.getMap(i));
      orders.push_back(write.getOrder(i));
    }
    locs.push_back(write.getLoc());
  }
  auto merged =
      WriteOp::create(builder, builder.getFusedLoc(locs), first.getIndices(),
                      first.getMask(), dests, values, maps, orders, boxes,
                      first.getNegative(), first.getOutOfBounds());
  merged.setDisjoint(isDisjoint);
  merged.getWhere().takeBody(first.getWhere());
  unsigned next = 0;
  for (WriteOp write : writes) {
    for (Region &body : write.getBodies())
      merged.getBodies()[next++].takeBody(body);
    write.erase();
  }
}
