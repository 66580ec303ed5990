//===- kvfuse-compile.cpp - Cache writes to PTX or host code --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgressLine.h"
#include "kvfuse/Driver/Compile.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace kvfuse;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

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
static cl::opt<EmitFormat> emit(
    "emit", cl::desc("What to write (default ptx, for cpu obj):"),
    cl::values(
        clEnumValN(EmitFormat::KV, "kv", "kv operations, fused"),
        clEnumValN(EmitFormat::Writes, "writes",
                   "the same, of module @kvfuse alone"),
        clEnumValN(EmitFormat::GPU, "gpu", "kernels in the gpu dialect"),
        clEnumValN(EmitFormat::NVVM, "nvvm", "kernels in the nvvm dialect"),
        clEnumValN(EmitFormat::PTX, "ptx", "kernels as PTX"),
        clEnumValN(EmitFormat::Cubin, "cubin", "kernels assembled by ptxas"),
        clEnumValN(EmitFormat::LLVM, "llvm", "host code as LLVM IR"),
        clEnumValN(EmitFormat::Object, "obj", "host code, an object file"),
        clEnumValN(EmitFormat::Shared, "shared",
                   "host code, a shared library")),
    cl::cat(category));
static cl::opt<std::string>
    reportName("report", cl::value_desc("file"),
               cl::desc("Write a JSON report; - is standard output"),
               cl::cat(category));
static cl::opt<std::string> headerName(
    "header", cl::value_desc("file"),
    cl::desc("Write a C header of what an object or a shared library "
             "exports; - is standard output"),
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
static cl::opt<bool>
    keepCallers("keep-callers",
                cl::desc("Compile groups of writes, never a whole function"),
                cl::cat(category));
static cl::opt<bool> countBranches(
    "count-branches",
    cl::desc("Count which versions run, in the global kvfuse_branches"),
    cl::cat(category));
static cl::opt<DependentLaunch> pdl(
    "pdl", cl::desc("Dependent launch of kernels, from sm_90 on:"),
    cl::values(clEnumValN(DependentLaunch::Off, "off", "kernel after kernel"),
               clEnumValN(DependentLaunch::Late, "late",
                          "the next may start once rows are stored"),
               clEnumValN(DependentLaunch::Early, "early",
                          "the next may start at once")),
    cl::cat(category));
static cl::opt<unsigned>
    blockSize("block-size", cl::value_desc("threads"),
              cl::desc("Most threads of a block of a write (default: as many "
                       "as its rows have use for, up to 256)"),
              cl::cat(category));
static cl::opt<unsigned>
    tokensPerThread("tokens-per-thread", cl::value_desc("count"),
                    cl::desc("Tokens of a thread of a write (default: 1, in "
                             "long steps 4)"),
                    cl::cat(category));
static cl::opt<char> optLevel("O", cl::Prefix, cl::init('2'),
                              cl::value_desc("level"),
                              cl::desc("Optimisation of host code, 0 to 3"),
                              cl::cat(category));

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "kvfuse-compile") << message << "\n";
  return EXIT_FAILURE;
}

/// Copies the options to `request`.
static void readOptions(CompileRequest &request) {
  PipelineOptions &options = request.options;
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
  options.keepCallers = keepCallers;
  options.countBranches = countBranches;
  if (pdl.getNumOccurrences() != 0)
    options.pdl = pdl;
  options.blockSize = blockSize;
  options.tokensPerThread = tokensPerThread;
  request.target = target;
  if (emit.getNumOccurrences() != 0)
    request.emit = emit;
  request.optLevel = static_cast<unsigned char>(optLevel) - '0';
  request.ptxas = ptxas;
  request.wantsReport = !reportName.empty();
  request.wantsHeader = !headerName.empty();
  request.printRemarks = showRemarks;
}

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

/// Compiles, and shows how far it is.
static FailureOr<CompileResult>
compileOnTerminal(CompileRequest &request,
                  std::unique_ptr<llvm::MemoryBuffer> input) {
  ProgressLine line;
  if (line.isOn())
    request.onProgress = [&](unsigned done, unsigned total, StringRef what) {
      line.show(done, total, what);
      return true;
    };
  return compile(request, std::move(input), line);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << getVersion() << "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "kvfuse-compile: turns the cache writes of a module into fused "
      "kernels\n\n"
      "The input is MLIR: torch-mlir's output in generic form, or kv IR.\n");
  CompileRequest request;
  readOptions(request);
  if (std::string message = completeRequest(request); !message.empty())
    return fail(message);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputName, &message);
  if (!input)
    return fail(message);
  FailureOr<CompileResult> result =
      compileOnTerminal(request, std::move(input));
  if (failed(result))
    return EXIT_FAILURE;
  if (!reportName.empty())
    if (llvm::Error error = write(reportName, result->report))
      return fail(llvm::toString(std::move(error)));
  if (!headerName.empty())
    if (llvm::Error error = write(headerName, result->header))
      return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = write(outputName, result->output))
    return fail(llvm::toString(std::move(error)));
  return EXIT_SUCCESS;
}
