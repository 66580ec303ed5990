//===- PinLoads.cpp - Loads stay where they are issued --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVPINLOADS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// The registers that hold a value of `type`: integers of 16, 32 or 64 bits, or
/// a vector of such. Null where it does not fill them.
static Type getRegisterType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type element = vector ? vector.getElementType() : type;
  if (!element.isIntOrFloat())
    return {};
  unsigned bits = element.getIntOrFloatBitWidth();
  if (!vector)
    return bits == 16 || bits == 32 || bits == 64
               ? IntegerType::get(type.getContext(), bits)
               : Type();
  bits *= vector.getNumElements();
  if (bits % 32 != 0)
    return {};
  return VectorType::get(bits / 32, IntegerType::get(type.getContext(), 32));
}

/// Is `load` issued before a branch that all of its users are behind?
static bool isEarly(LLVM::LoadOp load) {
  return llvm::none_of(load->getUsers(), [&](Operation *user) {
    return user->getBlock() == load->getBlock();
  });
}

/// The letter for a register of `type` in the constraints of an assembly
/// statement for NVPTX.
static StringRef getConstraint(Type type) {
  return type.isInteger(16) ? "h" : type.isInteger(32) ? "r" : "l";
}

/// Uses `load` at the end of its block, in an assembly statement without text.
static void pin(LLVM::LoadOp load) {
  ImplicitLocOpBuilder b(load.getLoc(), load->getBlock()->getTerminator());
  Type type = getRegisterType(load.getType());
  Value value = load.getResult();
  if (value.getType() != type)
    value = LLVM::BitcastOp::create(b, type, value);
  SmallVector<Value> operands{value};
  if (auto vector = dyn_cast<VectorType>(type)) {
    operands.clear();
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      operands.push_back(LLVM::ExtractElementOp::create(
          b, value,
          LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(i))));
  }
  std::string constraints =
      llvm::join(llvm::map_range(operands,
                                 [](Value operand) {
                                   return getConstraint(operand.getType());
                                 }),
                 ",");
  LLVM::InlineAsmOp::create(b, /*resultTypes=*/TypeRange(), operands,
                            /*asm_string=*/"", constraints,
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None,
                            /*asm_dialect=*/LLVM::AsmDialectAttr(),
                            /*operand_attrs=*/ArrayAttr());
}

namespace {
struct KVPinLoadsPass : public kvfuse::impl::KVPinLoadsBase<KVPinLoadsPass> {
  void runOnOperation() override {
    SmallVector<LLVM::LoadOp> loads;
    getOperation()->walk([&](LLVM::LoadOp load) {
      if (getRegisterType(load.getType()) && isEarly(load))
        loads.push_back(load);
    });
    for (LLVM::LoadOp load : loads)
      pin(load);
  }
};
} // namespace
