//===- Compilation.cpp - The stages of one compilation --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Fusion/Passes.h"
#include "kvfuse/Target/Emit.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace kvfuse;

bool kvfuse::isHostFormat(EmitFormat format) {
  return format == EmitFormat::LLVM || format == EmitFormat::Object ||
         format == EmitFormat::Shared;
}

bool kvfuse::isKernelFormat(EmitFormat format) {
  return format == EmitFormat::NVVM || format == EmitFormat::PTX ||
         format == EmitFormat::Cubin;
}

/// What is taken on trust: by the rules, and because the options say so.
static std::vector<std::string>
listAssumptions(const PipelineOptions &options) {
  std::vector<std::string> assumptions = {
      "SX3: index arithmetic in 64 bits does not overflow"};
  if (options.assumeDisjoint)
    assumptions.emplace_back("SM8: no cache that is written overlaps another "
                             "argument");
  if (options.assumeAligned)
    assumptions.emplace_back("alignment: addresses, and strides but for the "
                             "last, are multiples of 16 bytes");
  if (options.negative == "undefined")
    assumptions.emplace_back("SX4: no index is negative");
  if (options.negative == "skip")
    assumptions.emplace_back(
        "SX4: tokens with a negative slot are padding, and "
        "are not written");
  if (options.outOfBounds == "undefined")
    assumptions.emplace_back("SX5: no index is out of bounds");
  if (!options.reservedSlot.empty())
    assumptions.push_back("SX6: tokens with slot " + options.reservedSlot +
                          " are padding, and are not written");
  return assumptions;
}

/// Is `format` text of fused operations, before there are kernels?
static bool isWritesFormat(EmitFormat format) {
  return format == EmitFormat::KV || format == EmitFormat::Writes;
}

/// The calls of `runStage`, `emitPTX` and `emitHost`.
static unsigned countStages(const CompileRequest &request) {
  EmitFormat format = *request.emit;
  if (isWritesFormat(format))
    return request.wantsReport ? 4 : 3;
  if (format == EmitFormat::GPU)
    return 4;
  if (!isHostFormat(format))
    return format == EmitFormat::NVVM ? 5 : 6;
  return request.target == "cpu" ? 6 : 8;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << "\n";
  return text;
}

/// The functions of `module @kvfuse`, as a program of their own.
static OwningOpRef<ModuleOp> copyWrites(ModuleOp module) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
  if (auto nested = module.lookupSymbol<ModuleOp>(kWritesModule))
    alone->push_back(nested.clone());
  return alone;
}

Compilation::Compilation(const CompileRequest &request, ModuleOp module,
                         std::vector<RecordedRemark> &remarks)
    : request(request), module(module), remarks(remarks),
      progress(*module->getContext(), request.onProgress,
               countStages(request)) {}

FailureOr<CompileResult> Compilation::run() {
  if (failed(makeWrites()))
    return failure();
  CompileResult result;
  EmitFormat format = *request.emit;
  if (format == EmitFormat::KV)
    result.output = print(module);
  if (format == EmitFormat::Writes)
    result.output = print(*copyWrites(module));
  // The report counts kernels, so they are made all the same.
  bool needsKernels = !isWritesFormat(format) || request.wantsReport;
  if (needsKernels && failed(makeKernels()))
    return failure();
  if (request.wantsReport)
    result.report = makeReport();
  if (format == EmitFormat::GPU)
    result.output = print(module);
  if (isHostFormat(format) || isKernelFormat(format)) {
    FailureOr<std::string> binary = emitBinary();
    if (failed(binary))
      return failure();
    result.output = std::move(*binary);
    result.header = std::move(header);
  }
  if (!progress.finish())
    return failure();
  return result;
}

LogicalResult
Compilation::runStage(llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module->getContext());
  build(pm);
  progress.startStage();
  return success(succeeded(pm.run(module)) && !progress.isStopped());
}

