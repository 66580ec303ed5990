//===- TorchRefusals.cpp - Updates of caches that stay as they are --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchRefusals.h"

#include "TorchSlices.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

//===----------------------------------------------------------------------===//
// Other updates
//===----------------------------------------------------------------------===//

namespace {
/// Copies of rows to slices of one argument.
struct SliceCopies {
  SmallVector<Operation *> sites;
  /// What reads the numbers in them from tensors.
  llvm::SetVector<Operation *> reads;
};

class UpdateReporter {
public:
  UpdateReporter(SmallPtrSetImpl<Operation *> &named) : named(named) {}

  void visit(Operation *op);
  void report();

private:
  void follow(Operation *op);
  void visitSliceScatter(const SliceScatter &scatter);
  void visitNewContents(Value contents, Value of);
  void visitUnknown(Operation *op);
  void emit(Operation *op, Refusal refusal, const Twine &found,
            const Twine &suggest, std::optional<Location> cause = {}) {
    if (named.insert(op).second)
      emitRefusal(op, refusal, found, suggest, cause);
  }

  SmallPtrSetImpl<Operation *> &named;
  /// The argument that a torch tensor is a view or a new version of.
  llvm::DenseMap<Value, Value> origins;
  /// Tensors into which rows have been put.
  llvm::DenseSet<Value> updated;
  llvm::MapVector<Value, SliceCopies> copies;
};
} // namespace

/// Finds out for the result of `op`, whose operands are known, what it is a
/// view or version of.
void UpdateReporter::follow(Operation *op) {
  if (op->getNumResults() != 1)
    return;
  Value source;
  if (isViewOp(op))
    source = getViewSource(op);
  else if (std::optional<SliceScatter> scatter = readSliceScatter(op))
    source = scatter->target;
  else if (isRowWrite(op) || isToBuiltin(op) || isFromBuiltin(op))
    source = op->getOperand(0);
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    source = insert.getDest();
  else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    source = extract.getSource();
  else if (auto write = dyn_cast<kv::WriteOp>(op))
    source = write.getDests().front();
  if (!source)
    return;
  if (Value origin =
          isFunctionArgument(source) ? source : origins.lookup(source))
    origins[op->getResult(0)] = origin;
  if (!isViewOp(op) || updated.contains(source))
    updated.insert(op->getResult(0));
}

/// What the numbers among the operands of `op` are read from.
static void collectReads(Operation *op, llvm::SetVector<Operation *> &reads) {
  SmallVector<Value> worklist(op->getOperands());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!isHostNumber(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (llvm::any_of(def->getOperands(), isHostNumber))
      llvm::append_range(worklist, def->getOperands());
    else
      reads.insert(def);
  }
}

void UpdateReporter::visitSliceScatter(const SliceScatter &scatter) {
  Value origin = origins.lookup(scatter.op->getResult(0));
  if (!origin || updated.contains(scatter.source))
    return;
  SliceCopies &slices = copies[origin];
  slices.sites.push_back(scatter.op);
  collectReads(scatter.op, slices.reads);
  for (Operation *view = scatter.target.getDefiningOp(); isViewOp(view);
       view = getViewSource(view).getDefiningOp())
    collectReads(view, slices.reads);
}

/// Is `value` a mask, or numbers made from one?
static bool isMask(Value value) {
  RankedTensorType type = readTensorType(value.getType());
  if (type && type.getElementType().isInteger(1))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() < 1)
    return false;
  StringRef name = getTorchName(op);
  return name == "torch.aten.one_hot" ||
         ((isViewOp(op) || name.contains("to.dtype") ||
           name == "torch.prims.convert_element_type") &&
          isMask(op->getOperand(0)));
}

/// Does `op` choose, for all of its result, between a cache and something else?
static bool isWholeUpdate(Operation *op) {
  StringRef name = getTorchName(op);
  if (name == "torch.aten.add.Tensor")
    return llvm::any_of(op->getOperands().take_front(2), [](Value operand) {
      Operation *product = operand.getDefiningOp();
      return product && getTorchName(product) == "torch.aten.mul.Tensor" &&
             llvm::any_of(product->getOperands(), isMask);
    });
  return name == "torch.aten.where.self" || name == "torch.aten.cat" ||
         name == "torch.aten.roll" || name == "torch.aten.masked_scatter" ||
         name.starts_with("torch.aten.masked_fill.");
}

/// `contents` leaves the function, as the new contents of the cache `of` if
/// that is known.
void UpdateReporter::visitNewContents(Value contents, Value of) {
  contents = getViewBase(contents);
  Operation *op = contents.getDefiningOp();
  // Smaller tensors than keys or values of heads are counters and states.
  constexpr int64_t kCacheRank = 3;
  RankedTensorType type = readTensorType(contents.getType());
  if (!op || !type || type.getRank() < kCacheRank || !isWholeUpdate(op) ||
      origins.contains(contents))
    return;
  for (Value operand : getFlatOperands(op)) {
    RankedTensorType cache = readTensorType(operand.getType());
    Value origin =
        isFunctionArgument(operand) ? operand : origins.lookup(operand);
    if (origin && (!of || of == origin) && cache.getRank() == type.getRank() &&
        cache.getElementType() == type.getElementType())
      return emit(op, Refusal::NotAScatter,
                  getTorchName(op) + " makes all of the cache anew",
                  "write the new rows with index_put");
  }
}

