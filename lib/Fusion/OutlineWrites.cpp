//===- OutlineWrites.cpp - Groups of writes into module @kvfuse -----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Fusion/Passes.h"

#include "Caches.h"
#include "InPlace.h"
#include "kvfuse/Remarks/Refusal.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVOUTLINEWRITES
#include "kvfuse/Fusion/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

static constexpr StringLiteral kModuleName = "kvfuse";

/// Is `op` one that kvfuse bufferizes and lowers itself?
static bool isKnown(Operation *op) {
  return isa_and_nonnull<KVDialect, arith::ArithDialect, tensor::TensorDialect,
                         scf::SCFDialect>(op->getDialect());
}

/// Can `func` be compiled whole: known operations and builtin types only?
static bool isWhollyKnown(func::FuncOp func) {
  WalkResult walk = func.getBody().walk([](Operation *op) {
    return isKnown(op) || isa<func::ReturnOp>(op) ? WalkResult::advance()
                                                  : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

namespace {
/// Neighbouring writes that become one function.
struct Site {
  SmallVector<WriteOp> writes;
  /// What computes the operands and goes along, in order.
  llvm::SetVector<Operation *> producers;
};

/// Makes and shares the functions of module @kvfuse.
class Outliner {
public:
  explicit Outliner(ModuleOp module) : module(module) {}

  /// Replaces `site` by a call.
  void outline(Site &site) {
    SmallVector<Value> inputs = collectInputs(site);
    func::FuncOp func = share(build(site, inputs));
    OpBuilder builder(site.writes.back());
    auto call = func::CallOp::create(builder, getLoc(site), func, inputs);
    unsigned next = 0;
    for (WriteOp write : site.writes)
      for (Value result : write->getResults())
        result.replaceAllUsesWith(call.getResult(next++));
    for (WriteOp write : llvm::reverse(site.writes))
      write.erase();
    for (Operation *producer : llvm::reverse(site.producers))
      if (isOpTriviallyDead(producer))
        producer->erase();
  }

  /// Moves a function of known operations, calls included.
  void moveWhole(func::FuncOp func) {
    func->remove();
    SymbolTable(getNested()).insert(func);
  }

  /// Declares in the outer module what `func`, which stays there, calls.
  void declareCallees(func::FuncOp func) {
    SymbolTable outer(module);
    func.walk([&](func::CallOp call) {
      if (outer.lookup(call.getCallee()))
        return;
      auto callee = SymbolTable::lookupSymbolIn(getNested(), call.getCallee());
      if (!callee)
        return;
      OpBuilder builder(func);
      auto declaration =
          func::FuncOp::create(builder, callee->getLoc(), call.getCallee(),
                               cast<func::FuncOp>(callee).getFunctionType());
      declaration.setPrivate();
      outer.insert(declaration);
    });
  }

private:
  static Location getLoc(Site &site) {
    SmallVector<Location> locs;
    for (WriteOp write : site.writes)
      locs.push_back(write.getLoc());
    return FusedLoc::get(site.writes.front()->getContext(), locs);
  }

  /// caches, values, indices, then whatever else is used from outside; where
  /// one is computed inside, what it is computed from.
  static SmallVector<Value> collectInputs(Site &site) {
    llvm::SetVector<Value> inputs;
    llvm::SmallDenseSet<Operation *> inside(site.writes.begin(),
                                            site.writes.end());
    inside.insert_range(site.producers);
    llvm::SmallDenseSet<Operation *> visited;
    auto add = [&](auto &&add, ValueRange values) -> void {
      for (Value value : values) {
        Operation *def = value.getDefiningOp();
        if (!def || !inside.contains(def))
          inputs.insert(value);
        else if (visited.insert(def).second)
          add(add, def->getOperands());
      }
    };
    for (WriteOp write : site.writes)
      add(add, write.getDests());
    for (WriteOp write : site.writes)
      add(add, write.getValues());
    for (WriteOp write : site.writes) {
      add(add, write->getOperands());
      llvm::SetVector<Value> captures;
      getUsedValuesDefinedAbove(write->getRegions(), captures);
      add(add, captures.getArrayRef());
    }
    return inputs.takeVector();
  }

  /// The function of `site`, not yet in a symbol table.
  func::FuncOp build(Site &site, ValueRange inputs) {
    OpBuilder builder(module.getContext());
    SmallVector<Value> outputs;
    for (WriteOp write : site.writes)
      llvm::append_range(outputs, write->getResults());
    auto func = func::FuncOp::create(
        getLoc(site), "kv_write_0",
        builder.getFunctionType(inputs.getTypes(),
                                ValueRange(outputs).getTypes()));
    Block *body = func.addEntryBlock();
    IRMapping mapping;
    mapping.map(inputs, body->getArguments());
    builder.setInsertionPointToEnd(body);
    for (Operation *producer : site.producers)
      builder.clone(*producer, mapping);
    for (WriteOp write : site.writes)
      builder.clone(*write, mapping);
    SmallVector<Value> results;
    for (Value output : outputs)
      results.push_back(mapping.lookup(output));
    func::ReturnOp::create(builder, getLoc(site), results);

    // SM5: nothing but the caches may be written, not even to reuse a buffer.
    llvm::SmallDenseSet<Value> caches;
    for (WriteOp write : site.writes)
      caches.insert(write.getDests().begin(), write.getDests().end());
    for (auto [i, input] : llvm::enumerate(inputs))
      if (isa<TensorType>(input.getType()))
        func.setArgAttr(i,
                        bufferization::BufferizationDialect::kWritableAttrName,
                        builder.getBoolAttr(caches.contains(input)));
    return func;
  }

  /// An equal function of @kvfuse instead of `func`, if there is one.
  func::FuncOp share(func::FuncOp func) {
    SmallVector<func::FuncOp> &candidates = byType[func.getFunctionType()];
    for (func::FuncOp candidate : candidates) {
      if (candidate.getArgAttrsAttr() != func.getArgAttrsAttr() ||
          !OperationEquivalence::isRegionEquivalentTo(
              &candidate.getBody(), &func.getBody(),
              OperationEquivalence::IgnoreLocations))
        continue;
      func.erase();
      return candidate;
    }
    // The name must be free in both modules: the outer one holds a declaration.
    SymbolTable outer(module), nested(getNested());
    std::string name;
    do
      name = ("kv_write_" + Twine(counter++)).str();
    while (outer.lookup(name) || nested.lookup(name));
    func.setName(name);
    nested.insert(func);
    candidates.push_back(func);
    return func;
  }

  ModuleOp getNested() {
    if (!nested)
      nested = module.lookupSymbol<ModuleOp>(kModuleName);
    if (!nested) {
      OpBuilder builder(module.getContext());
      builder.setInsertionPointToEnd(module.getBody());
      nested = ModuleOp::create(builder, module.getLoc(), kModuleName);
    }
    return nested;
  }

  ModuleOp module, nested;
  unsigned counter = 0;
  DenseMap<Type, SmallVector<func::FuncOp>> byType;
};

struct KVOutlineWritesPass
    : kvfuse::impl::KVOutlineWritesBase<KVOutlineWritesPass> {
  using KVOutlineWritesBase::KVOutlineWritesBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        funcs.push_back(func);

    Outliner outliner(getOperation());
    bool found = false;
    for (func::FuncOp func : funcs) {
      bool whole = isWhollyKnown(func);
      bool anyLeft = false;
      SmallVector<Site> sites;
      func.walk(
          [&](Block *block) { collectSites(*block, group, sites, anyLeft); });
      if (anyLeft && required) {
        func.emitError("a write may not be done in place, and fusing is "
                       "required");
        return signalPassFailure();
      }
      if (sites.empty())
        continue;
      found = true;
      for (Site &site : sites) {
        if (group)
          emitFused(site);
        // A function that stays gives away what computes the operands; one
        // that moves has it with it.
        if (!whole || anyLeft)
          collectProducers(site);
        outliner.outline(site);
      }
      finish(outliner, func, whole && !anyLeft);
    }
    if (required && !found) {
      getOperation().emitError("no cache write was found, and fusing is "
                               "required");
      signalPassFailure();
    }
  }

private:
  /// Runs of neighbouring writes of `block` that may be done in place.
  static void collectSites(Block &block, bool group,
                           SmallVectorImpl<Site> &sites, bool &anyLeft) {
    Site run;
    auto endRun = [&] {
      if (!run.writes.empty())
        sites.push_back(std::move(run));
      run = Site();
    };
    for (Operation &op : block) {
      auto write = dyn_cast<WriteOp>(op);
      if (!write || !write.hasTensorForm()) {
        endRun();
        continue;
      }
      if (!mayWriteInPlace(write)) {
        anyLeft = true;
        endRun();
        continue;
      }
      // A second write of one cache is a group of its own (SM2).
      bool joins = group && !run.writes.empty() && !isRefused(write) &&
                   !isRefused(run.writes.back()) &&
                   run.writes.front().hasSameTokens(write) &&
                   llvm::none_of(write->getOperands(), [&](Value operand) {
                     Operation *def = operand.getDefiningOp();
                     return isa_and_nonnull<WriteOp>(def) &&
                            llvm::is_contained(run.writes, cast<WriteOp>(def));
                   });
      if (!joins)
        endRun();
      run.writes.push_back(write);
    }
    endRun();
  }

  static void emitFused(Site &site) {
    if (isRefused(site.writes.front()))
      return;
    unsigned numDests = 0;
    for (WriteOp write : site.writes)
      numDests += write.getNumDests();
    auto func = site.writes.front()->getParentOfType<func::FuncOp>();
    remark::passed(site.writes.front().getLoc(),
                   remark::RemarkOpts::name(kFusedRemark)
                       .category(kRemarkCategory)
                       .function(func.getName()))
        << remark::metric("Destinations", numDests);
  }

  /// What computes operands of the writes from known operations.
  static void collectProducers(Site &site) {
    SmallVector<Value> worklist;
    for (WriteOp write : site.writes)
      llvm::append_range(worklist, write->getOperands());
    llvm::SetVector<Operation *> found;
    while (!worklist.empty()) {
      Operation *def = worklist.pop_back_val().getDefiningOp();
      if (!def || isa<WriteOp>(def) || !isKnown(def) || !isPure(def) ||
          def->getNumRegions() != 0 || !found.insert(def))
        continue;
      llvm::append_range(worklist, def->getOperands());
    }
    site.producers = topologicalSort(found);
  }

  static void finish(Outliner &outliner, func::FuncOp func, bool whole) {
    StringRef writable =
        bufferization::BufferizationDialect::kWritableAttrName;
    if (whole) {
      // SM5: what is not declared may not be written, not even to reuse it.
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (isa<TensorType>(func.getArgument(i).getType()))
          func.setArgAttr(i, writable,
                          BoolAttr::get(func.getContext(),
                                        isDeclaredMutated(func, i)));
      outliner.moveWhole(func);
      return;
    }
    // The marks of SM5 have done their work; the caller's text is as it was.
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      func.removeArgAttr(i, writable);
    outliner.declareCallees(func);
  }
};
} // namespace
