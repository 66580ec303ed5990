//===- KernelHandles.cpp - Kernels as the runtime knows them --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelHandles.h"

#include "RuntimeData.h"
#include "kvfuse/Lowering/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace kvfuse;

/// Makes a `KVFuseModule` with the device code of `binary`.
static FailureOr<LLVM::GlobalOp> createModule(gpu::BinaryOp binary,
                                              RuntimeData &data) {
  Location loc = binary.getLoc();
  if (binary.getObjects().size() != 1)
    return binary.emitOpError("expects one object, for one target");
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  StringRef code = object.getObject().getValue();
  LLVM::GlobalOp image;
  switch (object.getFormat()) {
  case gpu::CompilationTarget::Assembly:
    image = data.createString(loc, "kvfuse_image", code.rtrim('\0'));
    break;
  case gpu::CompilationTarget::Binary:
    image = data.createBytes(loc, "kvfuse_image", code);
    break;
  default:
    return binary.emitOpError("expects PTX or a cubin");
  }
  // The driver reads numbers of a cubin in place.
  image.setAlignment(16);
  int64_t size = cast<LLVM::LLVMArrayType>(image.getType()).getNumElements();
  Type pointer = data.getPointerType();
  Type type = data.getStructType(
      {pointer, IntegerType::get(binary.getContext(), 64), pointer});
  return data.createGlobal(loc, "kvfuse_module", type, /*isConstant=*/false,
                           [&](auto &b) {
                             return createAggregate(b, type,
                                                    {createAddress(b, image),
                                                     createInteger(b, 64, size),
                                                     createAddress(b, {})});
                           });
}

/// Makes a `KVFuseKernel` for what `launch` launches.
static LLVM::GlobalOp createKernel(gpu::LaunchFuncOp launch,
                                   LLVM::GlobalOp module, bool isDependent,
                                   RuntimeData &data) {
  Location loc = launch.getLoc();
  StringRef name = launch.getKernelName().getValue();
  LLVM::GlobalOp text =
      data.createString(loc, "kvfuse_kernel_name_" + name, name);
  Type pointer = data.getPointerType();
  Type type = data.getStructType(
      {pointer, pointer, IntegerType::get(launch.getContext(), 64), pointer});
  LLVM::GlobalOp kernel = data.createGlobal(
      loc, "kvfuse_kernel_" + name, type, /*isConstant=*/false, [&](auto &b) {
        return createAggregate(
            b, type,
            {createAddress(b, module), createAddress(b, text),
             createInteger(b, 64, isDependent), createAddress(b, {})});
      });
  kernel->setAttr(kKernelHandleAttr, UnitAttr::get(launch.getContext()));
  return kernel;
}

LogicalResult kvfuse::createKernelHandles(ModuleOp module, bool isDependent,
                                          KernelHandles &handles) {
  SymbolTable symbols(module);
  RuntimeData data(module, symbols);
  DenseMap<StringAttr, LLVM::GlobalOp> modules;
  auto binaries = llvm::to_vector(module.getOps<gpu::BinaryOp>());
  for (gpu::BinaryOp binary : binaries) {
    FailureOr<LLVM::GlobalOp> made = createModule(binary, data);
    if (failed(made))
      return failure();
    modules[binary.getSymNameAttr()] = *made;
  }
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
    LLVM::GlobalOp from = modules.lookup(launch.getKernelModuleName());
    if (!from)
      return WalkResult(
          launch.emitOpError("launches a kernel that is not compiled"));
    LLVM::GlobalOp &handle = handles[launch.getKernelAttr()];
    if (!handle)
      handle = createKernel(launch, from, isDependent, data);
    return WalkResult::advance();
  });
  for (gpu::BinaryOp binary : binaries)
    binary.erase();
  return failure(result.wasInterrupted());
}
