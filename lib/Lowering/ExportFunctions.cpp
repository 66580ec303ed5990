//===- ExportFunctions.cpp - Entries for TVM-FFI --------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Passes.h"

#include "RuntimeData.h"
#include "kvfuse/Lowering/Signature.h"
#include "llvm/ADT/SetVector.h"

namespace kvfuse {
#define GEN_PASS_DEF_KVEXPORTFUNCTIONS
#include "kvfuse/Lowering/Passes.h.inc"
} // namespace kvfuse

using namespace mlir;
using namespace kvfuse;

namespace {
/// Exports functions of one module.
class FunctionExporter {
public:
  FunctionExporter(ModuleOp module, bool isCUDA)
      : symbols(module), data(module, symbols),
        builder(OpBuilder::atBlockEnd(module.getBody())), isCUDA(isCUDA),
        pointer(data.getPointerType()), i32(builder.getI32Type()) {}

  /// Exports the function that `wrapper` is the C wrapper of.
  LogicalResult exportFunction(LLVM::LLVMFuncOp wrapper);

private:
  /// `const char *kvfuse_entry_NAME(void **arguments)`, which calls `wrapper`.
  LLVM::LLVMFuncOp createEntry(StringRef name, LLVM::LLVMFuncOp wrapper,
                               ArrayRef<ArgumentSignature> arguments);
  /// An array of `KVFuseArgument`.
  LLVM::GlobalOp createArguments(Location loc, StringRef name,
                                 ArrayRef<ArgumentSignature> arguments);
  /// The handles of kernels that `function` may launch, itself or by calls.
  SmallVector<LLVM::GlobalOp> findKernels(LLVM::LLVMFuncOp function);
  /// The exported function `name`, whose body is the runtime's `callee`.
  void createFFIFunction(Location loc, const Twine &name, StringRef callee,
                         LLVM::GlobalOp description);

  SymbolTable symbols;
  RuntimeData data;
  OpBuilder builder;
  bool isCUDA;
  Type pointer, i32;
};
} // namespace

LogicalResult FunctionExporter::exportFunction(LLVM::LLVMFuncOp wrapper) {
  StringRef name = wrapper.getName().drop_front(kWrapperPrefix.size());
  auto arguments = *getSignature(wrapper);
  if (wrapper.getNumArguments() != arguments.size() ||
      wrapper.getFunctionType().getReturnType() != pointer)
    return wrapper.emitOpError("expects the arguments of its signature, and a "
                               "status to return");
  Location loc = wrapper.getLoc();
  SmallVector<LLVM::GlobalOp> kernels = findKernels(wrapper);
  LLVM::GlobalOp nameText = data.createString(loc, "kvfuse_name_" + name, name);
  LLVM::GlobalOp argumentArray = createArguments(loc, name, arguments);
  LLVM::GlobalOp kernelArray = data.createArray(
      loc, "kvfuse_kernels_" + name, pointer, kernels.size(),
      [&](auto &b, size_t i) { return createAddress(b, kernels[i]); });
  LLVM::LLVMFuncOp entry = createEntry(name, wrapper, arguments);

  Type type =
      data.getStructType({pointer, pointer, pointer, i32, i32, pointer, i32});
  LLVM::GlobalOp description = data.createGlobal(
      loc, "kvfuse_function_" + name, type, /*isConstant=*/true, [&](auto &b) {
        return createAggregate(b, type,
                               {createAddress(b, nameText),
                                LLVM::AddressOfOp::create(b, entry),
                                createAddress(b, argumentArray),
                                createInteger(b, 32, arguments.size()),
                                createInteger(b, 32, isCUDA ? kDLCUDA : kDLCPU),
                                createAddress(b, kernelArray),
                                createInteger(b, 32, kernels.size())});
      });
  createFFIFunction(loc, kTVMFFIPrefix + name, "kvfuse_call", description);
  if (isCUDA)
    createFFIFunction(loc, kTVMFFIPrefix + name + "_load", "kvfuse_load",
                      description);
  return success();
}

LLVM::LLVMFuncOp
FunctionExporter::createEntry(StringRef name, LLVM::LLVMFuncOp wrapper,
                              ArrayRef<ArgumentSignature> arguments) {
  OpBuilder::InsertionGuard guard(builder);
  auto entry = LLVM::LLVMFuncOp::create(
      builder, wrapper.getLoc(), ("kvfuse_entry_" + name).str(),
      LLVM::LLVMFunctionType::get(pointer, pointer), LLVM::Linkage::Internal);
  symbols.insert(entry);
  ImplicitLocOpBuilder b(entry.getLoc(), builder);
  b.setInsertionPointToStart(entry.addEntryBlock(b));
  SmallVector<Value> operands;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value place = LLVM::GEPOp::create(b, pointer, pointer, entry.getArgument(0),
                                      LLVM::GEPArg(i));
    Value operand = LLVM::LoadOp::create(b, pointer, place);
    if (!argument.sizes)
      operand = LLVM::LoadOp::create(
          b, wrapper.getFunctionType().getParamType(i), operand);
    operands.push_back(operand);
  }
  auto call = LLVM::CallOp::create(b, wrapper, operands);
  LLVM::ReturnOp::create(b, call.getResult());
  return entry;
}

