//===- JIT.cpp - Objects into this process --------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Driver/JIT.h"

#include "kvfuse/Layout/Passes.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/ELFObjectFile.h"
#include <atomic>
#include <dlfcn.h>

using namespace llvm;
using namespace llvm::orc;
using namespace kvfuse;

static constexpr StringLiteral kFunctionPrefix = "__tvm_ffi_";

//===----------------------------------------------------------------------===//
// The session
//===----------------------------------------------------------------------===//

namespace {
/// ORC without its compilers: there are only objects to link, each in a
/// namespace of its own.
class Session {
public:
  static Expected<Session *> get();

  /// Links `object` and looks up `names`.
  Expected<SymbolMap> link(StringRef object, const SymbolLookupSet &names);

  SymbolStringPtr intern(StringRef name) { return session.intern(name); }

private:
  Session(std::unique_ptr<ExecutorProcessControl> process, void *library);

  ExecutionSession session;
  ObjectLinkingLayer objects;
  /// What objects may refer to.
  JITDylib &host;
  std::atomic<unsigned> numLoaded = 0;
};
} // namespace

/// What ORC reported of the link that this thread does; it leaves little for
/// the one who asked for it.
static thread_local std::string reports;

Session::Session(std::unique_ptr<ExecutorProcessControl> process, void *library)
    : session(std::move(process)), objects(session),
      host(session.createBareJITDylib("host")) {
  session.setErrorReporter(
      [](Error error) { reports += toString(std::move(error)) + "; "; });
  host.addGenerator(std::make_unique<DynamicLibrarySearchGenerator>(
      sys::DynamicLibrary(library), /*GlobalPrefix=*/'\0'));
}

/// A handle of the library that holds this function. Its dependencies are found
/// through it, though nobody loaded them for all to see.
static Expected<void *> openThisLibrary() {
  Dl_info info;
  void *handle = nullptr;
  if (dladdr(reinterpret_cast<void *>(&openThisLibrary), &info))
    handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!handle)
    return createStringError("libkvfuse cannot be found in its own process");
  return handle;
}

Expected<Session *> Session::get() {
  auto create = []() -> Expected<Session *> {
    Expected<void *> library = openThisLibrary();
    if (!library)
      return library.takeError();
    // Without threads for tasks: the caller waits for them.
    auto process = SelfExecutorProcessControl::Create(
        nullptr, std::make_unique<InPlaceTaskDispatcher>());
    if (!process)
      return process.takeError();
    // Never destroyed: code may run while the process ends.
    return new Session(std::move(*process), *library);
  };
  static std::string failure;
  static Session *session = [&]() -> Session * {
    Expected<Session *> created = create();
    if (created)
      return *created;
    failure = toString(created.takeError());
    return nullptr;
  }();
  if (!session)
    return createStringError(failure);
  return session;
}

Expected<SymbolMap> Session::link(StringRef object,
                                  const SymbolLookupSet &names) {
  std::string name = "kvfuse." + utostr(numLoaded++);
  JITDylib &library = session.createBareJITDylib(name);
  library.addToLinkOrder(host);
  if (Error error = objects.add(
          library, MemoryBuffer::getMemBufferCopy(object, library.getName())))
    return std::move(error);
  reports.clear();
  Expected<SymbolMap> addresses =
      session.lookup({{&library, JITDylibLookupFlags::MatchAllSymbols}}, names);
  if (!addresses)
    return createStringError("the object cannot be linked: " + reports +
                             toString(addresses.takeError()));
  return addresses;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

namespace {
/// Names in an object that are of interest outside of it.
struct ObjectSymbols {
  std::vector<std::string> functions;
  /// Counters, in bytes; 0: none.
  uint64_t branchesSize = 0;
};
} // namespace

static Expected<ObjectSymbols> readSymbols(StringRef object) {
  auto file = object::ObjectFile::createELFObjectFile({object, "object"});
  if (!file)
    return file.takeError();
  ObjectSymbols symbols;
  for (object::ELFSymbolRef symbol :
       cast<object::ELFObjectFileBase>(**file).symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags)
      return joinErrors(flags.takeError(), name.takeError());
    if (!name)
      return name.takeError();
    if (*flags & object::SymbolRef::SF_Undefined ||
        !(*flags & object::SymbolRef::SF_Global))
      continue;
    if (name->starts_with(kFunctionPrefix))
      symbols.functions.push_back(name->str());
    else if (*name == kBranchesGlobal)
      symbols.branchesSize = symbol.getSize();
  }
  return symbols;
}

Expected<LoadedObject> kvfuse::loadObject(StringRef object) {
  Expected<ObjectSymbols> symbols = readSymbols(object);
  if (!symbols)
    return createStringError("expects an object file for this machine: " +
                             toString(symbols.takeError()));
  if (symbols->functions.empty())
    return createStringError("the object exports no function");
  Expected<Session *> session = Session::get();
  if (!session)
    return session.takeError();

  SymbolLookupSet names;
  for (const std::string &name : symbols->functions)
    names.add((*session)->intern(name));
  SymbolStringPtr branches = (*session)->intern(kBranchesGlobal);
  if (symbols->branchesSize)
    names.add(branches);
  Expected<SymbolMap> addresses = (*session)->link(object, names);
  if (!addresses)
    return addresses.takeError();

  LoadedObject loaded;
  for (const std::string &name : symbols->functions)
    loaded.functions.push_back(
        {name.substr(kFunctionPrefix.size()),
         addresses->at((*session)->intern(name)).getAddress().toPtr<void *>()});
  if (symbols->branchesSize)
    loaded.branches = {addresses->at(branches).getAddress().toPtr<int64_t *>(),
                       symbols->branchesSize / sizeof(int64_t)};
  return loaded;
}
