//===- Outliner.cpp - Functions of module @kvfuse -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outliner.h"

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

void Outliner::outline(Site &site) {
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

func::FuncOp Outliner::build(Site &site, ValueRange inputs) {
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
    for (Value dest : write.getDests()) {
      // Only type casts of a cache go along with its write.
      while (site.producers.contains(dest.getDefiningOp()))
        dest = dest.getDefiningOp()->getOperand(0);
      caches.insert(dest);
    }
  for (auto [i, input] : llvm::enumerate(inputs))
    if (isa<TensorType>(input.getType()))
      func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                      builder.getBoolAttr(caches.contains(input)));
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
