//===- VersionLayouts.cpp - Versions of a write by layout -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Layout/Passes.h"

#include "AccessWidth.h"
#include "BranchCounter.h"
#include "kvfuse/Dialect/KV/Analysis/Conflicts.h"
#include "kvfuse/Dialect/KV/Analysis/DistinctBuffers.h"
#include "kvfuse/Dialect/KV/Transforms/Passes.h"
#include "kvfuse/Dialect/KV/Transforms/SizeChecks.h"
#include "kvfuse/Layout/Overlap.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVVERSIONLAYOUTS
#include "kvfuse/Layout/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// if (condition) { onTrue } else { onFalse }, or onTrue alone if there is no
/// condition.
static void createBranches(ImplicitLocOpBuilder &b, Value condition,
                           llvm::function_ref<void()> onTrue,
                           llvm::function_ref<void()> onFalse) {
  if (!condition)
    return onTrue();
  auto branches = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  branches->setAttr(kVersionsAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branches.thenBlock());
  onTrue();
  b.setInsertionPointToStart(branches.elseBlock());
  onFalse();
}

/// `memref` with a last stride of 1 in its type, which is known to be right.
static Value createWithUnitStride(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.isLastDimUnitStride())
    return memref;
  auto [strides, offset] = type.getStridesAndOffset();
  strides.back() = 1;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  SmallVector<OpFoldResult> newStrides = metadata.getConstifiedMixedStrides();
  newStrides.back() = b.getIndexAttr(1);
  auto newType =
      MemRefType::get(type.getShape(), type.getElementType(),
                      StridedLayoutAttr::get(b.getContext(), offset, strides),
                      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      b, newType, metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(),
      metadata.getConstifiedMixedSizes(), newStrides);
}

/// Names a version: bytes of its accesses, destination by destination if they
/// differ.
static std::string nameVersion(WriteOp write, ArrayRef<int64_t> accesses) {
  if (llvm::all_of(accesses, [](int64_t elements) { return elements == 1; }))
    return "by element";
  SmallVector<int64_t> bytes;
  for (auto [i, elements] : llvm::enumerate(accesses))
    bytes.push_back(getAccessBytes(write, i, elements));
  if (llvm::all_equal(bytes))
    bytes.resize(1);
  return llvm::formatv("{0:$[/]} bytes",
                       llvm::make_range(bytes.begin(), bytes.end()));
}

/// A memref in a message: its strides are what matters.
static std::string describe(Value memref) {
  return llvm::formatv("a {0}", memref.getType());
}

namespace {
struct KVVersionLayoutsPass
    : kvfuse::impl::KVVersionLayoutsBase<KVVersionLayoutsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    access.assumeAligned = assumeAligned;
    access.onlyProven = noVersioning;
    auto &aliases = getAnalysis<AliasAnalysis>();
    aliases.addAnalysisImplementation(DistinctBuffers());
    OverlapTests tests(module);

    SmallVector<WriteOp> writes;
    module.walk([&](WriteOp write) {
      if (!write.hasTensorForm() && !write.isVersioned())
        writes.push_back(write);
    });
    // All questions first: versions are new operations.
    SmallVector<SmallVector<Conflict>> conflicts;
    for (WriteOp write : writes)
      conflicts.push_back(getOpenConflicts(write, aliases));
    if (!assumeDisjoint)
      for (auto func : module.getOps<func::FuncOp>())
        tests.createArgumentTests(func);
    for (auto [write, open] : llvm::zip_equal(writes, conflicts))
      version(write, open, tests);

    if (countBranches)
      kvfuse::countBranches(module, branches);
    branches.clear();
  }

private:
  SmallVector<Conflict> getOpenConflicts(WriteOp write,
                                         AliasAnalysis &aliases) {
    if (write.getDisjoint() || assumeDisjoint)
      return {};
    return getConflicts(write, aliases);
  }

  void version(WriteOp write, ArrayRef<Conflict> conflicts,
               OverlapTests &tests);
  bool mustStayApart(WriteOp write, ArrayRef<Conflict> conflicts);
  Value createTogetherTest(ImplicitLocOpBuilder &b, WriteOp write,
                           ArrayRef<Conflict> conflicts, OverlapTests &tests);
  void putVersions(ImplicitLocOpBuilder &b, WriteOp write,
                   ArrayRef<Accesses> candidates);
  void emitGuarded(WriteOp write);
  void putVersion(ImplicitLocOpBuilder &b, WriteOp write,
                  ArrayRef<int64_t> accesses);
  void putApart(ImplicitLocOpBuilder &b, WriteOp write);

  AccessOptions access;
  /// The first write of each branch.
  SmallVector<Operation *> branches;
  /// The conditions that pick a version of the write in hand.
  SmallVector<std::string> guards;
};
} // namespace

