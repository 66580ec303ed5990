//===- Library.cpp - The compiler as TVM-FFI functions --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors are TVM-FFI errors: "CompileError" with the diagnostics of the input,
// "ValueError" for what the caller got wrong.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Driver/Compile.h"
#include "kvfuse/Driver/CompileCache.h"
#include "kvfuse/Driver/JIT.h"
#include "kvfuse/Target/Emit.h"
#include "llvm/Support/FileSystem.h"
#include <atomic>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tuple.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;
using namespace kvfuse;

[[noreturn]] static void raise(const char *kind, llvm::StringRef message) {
  throw ffi::Error(kind, message.rtrim().str(), "");
}

static llvm::StringRef toStringRef(const ffi::String &text) {
  return {text.data(), text.size()};
}

namespace {
/// Between the stages of a compilation: tells the caller how far it is, and
/// stops it for an interrupt. Errors wait until LLVM's frames, which know no
/// exceptions, have been left.
class Watch {
public:
  explicit Watch(ffi::Optional<ffi::Function> progress)
      : progress(std::move(progress)) {}

  /// Returns false if the compilation is to stop.
  bool operator()(unsigned done, unsigned total, llvm::StringRef what) {
    if (error)
      return false;
    try {
      // Python has the error itself.
      if (TVMFFIEnvCheckSignals() != 0)
        throw ffi::EnvErrorAlreadySet();
      if (progress)
        (*progress)(done, total, ffi::String(what.data(), what.size()));
    } catch (const ffi::Error &raised) {
      error = raised;
    }
    return !error;
  }

  void rethrow() const {
    if (error)
      throw ffi::Error(*error);
  }

private:
  ffi::Optional<ffi::Function> progress;
  std::optional<ffi::Error> error;
};
} // namespace

static void readRequest(CompileRequest &request, const ffi::String &options,
                        const ffi::String &target, const ffi::String &emit,
                        int64_t optLevel) {
  std::string message;
  llvm::raw_string_ostream os(message);
  if (mlir::failed(request.options.parseFromString(toStringRef(options), os)))
    // LLVM says on standard error what is wrong with a value.
    raise("ValueError", message.empty() ? "bad value in the options '" +
                                              std::string(options) + "'"
                                        : message);
  request.target = target;
  if (!emit.empty()) {
    request.emit = symbolizeEmitFormat(toStringRef(emit));
    if (!request.emit)
      raise("ValueError", "unknown format '" + std::string(emit) + "'");
  }
  request.optLevel = optLevel < 0 ? ~0u : static_cast<unsigned>(optLevel);
  if (message = completeRequest(request); !message.empty())
    raise("ValueError", message);
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// Of this process.
static std::atomic<int64_t> cacheHits, cacheMisses;

static CompileCache openCache() {
  llvm::Expected<CompileCache> cache = CompileCache::fromEnvironment();
  if (!cache)
    raise("ValueError", llvm::toString(cache.takeError()));
  return *cache;
}

/// Which ptxas assembles a cubin: another one at the same path is newer or of
/// another size.
static std::string describePtxas() {
  std::string path = findPtxas("");
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return path;
  auto time = status.getLastModificationTime().time_since_epoch().count();
  return path + ":" + std::to_string(status.getSize()) + ":" +
         std::to_string(time);
}

/// cache_info() -> {"path", "entries", "bytes", "limit", "hits", "misses"}; the
/// path is empty if there is no cache.
static ffi::Map<ffi::String, ffi::Any> cacheInfo() {
  CompileCache cache = openCache();
  CompileCache::Contents contents = cache.measure();
  return {{"path", ffi::String(cache.getFolder().str())},
          {"entries", static_cast<int64_t>(contents.entries)},
          {"bytes", static_cast<int64_t>(contents.bytes)},
          {"limit", static_cast<int64_t>(cache.getLimit())},
          {"hits", cacheHits.load()},
          {"misses", cacheMisses.load()}};
}

/// cache_clear() -> number of entries that were removed.
static int64_t cacheClear() {
  return static_cast<int64_t>(openCache().clear());
}

//===----------------------------------------------------------------------===//
// Compiling and loading
//===----------------------------------------------------------------------===//

using Compiled = ffi::Tuple<ffi::Bytes, ffi::String>;

static Compiled makeCompiled(CompileResult result) {
  return Compiled(ffi::Bytes(std::move(result.output)),
                  ffi::String(std::move(result.report)));
}

/// compile(text, options, target, emit, opt_level, progress) -> (output,
/// report): `options` as those of the pipeline `kvfuse-to-gpu`, `target` and
/// `emit` as those of kvfuse-compile, "" for the default. `progress`, if any,
/// is called as progress(done, total, what).
static Compiled compileText(const ffi::String &text, const ffi::String &options,
                            const ffi::String &target, const ffi::String &emit,
                            int64_t optLevel,
                            ffi::Optional<ffi::Function> progress) {
  CompileCache cache = openCache();
  std::string key;
  if (cache.isOn())
    key = makeCacheKey({toStringRef(text), toStringRef(options),
                        toStringRef(target), toStringRef(emit),
                        std::to_string(optLevel),
                        emit == "cubin" ? describePtxas() : ""});
  if (!key.empty())
    if (std::optional<CompileResult> hit = cache.lookup(key)) {
      ++cacheHits;
      return makeCompiled(std::move(*hit));
    }

  CompileRequest request;
  readRequest(request, options, target, emit, optLevel);
  Watch watch(std::move(progress));
  request.onProgress = std::ref(watch);
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  auto input = llvm::MemoryBuffer::getMemBufferCopy(toStringRef(text), "input");
  llvm::FailureOr<CompileResult> result =
      compile(request, std::move(input), os);
  watch.rethrow();
  if (failed(result))
    raise("CompileError", diagnostics);
  if (!key.empty()) {
    ++cacheMisses;
    cache.store(key, *result);
  }
  return makeCompiled(std::move(*result));
}

/// load(object) -> {name: function}: links what compile(..., "obj", ...) gave
/// into this process. `branch_counts()` returns the counters of an object that
/// counts branches.
static ffi::Map<ffi::String, ffi::Function> load(const ffi::Bytes &object) {
  llvm::Expected<LoadedObject> loaded =
      loadObject({object.data(), object.size()});
  if (!loaded)
    raise("ValueError", llvm::toString(loaded.takeError()));
  ffi::Map<ffi::String, ffi::Function> functions;
  for (const LoadedObject::Function &function : loaded->functions)
    functions.Set(function.name,
                  ffi::Function::FromExternC(
                      nullptr,
                      reinterpret_cast<TVMFFISafeCallType>(function.address),
                      nullptr));
  if (!loaded->branches.empty())
    functions.Set("branch_counts",
                  ffi::Function::FromTyped([counters = loaded->branches]() {
                    return ffi::Array<int64_t>(counters.begin(),
                                               counters.end());
                  }));
  return functions;
}

static ffi::String version() {
  llvm::StringRef text = getVersion();
  return ffi::String(text.data(), text.size());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(compile, compileText)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(cache_info, cacheInfo)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(cache_clear, cacheClear)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(load, load)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(version, version)
