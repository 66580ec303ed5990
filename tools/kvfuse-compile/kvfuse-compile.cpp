//===- kvfuse-compile.cpp - Cache writes to PTX or host code --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"
#include "kvfuse/Fusion/Passes.h"
#include "kvfuse/Pipelines/Pipelines.h"
#include "kvfuse/Target/Emit.h"
#include "kvfuse/Target/Report.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace kvfuse;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
enum class Emit { KV, GPU, NVVM, PTX, Cubin, LLVM, Object, Shared };
} // namespace

static cl::OptionCategory category("kvfuse-compile options");

static cl::opt<std::string> inputName(cl::Positional, cl::init("-"),
                                      cl::desc("<input: a file, or ->"),
                                      cl::cat(category));
static cl::opt<std::string> outputName("o", cl::init("-"),
                                       cl::value_desc("file"),
                                       cl::desc("Output; - is standard output"),
                                       cl::cat(category));
static cl::opt<std::string>
    target("target", cl::init("sm_90"), cl::value_desc("name"),
           cl::desc("Target: cpu, or a GPU from sm_80 on (default sm_90)"),
           cl::cat(category));
static cl::opt<FuseMode> fuse(
    "fuse", cl::init(FuseMode::On), cl::desc("Fuse cache writes:"),
    cl::values(clEnumValN(FuseMode::On, "on", "what may be fused (default)"),
               clEnumValN(FuseMode::Off, "off",
                          "nothing: a kernel for every operation"),
               clEnumValN(FuseMode::Required, "required",
                          "all, and fail if one is refused or none found")),
    cl::cat(category));
static cl::opt<std::string> mutates(
    "mutates", cl::value_desc("0,1,...|auto"),
    cl::desc(
        "Arguments that may be written in place, or auto: every cache that "
        "a write reaches"),
    cl::cat(category));
static cl::opt<Emit> emit(
    "emit", cl::desc("What to write (default ptx, for cpu obj):"),
    cl::values(clEnumValN(Emit::KV, "kv", "kv operations, fused"),
               clEnumValN(Emit::GPU, "gpu", "kernels in the gpu dialect"),
               clEnumValN(Emit::NVVM, "nvvm", "kernels in the nvvm dialect"),
               clEnumValN(Emit::PTX, "ptx", "kernels as PTX"),
               clEnumValN(Emit::Cubin, "cubin", "kernels assembled by ptxas"),
               clEnumValN(Emit::LLVM, "llvm", "LLVM IR (cpu)"),
               clEnumValN(Emit::Object, "obj", "an object file (cpu)"),
               clEnumValN(Emit::Shared, "shared", "a shared library (cpu)")),
    cl::cat(category));
static cl::opt<std::string>
    reportName("report", cl::value_desc("file"),
               cl::desc("Write a JSON report; - is standard output"),
               cl::cat(category));
static cl::opt<bool> showRemarks("remarks",
                                 cl::desc("Print remarks on standard error"),
                                 cl::cat(category));
static cl::opt<std::string> torchVersion(
    "torch-version", cl::init("2.13"), cl::value_desc("version"),
    cl::desc("torch whose casts are meant: 2.11 or 2.13 (default)"),
    cl::cat(category));
static cl::opt<std::string> negative(
    "negative", cl::value_desc("policy"),
    cl::desc("Negative indices: wrap, error, skip or undefined (default: as "
             "the source program)"),
    cl::cat(category));
static cl::opt<std::string> outOfBounds(
    "out-of-bounds", cl::value_desc("policy"),
    cl::desc("Indices outside the cache: trap, skip or undefined (default: as "
             "the source program)"),
    cl::cat(category));
static cl::opt<std::string>
    reservedSlot("reserved-slot", cl::value_desc("id"),
                 cl::desc("A slot id that marks padding and is not written"),
                 cl::cat(category));
static cl::opt<std::string>
    ptxas("ptxas", cl::value_desc("path"),
          cl::desc("ptxas for --emit=cubin (default: KVFUSE_PTXAS, CUDA_HOME, "
                   "PATH)"),
          cl::cat(category));
static cl::opt<bool> assumeDisjoint(
    "assume-disjoint",
    cl::desc("Promise that caches that are written overlap no other argument, "
             "nor one another: nothing of this is tested"),
    cl::cat(category));
static cl::opt<bool> assumeAligned(
    "assume-aligned",
    cl::desc("Promise that addresses, and strides but for the last, are "
             "multiples of 16 bytes"),
    cl::cat(category));