LLVM::GlobalOp
FunctionExporter::createArguments(Location loc, StringRef name,
                                  ArrayRef<ArgumentSignature> arguments) {
  SmallVector<LLVM::GlobalOp> names, sizes;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    std::string suffix = ("_" + name + "_" + Twine(i)).str();
    names.push_back(argument.name.empty()
                        ? LLVM::GlobalOp()
                        : data.createString(loc, "kvfuse_argument" + suffix,
                                            argument.name));
    ArrayRef<int64_t> shape;
    if (argument.sizes)
      shape = *argument.sizes;
    sizes.push_back(data.createArray(
        loc, "kvfuse_sizes" + suffix, builder.getI64Type(), shape.size(),
        [&](auto &b, size_t dim) { return createInteger(b, 64, shape[dim]); }));
  }
  Type i8 = builder.getI8Type();
  Type dtypeType = data.getStructType({i8, i8, builder.getI16Type()});
  Type type = data.getStructType({pointer, dtypeType, i32, i32, pointer});
  return data.createArray(
      loc, "kvfuse_arguments_" + name, type, arguments.size(),
      [&](auto &b, size_t i) {
        const ArgumentSignature &argument = arguments[i];
        DLDataType dtype = getDLDataType(argument.dtype);
        int64_t rank = argument.sizes ? argument.sizes->size() : -1;
        return createAggregate(
            b, type,
            {createAddress(b, names[i]),
             createAggregate(b, dtypeType,
                             {createInteger(b, 8, dtype.code),
                              createInteger(b, 8, dtype.bits),
                              createInteger(b, 16, dtype.lanes)}),
             createInteger(b, 32, rank),
             createInteger(b, 32, argument.isWritten),
             createAddress(b, sizes[i])});
      });
}

SmallVector<LLVM::GlobalOp>
FunctionExporter::findKernels(LLVM::LLVMFuncOp function) {
  llvm::SetVector<LLVM::GlobalOp> kernels;
  llvm::SetVector<LLVM::LLVMFuncOp> reached;
  reached.insert(function);
  // Grows while it is walked over.
  for (size_t i = 0; i < reached.size(); ++i) {
    LLVM::LLVMFuncOp next = reached[i];
    next.walk([&](Operation *op) {
      if (auto call = dyn_cast<LLVM::CallOp>(op)) {
        if (auto callee = call.getCallee())
          if (auto called = symbols.lookup<LLVM::LLVMFuncOp>(*callee))
            reached.insert(called);
      } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        auto global = symbols.lookup<LLVM::GlobalOp>(address.getGlobalName());
        if (global && global->hasAttr(kKernelHandleAttr))
          kernels.insert(global);
      }
    });
  }
  return kernels.takeVector();
}

void FunctionExporter::createFFIFunction(Location loc, const Twine &name,
                                         StringRef callee,
                                         LLVM::GlobalOp description) {
  OpBuilder::InsertionGuard guard(builder);
  auto type =
      LLVM::LLVMFunctionType::get(i32, {pointer, pointer, i32, pointer});
  auto runtime = symbols.lookup<LLVM::LLVMFuncOp>(callee);
  if (!runtime) {
    runtime = LLVM::LLVMFuncOp::create(builder, loc, callee, type);
    symbols.insert(runtime);
  }
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name.str(), type);
  symbols.insert(function);
  ImplicitLocOpBuilder b(loc, builder);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  // The first argument is TVM-FFI's own handle of the function.
  SmallVector<Value> operands = {createAddress(b, description)};
  llvm::append_range(operands, function.getArguments().drop_front());
  auto call = LLVM::CallOp::create(b, runtime, operands);
  LLVM::ReturnOp::create(b, call.getResult());
}

namespace {
struct KVExportFunctionsPass
    : kvfuse::impl::KVExportFunctionsBase<KVExportFunctionsPass> {
  using KVExportFunctionsBase::KVExportFunctionsBase;

  void runOnOperation() override {
    FunctionExporter exporter(getOperation(), cuda);
    SmallVector<LLVM::LLVMFuncOp> wrappers;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kSignatureAttr) &&
          function.getName().starts_with(kWrapperPrefix))
        wrappers.push_back(function);
    for (LLVM::LLVMFuncOp wrapper : wrappers)
      if (failed(exporter.exportFunction(wrapper)))
        return signalPassFailure();
  }
};
} // namespace
