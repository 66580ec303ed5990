//===- TorchViews.cpp - Torch tensors as views of caches ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchViews.h"

#include "TorchSlices.h"
#include "TorchTypes.h"
#include "kvfuse/Dialect/KV/IR/KV.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;

bool CacheView::isBase() const {
  return layout.isIdentity() && readTensorType(base.getType()) == type;
}

//===----------------------------------------------------------------------===//
// Kinds of views
//===----------------------------------------------------------------------===//

namespace {
enum class ViewKind {
  None,
  Same,
  Clone,
  Bitcast,
  Expand,
  Reshape,
  Permute,
  Select,
  Slice,
  Narrow,
  AsStrided
};
} // namespace

static ViewKind getKind(Operation *op) {
  if (!op || op->getNumOperands() < 1 || op->getNumResults() != 1)
    return ViewKind::None;
  StringRef name = getTorchName(op);
  if (!name.consume_front("torch.aten.") && !name.consume_front("torch.prims."))
    return ViewKind::None;
  return llvm::StringSwitch<ViewKind>(name)
      .Cases({"alias", "detach", "copy"}, ViewKind::Same)
      .Cases({"clone", "contiguous"}, ViewKind::Clone)
      .Case("view.dtype", ViewKind::Bitcast)
      .Cases({"expand", "expand_as", "broadcast_to"}, ViewKind::Expand)
      .Cases({"view", "_unsafe_view", "reshape", "flatten.using_ints",
              "unflatten.int", "squeeze", "squeeze.dim", "squeeze.dims",
              "unsqueeze"},
             ViewKind::Reshape)
      .Cases({"permute", "transpose", "transpose.int", "t"}, ViewKind::Permute)
      .Case("select.int", ViewKind::Select)
      .Case("slice.Tensor", ViewKind::Slice)
      .Case("narrow", ViewKind::Narrow)
      .Case("as_strided", ViewKind::AsStrided)
      .Default(ViewKind::None);
}

bool torch::isViewOp(Operation *op) { return getKind(op) != ViewKind::None; }

/// The value of `copy(dest, source)` is its source.
Value torch::getViewSource(Operation *op) {
  bool copies = getTorchName(op) == "torch.aten.copy";
  return op->getOperand(copies && op->getNumOperands() > 1 ? 1 : 0);
}

Value torch::getViewBase(Value value) {
  while (isViewOp(value.getDefiningOp()))
    value = getViewSource(value.getDefiningOp());
  return value;
}

Value torch::getOrigin(Value value) {
  while (Operation *op = getViewBase(value).getDefiningOp()) {
    if (isToBuiltin(op) || isFromBuiltin(op))
      value = op->getOperand(0);
    else if (auto write = dyn_cast<kv::WriteOp>(op))
      value = write.getDests().front();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      value = extract.getSource();
    else
      break;
  }
  return getViewBase(value);
}

//===----------------------------------------------------------------------===//
// From source to view
//===----------------------------------------------------------------------===//

namespace {
/// Makes the view of a source the view that an operation gives of it.
class ViewStep {
public:
  ViewStep(Operation *op, CacheView &view, ViewRefusal &why)
      : op(op), view(view), why(why),
        type(readTensorType(op->getResult(0).getType())) {}

  LogicalResult run();

private:
  LogicalResult refuse(Refusal reason, const Twine &found,
                       const Twine &suggest = "") {
    why = {reason, found.str(), suggest.str(), op->getLoc()};
    return failure();
  }
  LogicalResult refuseCopy() {
    return refuse(Refusal::CacheCopied,
                  getTorchName(op) + " makes a copy, which is written instead",
                  "write a view of the cache");
  }
  LogicalResult dispatch(ViewKind kind);
  LogicalResult reshape();
  LogicalResult permute();
  LogicalResult slice(LogicalResult sliced);

  Operation *op;
  CacheView &view;
  ViewRefusal &why;
  RankedTensorType type;
};
} // namespace

/// torch-mlir's simplified text says `view` also for a reshape that copies.
LogicalResult ViewStep::reshape() {
  if (succeeded(view.layout.reshape(type.getShape())))
    return view.layout.isView() ? success() : refuseCopy();
  return refuse(Refusal::IndexUnknown,
                getTorchName(op) + " of " +
                    toText(getViewSource(op).getType()) + " to " +
                    toText(op->getResult(0).getType()) +
                    " is not made of factors of the dimensions",
                "give the cache the shape that is written");
}

LogicalResult ViewStep::permute() {
  FailureOr<SmallVector<int64_t>> order = readOrder(op, view.type.getRank());
  if (failed(order))
    return refuse(Refusal::IndexUnknown, "the order of dimensions of " +
                                             getTorchName(op) +
                                             " is no constant");
  view.layout.permute(*order);
  return success();
}

LogicalResult ViewStep::slice(LogicalResult sliced) {
  if (succeeded(sliced))
    return success();
  if (llvm::any_of(op->getOperands().drop_front(), isHostNumber))
    return refuse(Refusal::HostLoop,
                  getTorchName(op) + " takes a number that the host reads from "
                                     "a tensor",
                  "index by the tensor");
  return refuse(Refusal::IndexUnknown,
                getTorchName(op) + " is no box of the cache with constant "
                                   "bounds",
                "slice whole dimensions of the cache by constants");
}

