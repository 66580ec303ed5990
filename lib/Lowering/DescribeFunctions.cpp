//===- DescribeFunctions.cpp - What callers have to know ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"
#include "kvfuse/Layout/WrittenArguments.h"
#include "kvfuse/Lowering/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVDESCRIBEFUNCTIONS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

/// The signature of `func`, or nothing and a warning that says what callers
/// cannot pass or take.
static ArrayAttr describe(func::FuncOp func, const llvm::BitVector &written) {
  if (func.getNumResults() != 0) {
    func.emitWarning() << "'" << func.getName()
                       << "' returns values and is not exported to TVM-FFI";
    return {};
  }
  SmallVector<ArgumentSignature> arguments;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    ArgumentSignature &argument = arguments.emplace_back();
    argument.dtype = getDTypeName(getElementTypeOrSelf(type)).str();
    if (argument.dtype.empty() || isa<UnrankedMemRefType>(type)) {
      func.emitWarning() << "'" << func.getName()
                         << "' is not exported to TVM-FFI, which cannot pass "
                         << type;
      return {};
    }
    if (auto name = func.getArgAttrOfType<StringAttr>(i, kv::kNameAttr))
      argument.name = name.str();
    if (auto memref = dyn_cast<MemRefType>(type))
      argument.sizes = llvm::map_to_vector(memref.getShape(), [](int64_t size) {
        return ShapedType::isDynamic(size) ? -1 : size;
      });
    argument.isWritten = written[i];
  }
  return encodeSignature(func.getContext(), arguments);
}

namespace {
struct KVDescribeFunctionsPass
    : kvfuse::impl::KVDescribeFunctionsBase<KVDescribeFunctionsPass> {
  void runOnOperation() override {
    auto internal =
        LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal);
    WrittenArguments written;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      func->setDiscardableAttr(LLVM::LinkageAttr::name, internal);
      if (!func.isPublic())
        continue;
      func->setDiscardableAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                               UnitAttr::get(&getContext()));
      if (ArrayAttr signature = describe(func, written.lookup(func).written))
        func->setDiscardableAttr(kSignatureAttr, signature);
      // The translation to LLVM IR warns of what it does not know.
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        func.removeArgAttr(i, kv::kNameAttr);
    }
  }
};
} // namespace
