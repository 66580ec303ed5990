//===- PinLoads.cpp - Loads stay where they are issued --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVPINLOADS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// The bits of a vector in 32-bit registers, or zero where they do not fill
/// such.
static unsigned countRegisters(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isIntOrFloat())
    return 0;
  unsigned bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  return bits % 32 == 0 ? bits / 32 : 0;
}

/// Is `load` issued before a branch that all of its users are behind?
static bool isEarly(LLVM::LoadOp load) {
  return llvm::none_of(load->getUsers(), [&](Operation *user) {
    return user->getBlock() == load->getBlock();
  });
}

/// Uses `load` at the end of its block, in an assembly statement without text.
static void pin(LLVM::LoadOp load, unsigned registers) {
  ImplicitLocOpBuilder b(load.getLoc(), load->getBlock()->getTerminator());
  Type word = b.getI32Type();
  Value words = LLVM::BitcastOp::create(b, VectorType::get(registers, word),
                                        load.getResult());
  SmallVector<Value> operands;
  std::string constraints;
  for (unsigned i = 0; i < registers; ++i) {
    Value index = LLVM::ConstantOp::create(b, word, b.getI32IntegerAttr(i));
    operands.push_back(LLVM::ExtractElementOp::create(b, words, index));
    constraints += i == 0 ? "r" : ",r";
  }
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
      if (countRegisters(load.getType()) && isEarly(load))
        loads.push_back(load);
    });
    for (LLVM::LoadOp load : loads)
      pin(load, countRegisters(load.getType()));
  }
};
} // namespace
