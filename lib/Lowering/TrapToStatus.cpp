//===- TrapToStatus.cpp - Asserts as error returns ------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "kvfuse/Layout/Overlap.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVTRAPTOSTATUS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

namespace {
/// The messages of a module's asserts, one constant for each text.
class Messages {
public:
  Messages(ModuleOp module, SymbolTable &symbols)
      : builder(module.getBodyRegion()), symbols(symbols) {}

  LLVM::GlobalOp get(Location loc, StringAttr text) {
    LLVM::GlobalOp &global = globals[text];
    if (global)
      return global;
    std::string terminated = (text.getValue() + StringRef("\0", 1)).str();
    auto type =
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    global = LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Private,
        ("kvfuse_message_" + Twine(globals.size() - 1)).str(),
        builder.getStringAttr(terminated));
    symbols.insert(global);
    return global;
  }

private:
  /// Puts them at the start of the module, in the order they are needed.
  OpBuilder builder;
  SymbolTable &symbols;
  DenseMap<StringAttr, LLVM::GlobalOp> globals;
};

/// Rewrites the body of one function. Its type has the status already.
class TrapRewriter {
public:
  TrapRewriter(func::FuncOp function, Messages &messages)
      : function(function), messages(messages), rewriter(function.getContext()),
        pointer(LLVM::LLVMPointerType::get(function.getContext())) {}

  void rewrite(ArrayRef<Operation *> ops);

private:
  void rewriteAssert(cf::AssertOp assertOp);
  void rewriteCall(func::CallOp call);
  void rewriteReturn(func::ReturnOp returnOp);
  /// The block that returns its argument as the status.
  Block *getErrorBlock();

  func::FuncOp function;
  Messages &messages;
  IRRewriter rewriter;
  Type pointer;
  Block *errorBlock = nullptr;
};
} // namespace

void TrapRewriter::rewrite(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    TypeSwitch<Operation *>(op)
        .Case([&](cf::AssertOp assertOp) { rewriteAssert(assertOp); })
        .Case([&](func::CallOp call) { rewriteCall(call); })
        .Case([&](func::ReturnOp returnOp) { rewriteReturn(returnOp); });
  }
}

void TrapRewriter::rewriteAssert(cf::AssertOp assertOp) {
  Location loc = assertOp.getLoc();
  Value message = LLVM::AddressOfOp::create(
      rewriter, loc, messages.get(loc, assertOp.getMsgAttr()));
  Block *block = assertOp->getBlock();
  Block *rest = rewriter.splitBlock(block, Block::iterator(assertOp));
  rewriter.setInsertionPointToEnd(block);
  cf::CondBranchOp::create(rewriter, loc, assertOp.getArg(), rest, ValueRange(),
                           getErrorBlock(), message);
  rewriter.eraseOp(assertOp);
}

void TrapRewriter::rewriteCall(func::CallOp call) {
  Location loc = call.getLoc();
  SmallVector<Type> results(call.getResultTypes());
  results.push_back(pointer);
  auto newCall = func::CallOp::create(rewriter, loc, results,
                                      call.getOperands(), call->getAttrs());
  Value status = newCall.getResults().back();
  Value null = LLVM::ZeroOp::create(rewriter, loc, pointer);
  Value isError = LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::ne,
                                       status, null);
  Block *block = call->getBlock();
  Block *rest = rewriter.splitBlock(block, Block::iterator(call));
  rewriter.setInsertionPointToEnd(block);
  cf::CondBranchOp::create(rewriter, loc, isError, getErrorBlock(), status,
                           rest, ValueRange());
  rewriter.replaceOp(call, newCall.getResults().drop_back());
}

void TrapRewriter::rewriteReturn(func::ReturnOp returnOp) {
  Value null = LLVM::ZeroOp::create(rewriter, returnOp.getLoc(), pointer);
  rewriter.modifyOpInPlace(returnOp,
                           [&] { returnOp.getOperandsMutable().append(null); });
}

Block *TrapRewriter::getErrorBlock() {
  if (errorBlock)
    return errorBlock;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = function.getLoc();
  errorBlock = rewriter.createBlock(&function.getBody(),
                                    function.getBody().end(), pointer, loc);
  SmallVector<Value> results;
  for (Type type : function.getResultTypes().drop_back())
    results.push_back(ub::PoisonOp::create(rewriter, loc, type));
  results.push_back(errorBlock->getArgument(0));
  func::ReturnOp::create(rewriter, loc, results);
  return errorBlock;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Can `function` fail: has it a body that was not declared to be pure, or is
/// it declared so?
static bool mayFail(func::FuncOp function) {
  if (function->hasAttr(kMayFailAttr))
    return true;
  return !function.isExternal() && !function->hasAttr(kPureAttr);
}

/// Finds what `TrapRewriter` rewrites in `function`: asserts, returns, and
/// calls of functions that get a status.
static LogicalResult collect(func::FuncOp function, const SymbolTable &symbols,
                             SmallVectorImpl<Operation *> &ops) {
  WalkResult result = function.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || !mayFail(callee))
        return WalkResult::advance();
    } else if (!isa<cf::AssertOp, func::ReturnOp>(op)) {
      return WalkResult::advance();
    }
    if (op->getParentOp() != function) {
      op->emitOpError("expects unstructured control flow, to return from here, "
                      "but is nested in '")
          << op->getParentOp()->getName() << "'";
      return WalkResult::interrupt();
    }
    ops.push_back(op);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct KVTrapToStatusPass
    : public kvfuse::impl::KVTrapToStatusBase<KVTrapToStatusPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<func::FuncOp, SmallVector<Operation *>> opsOf;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (mayFail(function) &&
          failed(collect(function, symbols, opsOf[function])))
        return signalPassFailure();

    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Messages messages(getOperation(), symbols);
    for (auto &[function, ops] : opsOf) {
      if (failed(function.insertResult(function.getNumResults(), pointer, {})))
        return signalPassFailure();
      TrapRewriter(function, messages).rewrite(ops);
    }
  }
};
} // namespace
