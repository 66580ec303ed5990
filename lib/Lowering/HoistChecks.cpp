//===- HoistChecks.cpp - Sizes are tested before the first launch ---------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"
#include "kvfuse/Layout/Overlap.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVHOISTCHECKS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// What the message of a callee's check adds where it is repeated, for the
/// callee may serve others, too: the names of the function's arguments that it
/// tests.
static std::string listNames(cf::AssertOp check) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.inclusive = true;
  (void)getBackwardSlice(check.getOperation(), &slice, options);
  Block &entry = check->getParentOfType<func::FuncOp>().front();
  llvm::BitVector isTested(entry.getNumArguments());
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (argument.getOwner() == &entry)
          isTested.set(argument.getArgNumber());
  std::string text;
  for (unsigned number : isTested.set_bits())
    if (StringRef name = kv::getArgumentName(entry.getArgument(number));
        !name.empty())
      text += ((text.empty() ? ": '" : ", '") + name + "'").str();
  return text;
}

namespace {
/// Operations that give the same results, regions included.
struct EquivalentOps : DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() ||
        rhs == getEmptyKey() || rhs == getTombstoneKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(lhs), const_cast<Operation *>(rhs),
        OperationEquivalence::IgnoreLocations);
  }
};

/// Moves the checks of functions to their start, those of callees included.
class CheckHoister {
public:
  explicit CheckHoister(ModuleOp module) : symbols(module) {}

  void hoist(func::FuncOp func) {
    if (func.isExternal() || !checksOf.try_emplace(func).second)
      return;
    for (auto call :
         llvm::make_early_inc_range(func.front().getOps<func::CallOp>()))
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee())) {
        hoist(callee);
        repeatChecks(callee, call);
        if (auto rest = getUnchecked(callee))
          call.setCallee(rest.getName());
      }

    SmallVector<cf::AssertOp> checks;
    DenseSet<Value> checked;
    Operation *place = nullptr;
    DenseSet<Operation *> done;
    DenseSet<Operation *, EquivalentOps> moved;
    for (auto check :
         llvm::make_early_inc_range(func.front().getOps<cf::AssertOp>())) {
      llvm::SetVector<Operation *> slice;
      if (failed(collectSlice(func, check.getArg(), done, slice)))
        continue;
      for (Operation *op : slice) {
        auto [same, isNew] = moved.insert(op);
        if (isNew) {
          moveTo(func.front(), place, op);
          done.insert(op);
          continue;
        }
        op->replaceAllUsesWith(*same);
        op->erase();
      }
      if (!checked.insert(check.getArg()).second) {
        check.erase();
        continue;
      }
      moveTo(func.front(), place, check);
      checks.push_back(check);
    }
    checksOf[func] = std::move(checks);
  }

private:
  /// May `op` run earlier, or once more?
  bool mayMove(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      return callee && callee->hasAttr(kPureAttr);
    }
    if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(op))
      return llvm::all_of(op->getRegions(), [&](Region &region) {
        return llvm::all_of(region.getOps(),
                            [&](Operation &inner) { return mayMove(&inner); });
      });
    return isPure(op) && op->getNumRegions() == 0;
  }

  /// Adds what computes `value` from arguments of `func` to `slice`, operands
  /// first, without what is `done`. Fails if something else is needed, or may
  /// not move.
  LogicalResult collectSlice(func::FuncOp func, Value value,
                             const DenseSet<Operation *> &done,
                             llvm::SetVector<Operation *> &slice) {
    Operation *def = value.getDefiningOp();
    if (!def)
      return success(cast<BlockArgument>(value).getOwner() == &func.front());
    if (slice.contains(def) || done.contains(def))
      return success();
    if (!mayMove(def))
      return failure();
    llvm::SetVector<Value> needed(def->operand_begin(), def->operand_end());
    getUsedValuesDefinedAbove(def->getRegions(), needed);
    for (Value operand : needed)
      if (failed(collectSlice(func, operand, done, slice)))
        return failure();
    slice.insert(def);
    return success();
  }

  /// Moves `op` behind `place`, the last operation moved. All that stands up to
  /// there was moved before.
  static void moveTo(Block &block, Operation *&place, Operation *op) {
    Operation *next = place ? place->getNextNode() : &block.front();
    if (op != next)
      op->moveBefore(next);
    place = op;
  }

  /// Writes the checks of `callee`, on the operands of `call`, in front of it.
  void repeatChecks(func::FuncOp callee, func::CallOp call) {
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    DenseSet<Operation *> done;
    for (cf::AssertOp check : checksOf.lookup(callee)) {
      llvm::SetVector<Operation *> slice;
      (void)collectSlice(callee, check.getArg(), done, slice);
      slice.insert(check);
      for (Operation *op : slice) {
        Operation *repeated = builder.clone(*op, mapping);
        if (auto assertOp = dyn_cast<cf::AssertOp>(repeated))
          assertOp.setMsg(check.getMsg().str() + listNames(assertOp));
        // The size of a temporary folds to what it was allocated with.
        SmallVector<Value> folded;
        if (succeeded(builder.tryFold(repeated, folded)) && !folded.empty()) {
          mapping.map(op->getResults(), folded);
          repeated->erase();
        }
      }
      done.insert_range(slice);
    }
  }

  /// The part of `callee` behind its checks as a function of its own, for
  /// callers that repeat these; null if there are none.
  func::FuncOp getUnchecked(func::FuncOp callee) {
    ArrayRef<cf::AssertOp> checks = checksOf[callee];
    if (checks.empty() || !callee.getBody().hasOneBlock())
      return {};
    func::FuncOp &rest = uncheckedOf[callee];
    if (rest)
      return rest;
    IRMapping mapping;
    rest = cast<func::FuncOp>(callee->clone(mapping));
    for (cf::AssertOp check : checks)
      mapping.lookup(check.getOperation())->erase();
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(rest.front())))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
          mayMove(&op))
        op.erase();
    rest.setName((callee.getName() + "_unchecked").str());
    rest.setPrivate();
    rest.removeArgAttrsAttr();
    rest->setDiscardableAttr(kRestOfAttr, FlatSymbolRefAttr::get(callee));
    symbols.insert(rest, std::next(Block::iterator(callee)));

    while (&callee.front().back() != checks.back())
      callee.front().back().erase();
    OpBuilder builder = OpBuilder::atBlockEnd(&callee.front());
    auto call = func::CallOp::create(builder, callee.getLoc(), rest,
                                     callee.getArguments());
    func::ReturnOp::create(builder, callee.getLoc(), call.getResults());
    return rest;
  }

  SymbolTable symbols;
  DenseMap<func::FuncOp, SmallVector<cf::AssertOp>> checksOf;
  DenseMap<func::FuncOp, func::FuncOp> uncheckedOf;
};

struct KVHoistChecksPass : kvfuse::impl::KVHoistChecksBase<KVHoistChecksPass> {
  void runOnOperation() override {
    CheckHoister hoister(getOperation());
    // Without those that come to it.
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      hoister.hoist(func);
  }
};
} // namespace