static cl::opt<bool>
    unitStrideOnly("unit-stride-only",
                   cl::desc("Leave caches apart whose last stride is not 1"),
                   cl::cat(category));
static cl::opt<bool> noVersioning(
    "no-versioning",
    cl::desc("One version of each write, by what is proven of the layouts"),
    cl::cat(category));
static cl::opt<bool> countBranches(
    "count-branches",
    cl::desc("Count which versions run, in the global kvfuse_branches"),
    cl::cat(category));
static cl::opt<char> optLevel("O", cl::Prefix, cl::init('2'),
                              cl::value_desc("level"),
                              cl::desc("Optimisation of host code, 0 to 3"),
                              cl::cat(category));

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "kvfuse-compile") << message << "\n";
  return EXIT_FAILURE;
}

static bool isHostFormat(Emit format) {
  return format == Emit::LLVM || format == Emit::Object ||
         format == Emit::Shared;
}

/// What is taken on trust: by the rules, and because the options say so.
static std::vector<std::string> listAssumptions() {
  std::vector<std::string> assumptions = {
      "SX3: index arithmetic in 64 bits does not overflow"};
  if (assumeDisjoint)
    assumptions.emplace_back("SM8: no cache that is written overlaps another "
                             "argument");
  if (assumeAligned)
    assumptions.emplace_back("alignment: addresses, and strides but for the "
                             "last, are multiples of 16 bytes");
  if (negative == "undefined")
    assumptions.emplace_back("SX4: no index is negative");
  if (negative == "skip")
    assumptions.emplace_back(
        "SX4: tokens with a negative slot are padding, and "
        "are not written");
  if (outOfBounds == "undefined")
    assumptions.emplace_back("SX5: no index is out of bounds");
  if (!reservedSlot.empty())
    assumptions.push_back("SX6: tokens with slot " + reservedSlot +
                          " are padding, and are not written");
  return assumptions;
}

