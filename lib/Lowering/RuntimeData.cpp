//===- RuntimeData.cpp - Data that the runtime reads ----------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeData.h"

using namespace mlir;
using namespace kvfuse;

LLVM::GlobalOp
RuntimeData::createGlobal(Location loc, const Twine &name, Type type,
                          bool isConstant,
                          llvm::function_ref<Value(Builder &)> build) {
  auto global = LLVM::GlobalOp::create(builder, loc, type, isConstant,
                                       LLVM::Linkage::Internal, name.str(),
                                       /*value=*/Attribute());
  symbols.insert(global);
  Builder b(loc, builder.getContext());
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, build(b));
  return global;
}

LLVM::GlobalOp RuntimeData::createBytes(Location loc, const Twine &name,
                                        StringRef text) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name.str(),
                                       builder.getStringAttr(text));
  symbols.insert(global);
  return global;
}

LLVM::GlobalOp RuntimeData::createString(Location loc, const Twine &name,
                                         StringRef text) {
  return createBytes(loc, name, (text + StringRef("\0", 1)).str());
}

LLVM::GlobalOp RuntimeData::createArray(
    Location loc, const Twine &name, Type type, size_t count,
    llvm::function_ref<Value(Builder &, size_t)> buildElement) {
  if (count == 0)
    return {};
  auto arrayType = LLVM::LLVMArrayType::get(type, count);
  return createGlobal(loc, name, arrayType, /*isConstant=*/true,
                      [&](Builder &b) {
                        SmallVector<Value> elements;
                        for (size_t i = 0; i < count; ++i)
                          elements.push_back(buildElement(b, i));
                        return createAggregate(b, arrayType, elements);
                      });
}

Value kvfuse::createAggregate(ImplicitLocOpBuilder &b, Type type,
                              ValueRange fields) {
  Value aggregate = LLVM::PoisonOp::create(b, type);
  for (auto [i, field] : llvm::enumerate(fields))
    aggregate = LLVM::InsertValueOp::create(b, aggregate, field, i);
  return aggregate;
}

Value kvfuse::createAddress(ImplicitLocOpBuilder &b, LLVM::GlobalOp global) {
  if (!global)
    return LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()));
  return LLVM::AddressOfOp::create(b, global);
}

Value kvfuse::createInteger(ImplicitLocOpBuilder &b, unsigned width,
                            int64_t value) {
  return LLVM::ConstantOp::create(b, b.getIntegerType(width), value);
}