LogicalResult ViewStep::dispatch(ViewKind kind) {
  switch (kind) {
  case ViewKind::None:
    llvm_unreachable("no view");
  case ViewKind::Same: {
    // A copy of a version of a cache into that cache is the version. A copy of
    // anything else must not be written in place of it.
    Operation *maker = view.base.getDefiningOp();
    bool isVersion = maker && isFromBuiltin(maker);
    if (type == view.type &&
        (getTorchName(op) != "torch.aten.copy" ||
         (isVersion && getOrigin(op->getOperand(0)) == getOrigin(view.base))))
      return success();
    return refuseCopy();
  }
  case ViewKind::Clone: {
    // A copy in the order of memory, of all of a tensor: the program is a
    // function of it, whether it is written in place or not.
    bool keepsOrder = getTorchName(op) == "torch.aten.clone" &&
                      op->getNumOperands() == 2 &&
                      (isNone(op->getOperand(1)) ||
                       readInt(op->getOperand(1)) == kPreserveFormat);
    return keepsOrder && view.isBase() ? success() : refuseCopy();
  }
  case ViewKind::Bitcast:
    if (type.getElementTypeBitWidth() == view.type.getElementTypeBitWidth() &&
        type.getShape() == view.type.getShape())
      return success();
    return refuse(Refusal::EncodingUnknown,
                  "a cache of " + toText(view.type.getElementType()) +
                      " is written as " + toText(type.getElementType()),
                  "write elements of the cache's width");
  case ViewKind::Expand:
    if (type == view.type)
      return success();
    return refuse(Refusal::Overlap,
                  "elements of " + toText(getViewSource(op).getType()) +
                      " are repeated by " + getTorchName(op),
                  "write the tensor before it is expanded");
  case ViewKind::Reshape:
    return reshape();
  case ViewKind::Permute:
    return permute();
  case ViewKind::Select:
    return slice(
        applySelect(view.layout, op->getOperands().drop_front(), type));
  case ViewKind::Slice:
    return slice(applySlice(view.layout, op->getOperands().drop_front(), type));
  case ViewKind::Narrow:
    return slice(
        applyNarrow(view.layout, op->getOperands().drop_front(), type));
  case ViewKind::AsStrided:
    return slice(
        applyAsStrided(view.layout, op->getOperands().drop_front(), type));
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult ViewStep::run() {
  if (!type)
    return refuse(Refusal::OpaqueOp,
                  getTorchName(op) + " gives a " +
                      toText(op->getResult(0).getType()),
                  "export with static ranks and element types");
  if (failed(dispatch(getKind(op))))
    return failure();
  view.type = type;
  view.chain.push_back(op);
  return success();
}

FailureOr<CacheView> torch::readView(Value value, ViewRefusal &why) {
  SmallVector<Operation *> chain;
  while (isViewOp(value.getDefiningOp())) {
    chain.push_back(value.getDefiningOp());
    value = getViewSource(chain.back());
  }
  RankedTensorType type = readTensorType(value.getType());
  if (!type) {
    why = {Refusal::OpaqueOp, "writes a " + toText(value.getType()),
           "export with static ranks and element types", std::nullopt};
    return failure();
  }
  CacheView view{value, ViewLayout(type.getShape()), type, {}};
  for (Operation *op : llvm::reverse(chain))
    if (failed(ViewStep(op, view, why).run()))
      return failure();
  return view;
}

//===----------------------------------------------------------------------===//
// Slices that are put back
//===----------------------------------------------------------------------===//

std::optional<SliceScatter> torch::readSliceScatter(Operation *op) {
  if (op->getNumOperands() < 3 || op->getNumResults() != 1)
    return std::nullopt;
  StringRef name = getTorchName(op);
  if (name == "torch.aten.where.self") {
    std::optional<MaskedSelect> select = readMaskedSelect(op);
    if (!select)
      return std::nullopt;
    return SliceScatter{op, op->getOperand(2), select->source, select->mask};
  }
  if (name != "torch.aten.select_scatter" &&
      name != "torch.aten.slice_scatter" &&
      name != "torch.aten.as_strided_scatter")
    return std::nullopt;
  return SliceScatter{op, op->getOperand(0), op->getOperand(1), {}};
}

static LogicalResult applyScatter(const SliceScatter &scatter,
                                  ViewLayout &layout, RankedTensorType type) {
  OperandRange parameters = scatter.op->getOperands().drop_front(2);
  StringRef name = getTorchName(scatter.op);
  if (name == "torch.aten.select_scatter")
    return applySelect(layout, parameters, type);
  if (name == "torch.aten.slice_scatter")
    return applySlice(layout, parameters, type);
  if (name == "torch.aten.as_strided_scatter")
    return applyAsStrided(layout, parameters, type);
  std::optional<MaskedSelect> select = readMaskedSelect(scatter.op);
  return layout.slice(select->dim, select->index, 1);
}

FailureOr<CacheView> torch::readTargetSlice(const SliceScatter &scatter,
                                            ViewRefusal &why) {
  RankedTensorType type = readTensorType(scatter.source.getType());
  FailureOr<CacheView> target = readView(scatter.target, why);
  if (failed(target) || !type ||
      type.getElementType() != target->type.getElementType() ||
      failed(applyScatter(scatter, target->layout, type)))
    return failure();
  target->type = type;
  return target;
}
