//===- SmallFloatsToBits.cpp - Floats below 32 bits travel as integers ----===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVSMALLFLOATSTOBITS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;

/// The integer type of the bits of `type`, if that is a float of less than 32.
static IntegerType getBitsType(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType || floatType.getWidth() >= 32)
    return {};
  return IntegerType::get(type.getContext(), floatType.getWidth());
}

static bool isSmallFloat(Type type) {
  return getBitsType(getElementTypeOrSelf(type)) != nullptr;
}

/// Does `op` only carry values of its small float types, and compute nothing?
static bool onlyCarries(Operation *op) {
  return isa<arith::BitcastOp, arith::ConstantOp, arith::SelectOp,
             vector::BroadcastOp, vector::ExtractOp, vector::FromElementsOp,
             vector::LoadOp, vector::StoreOp, LLVM::StoreOp,
             UnrealizedConversionCastOp>(op) ||
         isa_and_nonnull<cf::ControlFlowDialect, func::FuncDialect,
                         memref::MemRefDialect>(op->getDialect());
}

static LogicalResult checkOperation(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    // Whoever defined the function takes floats, not their bits.
    if (function.isExternal() &&
        llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(),
                                              function.getResultTypes()),
                     [](Type type) { return getBitsType(type); }))
      return op->emitOpError("is declared with a float of less than 32 bits, "
                             "which no call can pass");
    return success();
  }
  if (!onlyCarries(op) && (llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
                           llvm::any_of(op->getResultTypes(), isSmallFloat)))
    return op->emitOpError("computes with a float of less than 32 bits, which "
                           "should have become one of 32");
  return success();
}

/// The constant with the same bits.
static TypedAttr getBits(FloatAttr constant, IntegerType type) {
  return IntegerAttr::get(type, constant.getValue().bitcastToAPInt());
}

namespace {
struct KVSmallFloatsToBitsPass
    : public kvfuse::impl::KVSmallFloatsToBitsBase<KVSmallFloatsToBitsPass> {
  void runOnOperation() override {
    WalkResult checked = getOperation()->walk(
        [](Operation *op) { return WalkResult(checkOperation(op)); });
    if (checked.wasInterrupted())
      return signalPassFailure();

    AttrTypeReplacer replacer;
    replacer.addReplacement([](FloatType type) -> std::optional<Type> {
      if (IntegerType bits = getBitsType(type))
        return bits;
      return std::nullopt;
    });
    // Constants change their contents with their type.
    using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
    replacer.addReplacement([](FloatAttr constant) -> Replaced {
      if (IntegerType bits = getBitsType(constant.getType()))
        return {{getBits(constant, bits), WalkResult::skip()}};
      return std::nullopt;
    });
    replacer.addReplacement([](DenseElementsAttr constants) -> Replaced {
      if (IntegerType bits = getBitsType(constants.getElementType()))
        return {{constants.bitcast(bits), WalkResult::skip()}};
      return std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    foldBitcasts();
  }

private:
  /// Erases the casts between floats and bits: both sides are bits now.
  void foldBitcasts() {
    getOperation()->walk([](arith::BitcastOp op) {
      if (op.getIn().getType() != op.getType())
        return;
      op.replaceAllUsesWith(op.getIn());
      op.erase();
    });
  }
};
} // namespace