/// Checks options against each other; returns an empty string if they agree.
static std::string checkOptions() {
  bool onCPU = target == "cpu";
  if (!onCPU && !isSupportedChip(target))
    return "unknown target '" + target + "' for --target";
  if (emit.getNumOccurrences() == 0)
    emit = onCPU ? Emit::Object : Emit::PTX;
  if (!onCPU && isHostFormat(emit))
    return "--emit=llvm, obj and shared go with --target=cpu";
  if (onCPU && (emit == Emit::NVVM || emit == Emit::PTX || emit == Emit::Cubin))
    return "--emit=nvvm, ptx and cubin go with a GPU target, not with "
           "--target=cpu";
  if (optLevel < '0' || optLevel > '3')
    return "expects -O0 to -O3";
  return {};
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {
/// One run: a module through the stages, up to what is asked for.
class Compilation {
public:
  Compilation(ModuleOp module, std::vector<RecordedRemark> &remarks)
      : module(module), remarks(remarks) {
    options.fuse = fuse;
    options.mutates = mutates;
    options.torchVersion = torchVersion;
    options.negative = negative;
    options.outOfBounds = outOfBounds;
    options.reservedSlot = reservedSlot;
    options.assumeDisjoint = assumeDisjoint;
    options.assumeAligned = assumeAligned;
    options.unitStrideOnly = unitStrideOnly;
    options.noVersioning = noVersioning;
    options.countBranches = countBranches;
    if (target != "cpu")
      options.chip = target;
  }

  /// The output, or failure after a diagnostic.
  FailureOr<std::string> run() {
    if (failed(runStage(
            [&](OpPassManager &pm) { buildImportPipeline(pm, options); })))
      return failure();
    unfused = countUnfusedLaunches(module);
    LogicalResult fusion =
        runStage([&](OpPassManager &pm) { buildFusionPipeline(pm, options); });
    if (failed(rejectRefusals()) || failed(fusion))
      return failure();
    if (failed(runStage(
            [&](OpPassManager &pm) { buildBufferPipeline(pm, options); })) ||
        failed(rejectRefusals()))
      return failure();
    if (emit == Emit::KV) {
      std::string text = print();
      // The report counts kernels, so they are made all the same.
      if (!reportName.empty() && failed(makeKernels()))
        return failure();
      makeReport();
      return text;
    }
    if (failed(makeKernels()))
      return failure();
    makeReport();
    return emit == Emit::GPU ? print() : emitBinary();
  }

  const std::string &getReport() const { return report; }

private:
  LogicalResult runStage(llvm::function_ref<void(OpPassManager &)> build) {
    PassManager pm(module->getContext());
    build(pm);
    return pm.run(module);
  }

  LogicalResult makeKernels() {
    if (failed(runStage([&](OpPassManager &pm) {
          buildLayoutPipeline(pm, options);
          buildGPUPipeline(pm);
        })))
      return failure();
    return rejectRefusals();
  }

  /// Refusals of writes that were left behind, for they cannot be done in
  /// place, and with `--fuse=required` every one, are errors at the write.
  LogicalResult rejectRefusals() {
    llvm::DenseSet<Location> left;
    module.walk([&](kv::WriteOp write) {
      if (write->getParentOfType<ModuleOp>() == module)
        left.insert(write.getLoc());
    });
    LogicalResult result = success();
    for (const RecordedRemark &remark : remarks) {
      std::optional<Refusal> refusal = symbolizeRefusal(remark.name);
      if (!refusal || !isMissed(*refusal))
        continue;
      // What is only not done together with others is done all the same.
      bool isApart =
          refusal == Refusal::Order || refusal == Refusal::DifferentIndices;
      if (fuse != FuseMode::Required && (isApart || !left.contains(remark.loc)))
        continue;
      InFlightDiagnostic diag = emitError(remark.loc)
                                << remark.name << ": " << remark.reason;
      if (!remark.suggestion.empty())
        diag.attachNote() << remark.suggestion;
      result = failure();
    }
    return result;
  }

  void makeReport() {
    if (reportName.empty())
      return;
    llvm::raw_string_ostream os(report);
    os << llvm::formatv("{0:2}", kvfuse::makeReport(module, unfused, remarks,
                                                    listAssumptions()))
       << "\n";
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    os << "\n";
    return text;
  }

  FailureOr<std::string> emitBinary() {
    auto nested = module.lookupSymbol<ModuleOp>(kWritesModule);
    if (!nested)
      return module.emitError("no cache write was found that can be compiled");
    if (isHostFormat(emit)) {
      if (failed(runStage(buildCPUPipeline)))
        return failure();
      HostFormat format = emit == Emit::LLVM     ? HostFormat::LLVMIR
                          : emit == Emit::Object ? HostFormat::Object
                                                 : HostFormat::SharedLibrary;
      return emitHost(nested, format, optLevel - '0');
    }
    if (failed(runStage(
            [&](OpPassManager &pm) { buildNVVMPipeline(pm, options); })))
      return failure();
    if (emit == Emit::NVVM)
      return print();
    FailureOr<std::string> ptx = emitPTX(nested);
    if (failed(ptx) || emit == Emit::PTX)
      return ptx;
    return emitCubin(nested, *ptx, target, ptxas);
  }

  ModuleOp module;
  std::vector<RecordedRemark> &remarks;
  PipelineOptions options;
  LaunchCounts unfused;
  std::string report;
};
} // namespace

/// Writes `text` to `name` by way of a temporary file, or to standard output.
static llvm::Error write(StringRef name, StringRef text) {
  if (llvm::Error error =
          llvm::writeToOutput(name, [&](raw_ostream &os) -> llvm::Error {
            os << text;
            return llvm::Error::success();
          }))
    return llvm::createFileError(name, std::move(error));
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error();
    return llvm::createFileError("standard output", error);
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "kvfuse " KVFUSE_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
  });
  cl::ParseCommandLineOptions(
      argc, argv,
      "kvfuse-compile: turns the cache writes of a module into fused "
      "kernels\n\n"
      "The input is MLIR: torch-mlir's output in generic form, or kv IR.\n");
  if (std::string message = checkOptions(); !message.empty())
    return fail(message);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputName, &message);
  if (!input)
    return fail(message);

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  registerAllToLLVMIRTranslations(registry);
  registerDialects(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  // A location says enough; the operation may be the whole module.
  context.printOpOnDiagnostic(false);
  std::vector<RecordedRemark> remarks;
  recordRemarks(context, remarks, showRemarks);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return EXIT_FAILURE;

  Compilation compilation(*module, remarks);
  FailureOr<std::string> output = compilation.run();
  if (failed(output))
    return EXIT_FAILURE;
  if (!reportName.empty())
    if (llvm::Error error = write(reportName, compilation.getReport()))
      return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = write(outputName, *output))
    return fail(llvm::toString(std::move(error)));
  return EXIT_SUCCESS;
}
