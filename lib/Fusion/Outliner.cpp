//===- Outliner.cpp - Functions of module @kvfuse -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outliner.h"

#include "Caches.h"
#include "kvfuse/Fusion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

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
  llvm::SmallDenseSet<Operation *> inside(site.body.begin(), site.body.end());
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
  for (Operation *op : site.body) {
    add(add, op->getOperands());
    llvm::SetVector<Value> captures;
    getUsedValuesDefinedAbove(op->getRegions(), captures);
    add(add, captures.getArrayRef());
  }
  return inputs.takeVector();
}

/// The versions that the site leaves, and whatever else of it is used outside.
static SmallVector<Value> collectOutputs(Site &site) {
  SmallVector<Value> outputs;
  llvm::SmallDenseSet<Operation *> inside(site.body.begin(), site.body.end());
  for (Operation *op : site.body) {
    bool isVersion = isa<WriteOp, tensor::InsertSliceOp>(op);
    for (Value result : op->getResults()) {
      auto isInside = [&](Operation *user) { return inside.contains(user); };
      bool isLast = isVersion && llvm::none_of(result.getUsers(), isInside);
      if (isLast || !llvm::all_of(result.getUsers(), isInside))
        outputs.push_back(result);
    }
  }
  return outputs;
}

/// Numbers of the `inputs` that the site writes.
static SmallVector<int64_t> findWritten(Site &site, ArrayRef<Value> inputs) {
  llvm::SmallDenseSet<Value> written;
  for (Operation *op : site.body) {
    if (auto write = dyn_cast<WriteOp>(op))
      written.insert_range(write.getDests());
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      written.insert(insert.getDest());
  }
  SmallVector<int64_t> numbers;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (written.contains(input))
      numbers.push_back(i);
  return numbers;
}

/// The value that `version`, a result of `op`, is the next version of; null if
/// `op` takes it out of a larger one.
static Value getPrevious(Operation *op, OpResult version) {
  if (auto write = dyn_cast<WriteOp>(op))
    return write.getDests()[version.getResultNumber()];
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  return insert ? insert.getDest() : Value();
}

/// For each of the `outputs` the number of the input that holds it in memory
/// after the site, -1 where none is the whole of it.
static SmallVector<int64_t> findHolders(Site &site, ArrayRef<Value> inputs,
                                        ArrayRef<Value> outputs) {
  llvm::SmallDenseSet<Operation *> inside(site.body.begin(), site.body.end());
  auto isOverwritten = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return inside.contains(user) &&
           llvm::any_of(user->getResults(), [&](OpResult result) {
             return getPrevious(user, result) == use.get();
           });
  };
  SmallVector<int64_t> holders;
  for (Value output : outputs) {
    Value version = output;
    if (llvm::any_of(output.getUses(), isOverwritten))
      version = {};
    while (version && inside.contains(version.getDefiningOp()))
      version = getPrevious(version.getDefiningOp(), cast<OpResult>(version));
    const auto *found = llvm::find(inputs, version);
    holders.push_back(found == inputs.end() ? -1 : found - inputs.begin());
  }
  return holders;
}

func::FuncOp Outliner::outline(Site &site) {
  SmallVector<Value> inputs = collectInputs(site);
  SmallVector<Value> outputs = collectOutputs(site);
  func::FuncOp func = share(build(site, inputs, outputs));
  OpBuilder builder(site.body.back());
  auto call = func::CallOp::create(builder, getLoc(site), func, inputs);
  call->setAttr(kWrittenAttr,
                builder.getDenseI64ArrayAttr(findWritten(site, inputs)));
  call->setAttr(kHoldersAttr, builder.getDenseI64ArrayAttr(
                                  findHolders(site, inputs, outputs)));
  for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(site.body))
    op->erase();
  for (Operation *producer : llvm::reverse(site.producers))
    if (isOpTriviallyDead(producer) ||
        (isa<bufferization::AllocTensorOp>(producer) && producer->use_empty()))
      producer->erase();
  return func;
}

LogicalResult Outliner::moveWhole(func::FuncOp func) {
  SymbolTable nested(getNested());
  if (nested.lookup(func.getName()))
    return func.emitError("module @") << kWritesModule << " has a symbol '"
                                      << func.getName() << "' already";
  if (!SymbolTable::symbolKnownUseEmpty(func.getNameAttr(),
                                        &module.getBodyRegion()))
    declare(func, Block::iterator(func));
  func->remove();
  func.setPublic();
  nested.insert(func);
  return success();
}

void Outliner::declareCallees(func::FuncOp func) {
  func.walk([&](func::CallOp call) {
    auto callee = getNested().lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && !module.lookupSymbol(call.getCallee()))
      declare(callee, Block::iterator(func));
  });
}

void Outliner::declare(func::FuncOp func, Block::iterator place) {
  OpBuilder builder(module.getBody(), place);
  func::FuncOp::create(builder, func.getLoc(), func.getName(),
                       func.getFunctionType())
      .setPrivate();
}

func::FuncOp Outliner::build(Site &site, ValueRange inputs,
                             ValueRange outputs) {
  OpBuilder builder(module.getContext());
  auto func = func::FuncOp::create(
      getLoc(site), "kv_write_0",
      builder.getFunctionType(inputs.getTypes(), outputs.getTypes()));
  // Bufferization in place is certain inside the function, not for what its
  // operations and the caller's would be together.
  func.setNoInline(true);
  Block *body = func.addEntryBlock();
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  builder.setInsertionPointToEnd(body);
  for (Operation *producer : site.producers)
    builder.clone(*producer, mapping);
  for (Operation *op : site.body)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(mapping.lookup(output));
  func::ReturnOp::create(builder, getLoc(site), results);

  // SM5: nothing but the caches may be written, not even to reuse a buffer.
  CacheBases bases;
  llvm::SmallDenseSet<Value> caches;
  func.walk([&](WriteOp write) {
    for (Value dest : write.getDests())
      caches.insert(bases.lookup(dest));
  });
  for (BlockArgument argument : body->getArguments())
    if (isa<TensorType>(argument.getType()))
      func.setArgAttr(argument.getArgNumber(),
                      bufferization::BufferizationDialect::kWritableAttrName,
                      builder.getBoolAttr(caches.contains(argument)));
  return func;
}

func::FuncOp Outliner::share(func::FuncOp func) {
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

ModuleOp Outliner::getNested() {
  if (!nested)
    nested = module.lookupSymbol<ModuleOp>(kWritesModule);
  if (!nested) {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToEnd(module.getBody());
    nested = ModuleOp::create(builder, module.getLoc(), kWritesModule);
  }
  return nested;
}