LogicalResult Compilation::makeWrites() {
  const PipelineOptions &options = request.options;
  if (failed(runStage(
          [&](OpPassManager &pm) { buildImportPipeline(pm, options); })))
    return failure();
  unfused = countUnfusedLaunches(module);
  LogicalResult fusion =
      runStage([&](OpPassManager &pm) { buildFusionPipeline(pm, options); });
  // What was refused says more than the failure that came of it.
  if (failed(rejectRefusals()) || failed(fusion))
    return failure();
  if (failed(runStage(
          [&](OpPassManager &pm) { buildBufferPipeline(pm, options); })))
    return failure();
  return rejectRefusals();
}

LogicalResult Compilation::makeKernels() {
  if (failed(runStage([&](OpPassManager &pm) {
        buildLayoutPipeline(pm, request.options);
        buildGPUPipeline(pm, request.options);
      })))
    return failure();
  return rejectRefusals();
}

LogicalResult Compilation::rejectRefusals() {
  llvm::DenseSet<Location> left;
  module.walk([&](kv::WriteOp write) {
    if (write->getParentOfType<ModuleOp>() == module)
      left.insert(write.getLoc());
  });
  bool isRequired = request.options.fuse == FuseMode::Required;
  // What stays with a caller is done there.
  if (request.options.keepCallers && !isRequired)
    return success();
  LogicalResult result = success();
  for (const RecordedRemark &remark : remarks) {
    std::optional<Refusal> refusal = symbolizeRefusal(remark.name);
    if (!refusal || !isMissed(*refusal))
      continue;
    // What is only not done together with others is done all the same.
    bool isApart =
        refusal == Refusal::Order || refusal == Refusal::DifferentIndices;
    if (!isRequired && (isApart || !left.contains(remark.loc)))
      continue;
    InFlightDiagnostic diag = emitError(remark.loc)
                              << remark.name << ": " << remark.reason;
    if (!remark.suggestion.empty())
      diag.attachNote() << remark.suggestion;
    result = failure();
  }
  return result;
}

std::string Compilation::makeReport() {
  return llvm::formatv("{0:2}\n",
                       kvfuse::makeReport(module, unfused, remarks,
                                          listAssumptions(request.options)))
      .str();
}

FailureOr<std::string> Compilation::emitBinary() {
  auto nested = module.lookupSymbol<ModuleOp>(kWritesModule);
  if (!nested)
    return module.emitError("no cache write was found that can be compiled");
  EmitFormat format = *request.emit;
  if (request.target == "cpu") {
    if (failed(runStage(buildCPUPipeline)))
      return failure();
    return emitHostFormat(nested);
  }
  if (failed(runStage(
          [&](OpPassManager &pm) { buildNVVMPipeline(pm, request.options); })))
    return failure();
  if (format == EmitFormat::NVVM)
    return print(module);
  // The module keeps the PTX.
  progress.startStage();
  FailureOr<std::string> ptx = emitPTX(
      nested, [&](StringRef piece) { return progress.startPiece(piece); });
  if (failed(ptx) || format == EmitFormat::PTX)
    return ptx;
  if (format == EmitFormat::Cubin)
    return emitCubin(nested, *ptx, request.target, request.ptxas);
  if (failed(runStage([&](OpPassManager &pm) {
        buildGPUHostPipeline(pm, request.options);
      })))
    return failure();
  return emitHostFormat(nested);
}

FailureOr<std::string> Compilation::emitHostFormat(ModuleOp nested) {
  EmitFormat format = *request.emit;
  HostFormat host = format == EmitFormat::LLVM     ? HostFormat::LLVMIR
                    : format == EmitFormat::Object ? HostFormat::Object
                                                   : HostFormat::SharedLibrary;
  if (request.wantsHeader)
    header = emitHeader(nested, request.target);
  progress.startStage();
  return emitHost(nested, host, request.optLevel,
                  [&](StringRef piece) { return progress.startPiece(piece); });
}