/// An operation of somebody else that takes an argument, and may write it: it
/// returns nothing, or a tensor like it.
void UpdateReporter::visitUnknown(Operation *op) {
  constexpr int64_t kCacheRank = 3;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = readTensorType(operand.getType());
    if (type && type.getRank() >= kCacheRank && isFunctionArgument(operand) &&
        (op->getNumResults() == 0 ||
         llvm::is_contained(op->getResultTypes(), operand.getType())))
      return emit(op, Refusal::OpaqueOp, getTorchName(op) + " takes a cache",
                  "write the cache by torch's own operations");
  }
}

void UpdateReporter::visit(Operation *op) {
  follow(op);
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    for (Value operand : ret.getOperands())
      visitNewContents(operand, {});
    return;
  }
  if (std::optional<SliceScatter> scatter = readSliceScatter(op))
    return visitSliceScatter(*scatter);
  StringRef name = getTorchName(op);
  if (name == "torch.aten.copy" && op->getNumOperands() > 1 &&
      isFunctionArgument(op->getOperand(0)))
    return visitNewContents(op->getOperand(1), op->getOperand(0));
  if (llvm::StringSwitch<bool>(name)
          .Cases({"torch.aten.index_add", "torch.aten.scatter_add",
                  "torch.aten.scatter_reduce.two", "torch.aten.index_reduce"},
                 true)
          .Default(false) &&
      isFunctionArgument(op->getOperand(0)))
    return emit(op, Refusal::Accumulate, "adds the rows to the cache",
                "write with accumulate=False");
  if (op->getName().getStringRef() == "torch.operator" && !isAtenOp(op) &&
      !isRowWrite(op))
    visitUnknown(op);
}

void UpdateReporter::report() {
  for (auto &[argument, slices] : copies) {
    Operation *first = slices.sites.front();
    if (slices.sites.size() > 1 && slices.reads.size() > 1) {
      emit(first, Refusal::HostLoop,
           Twine(slices.sites.size()) + " parts of a cache are written one by "
                                        "one, at numbers that the host reads "
                                        "from tensors",
           "index by the tensors", slices.reads.front()->getLoc());
      continue;
    }
    for (Operation *site : slices.sites)
      emit(site, Refusal::Contiguous,
           "copies rows to a slice of the cache: one kernel already",
           "index by a tensor of positions to have it fused with others");
  }
}

void torch::reportOtherUpdates(func::FuncOp func,
                               SmallPtrSetImpl<Operation *> &named) {
  UpdateReporter reporter(named);
  func.walk<WalkOrder::PreOrder>([&](Operation *op) { reporter.visit(op); });
  reporter.report();
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Torch operations whose results are new tensors, never views.
static bool makesNewTensor(Operation *op) {
  return llvm::StringSwitch<bool>(getTorchName(op))
      .Cases({"torch.aten.index.Tensor", "torch.aten.index.Tensor_hacked_twin",
              "torch.aten.index_select", "torch.aten.gather",
              "torch.aten.embedding", "torch.aten.clone"},
             true)
      .Default(false);
}

/// Does `op` ask for the form of a tensor, and not look at its elements?
static bool asksForForm(Operation *op) {
  return llvm::StringSwitch<bool>(getTorchName(op))
      .Cases({"torch.aten.size", "torch.aten.size.int",
              "torch.aten.sym_size.int", "torch.aten.stride.int",
              "torch.aten.sym_stride.int", "torch.aten.numel",
              "torch.aten.sym_numel", "torch.aten.dim"},
             true)
      .Default(false);
}

void torch::reportOpaqueOps(func::FuncOp func,
                            SmallPtrSetImpl<Operation *> &named) {
  llvm::DenseSet<Value> caches;
  func.walk([&](kv::WriteOp write) {
    caches.insert_range(write.getDests());
    caches.insert_range(write.getResults());
  });
  func.walk([&](Operation *op) {
    if (isToBuiltin(op) && caches.contains(op->getResult(0)))
      caches.insert(op->getOperand(0));
    if (isFromBuiltin(op) && caches.contains(op->getOperand(0)))
      caches.insert(op->getResult(0));
  });
  func.walk([&](Operation *op) {
    if ((op->isRegistered() && !isTorchOp(op)) || isToBuiltin(op) ||
        isFromBuiltin(op) || named.contains(op))
      return;
    if (llvm::none_of(op->getOperands(),
                      [&](Value v) { return caches.contains(v); }))
      return;
    if (makesNewTensor(op) || asksForForm(op))
      op->setAttr(kNewResultsAttr, UnitAttr::get(op->getContext()));
    if (asksForForm(op))
      return;
    named.insert(op);
    emitRefusal(op, Refusal::OpaqueOp, getTorchName(op) + " takes a cache",
                "move it before or after the writes");
  });
}