/// sizes; if (together) { versions } else { single writes }
void KVVersionLayoutsPass::version(WriteOp write, ArrayRef<Conflict> conflicts,
                                   OverlapTests &tests) {
  ImplicitLocOpBuilder b(write.getLoc(), write);
  createSizeChecks(b, write);
  if (mustStayApart(write, conflicts)) {
    putApart(b, write);
  } else {
    createBranches(
        b, createTogetherTest(b, write, conflicts, tests),
        [&] { putVersions(b, write, getAccessCandidates(write, access)); },
        [&] { putApart(b, write); });
    emitGuarded(write);
  }
  write.erase();
}

void KVVersionLayoutsPass::emitGuarded(WriteOp write) {
  if (guards.empty())
    return;
  auto func = write->getParentOfType<FunctionOpInterface>();
  remark::analysis(write.getLoc(), remark::RemarkOpts::name(kGuardedRemark)
                                       .category(kRemarkCategory)
                                       .function(func.getName()))
      << remark::reason("{0}", llvm::join(guards, "; "));
  guards.clear();
}

/// Is it known already that one kernel must not do all destinations of `write`?
/// Says why.
bool KVVersionLayoutsPass::mustStayApart(WriteOp write,
                                         ArrayRef<Conflict> conflicts) {
  for (const Conflict &conflict : conflicts) {
    if (conflict.overlap != Overlap::Yes && !noVersioning)
      continue;
    emitRefusal(
        write, conflict.isRead ? Refusal::AliasValue : Refusal::DestAlias,
        "it is not proven that " + describe(conflict.dest) + " and " +
            describe(conflict.other) + " are apart",
        conflict.isRead ? "copy the values before they are written"
                        : "write views whose offsets and strides are static",
        conflict.other.getLoc());
    return true;
  }
  if (!unitStrideOnly || write.getNumDests() == 1)
    return false;
  for (Value dest : write.getDests()) {
    Fact unit = getUnitStride(dest);
    if (unit == Fact::Holds || (unit == Fact::Open && !noVersioning))
      continue;
    emitRefusal(write, Refusal::InnerStride,
                "the last stride of " + describe(dest) +
                    " is not known to be 1",
                "keep the elements of a row side by side", dest.getLoc());
    return true;
  }
  return false;
}

/// What one kernel for all destinations needs, and what nothing proves. Null if
/// there is no such thing.
Value KVVersionLayoutsPass::createTogetherTest(ImplicitLocOpBuilder &b,
                                               WriteOp write,
                                               ArrayRef<Conflict> conflicts,
                                               OverlapTests &tests) {
  Value together;
  auto require = [&](Value condition) {
    together = together
                   ? arith::AndIOp::create(b, together, condition).getResult()
                   : condition;
  };
  if (!conflicts.empty())
    guards.push_back("together: views of one buffer do not overlap");
  for (const Conflict &conflict : conflicts)
    require(tests.createDisjointTest(b, write.getLoc(), conflict.dest,
                                     conflict.other));
  if (unitStrideOnly && write.getNumDests() > 1)
    if (Value unit = createUnitStrideTest(b, write.getDests())) {
      guards.push_back("together: last strides of caches are 1");
      require(unit);
    }
  return together;
}

/// if (first needs hold) { first } else if (second needs hold) { second } ...
void KVVersionLayoutsPass::putVersions(ImplicitLocOpBuilder &b, WriteOp write,
                                       ArrayRef<Accesses> candidates) {
  Value test = createAccessTest(b, write, candidates.front(), access);
  if (test)
    guards.push_back(nameVersion(write, candidates.front()) +
                     ": strides and addresses");
  createBranches(
      b, test, [&] { putVersion(b, write, candidates.front()); },
      [&] { putVersions(b, write, candidates.drop_front()); });
}

void KVVersionLayoutsPass::putVersion(ImplicitLocOpBuilder &b, WriteOp write,
                                      ArrayRef<int64_t> accesses) {
  auto version = cast<WriteOp>(b.clone(*write));
  b.setInsertionPoint(version);
  for (auto [i, elements] : llvm::enumerate(accesses))
    if (elements > 1)
      for (OpOperand *operand :
           {&version.getValuesMutable()[i], &version.getDestsMutable()[i]})
        operand->set(createWithUnitStride(b, operand->get()));
  version.setDisjoint(write.getNumDests() > 1);
  version.setAccesses(accesses);
  version->setAttr(kBranchAttr, b.getStringAttr(nameVersion(write, accesses)));
  branches.push_back(version);
}

/// The single writes that `write` stands for, by element.
void KVVersionLayoutsPass::putApart(ImplicitLocOpBuilder &b, WriteOp write) {
  IRRewriter rewriter(b.getContext());
  SmallVector<WriteOp> singles =
      decomposeIntoSingleWrites(rewriter, cast<WriteOp>(b.clone(*write)));
  for (WriteOp single : singles) {
    single.setAccesses(ArrayRef<int64_t>{1});
    single->setAttr(kBranchAttr, b.getStringAttr("apart"));
  }
  branches.push_back(singles.front());
}
