//===- MarkMutated.cpp - Which arguments may be written in place ----------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchFunction.h"
#include "TorchTypes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace kvfuse;
using namespace kvfuse::torch;
using bufferization::BufferizationDialect;

/// What a result is another version, type or part of, or null.
static Value getBase(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto write = dyn_cast_or_null<kv::WriteOp>(op))
    return write.getDests()[cast<OpResult>(value).getResultNumber()];
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return cast.getSource();
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return slice.getSource();
  if (auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return slice.getDest();
  if (op && (isToBuiltin(op) || isFromBuiltin(op)))
    return op->getOperand(0);
  return {};
}

/// Numbers of the arguments of `func` that a tensor kv.write reaches.
static llvm::SmallSet<unsigned, 8> findWrittenArguments(func::FuncOp func) {
  llvm::SmallSet<unsigned, 8> numbers;
  func.walk([&](kv::WriteOp write) {
    if (!write.hasTensorForm())
      return;
    for (Value dest : write.getDests()) {
      while (Value base = getBase(dest))
        dest = base;
      auto arg = dyn_cast<BlockArgument>(dest);
      if (arg && arg.getOwner() == &func.getBody().front())
        numbers.insert(arg.getArgNumber());
    }
  });
  return numbers;
}

/// Does the source say that the caller gives the argument up?
static bool isDonated(func::FuncOp func, unsigned number) {
  return func.getArgAttr(number, "tf.aliasing_output") ||
         func.getArgAttr(number, "jax.buffer_donor");
}

namespace {
/// The option `mutates`.
struct Mutated {
  bool everyWritten = false;
  SmallVector<unsigned> numbers;

  bool contains(unsigned number) const {
    return llvm::is_contained(numbers, number);
  }
};
} // namespace

static FailureOr<Mutated> parseMutated(ModuleOp module, StringRef text) {
  Mutated mutated;
  if (text == "auto") {
    mutated.everyWritten = true;
    return mutated;
  }
  SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/!text.empty());
  for (StringRef part : parts) {
    unsigned number;
    if (part.trim().getAsInteger(10, number)) {
      emitError(module.getLoc(),
                "mutates: expected auto or a list of argument numbers "
                "such as 0,1,2, but got '")
          << text << "'";
      return failure();
    }
    mutated.numbers.push_back(number);
  }
  return mutated;
}

static LogicalResult checkNumbers(func::FuncOp func, const Mutated &mutated) {
  for (unsigned number : mutated.numbers) {
    if (number >= func.getNumArguments())
      return emitError(func.getLoc(), "mutates: there is no argument ")
             << number << ": @" << func.getName() << " has "
             << func.getNumArguments() << " arguments";
    Type type = func.getArgumentTypes()[number];
    if (!isa<RankedTensorType>(type) && !readTensorType(type))
      return emitError(func.getLoc(), "mutates: argument ")
             << number << " of @" << func.getName() << " is no tensor but "
             << type;
  }
  return success();
}

static LogicalResult markFunction(func::FuncOp func, const Mutated &mutated) {
  bool hasWrite = func.walk([](kv::WriteOp) { return WalkResult::interrupt(); })
                      .wasInterrupted();
  if (!hasWrite)
    return success();
  if (failed(checkNumbers(func, mutated)))
    return failure();
  llvm::SmallSet<unsigned, 8> written = findWrittenArguments(func);
  for (unsigned number = 0; number < func.getNumArguments(); ++number) {
    bool isWritten = written.contains(number);
    bool isMutated =
        mutated.contains(number) ||
        (isWritten && (mutated.everyWritten || isDonated(func, number)));
    StringRef name = BufferizationDialect::kWritableAttrName;
    if ((isWritten || isMutated) && !func.getArgAttr(number, name))
      func.setArgAttr(number, name,
                      BoolAttr::get(func.getContext(), isMutated));
  }
  return success();
}

LogicalResult torch::markMutated(ModuleOp module, StringRef mutates) {
  FailureOr<Mutated> mutated = parseMutated(module, mutates);
  if (failed(mutated))
    return failure();
  WalkResult result = module.walk([&](func::FuncOp func) {
    return WalkResult(markFunction(func, *mutated));
  });
  return success(!result.wasInterrupted());
}
