//===- CompileCache.cpp - Results of compilations on disk -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry is a header, the report, and the output.
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Driver/CompileCache.h"

#include "BuildIdentity.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace kvfuse;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// What `pruneCache` takes for a file that it may remove.
static constexpr StringLiteral kFilePrefix = "llvmcache-";
static constexpr StringLiteral kTemporarySuffix = ".tmp";
static constexpr StringLiteral kDefaultSize = "1g";

//===----------------------------------------------------------------------===//
// Keys and entries
//===----------------------------------------------------------------------===//

namespace {
struct EntryHeader {
  /// Of the key and of all that follows.
  BLAKE3Result<> checksum;
  support::ulittle64_t reportSize;
};
} // namespace

/// Hashes `parts` so that no other list of parts has the same hash.
static BLAKE3Result<> hash(ArrayRef<StringRef> parts) {
  BLAKE3 hasher;
  for (StringRef part : parts) {
    support::ulittle64_t size(part.size());
    hasher.update({reinterpret_cast<const uint8_t *>(&size), sizeof(size)});
    hasher.update(part);
  }
  return hasher.final();
}

std::string kvfuse::makeCacheKey(ArrayRef<StringRef> parts) {
  static const std::string build = getBuildIdentity();
  if (build.empty())
    return {};
  SmallVector<StringRef> all = {getVersion(), build};
  append_range(all, parts);
  return toHex(hash(all), /*LowerCase=*/true);
}

/// The result in the file contents `entry`, if they are those of `key`.
static std::optional<CompileResult> readEntry(StringRef key, StringRef entry) {
  EntryHeader header;
  if (entry.size() < sizeof(header))
    return std::nullopt;
  memcpy(&header, entry.data(), sizeof(header));
  StringRef body = entry.drop_front(sizeof(header));
  if (header.reportSize > body.size())
    return std::nullopt;
  StringRef report = body.take_front(header.reportSize);
  StringRef output = body.drop_front(header.reportSize);
  if (hash({key, report, output}) != header.checksum)
    return std::nullopt;
  return CompileResult{output.str(), report.str()};
}

/// Writes the file `name` as a whole, or leaves it as it was. (LLVM's own
/// temporary files, and so `localCache`, install handlers of signals for the
/// whole process, which is not a library's.)
static Error writeFile(const Twine &name, ArrayRef<StringRef> parts) {
  int fd;
  SmallString<128> temporary;
  if (std::error_code error = fs::createUniqueFile(
          name + ".%%%%%%%%" + kTemporarySuffix, fd, temporary))
    return errorCodeToError(error);
  FileRemover remover(temporary);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  for (StringRef part : parts)
    os << part;
  os.close();
  std::error_code error = os.error();
  os.clear_error();
  if (!error)
    error = fs::rename(temporary, name);
  if (!error)
    remover.releaseFile();
  return errorCodeToError(error);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The folder that the environment asks for, or an empty string.
static std::string findFolder() {
  if (std::optional<std::string> folder =
          sys::Process::GetEnv("KVFUSE_CACHE_DIR"))
    return *folder;
  SmallString<128> folder;
  if (!path::cache_directory(folder))
    return {};
  path::append(folder, "kvfuse");
  return folder.str().str();
}

Expected<CompileCache> CompileCache::fromEnvironment() {
  std::string size =
      sys::Process::GetEnv("KVFUSE_CACHE_SIZE").value_or(kDefaultSize.str());
  Expected<CachePruningPolicy> policy =
      parseCachePruningPolicy("cache_size_bytes=" + size);
  if (!policy || policy->MaxSizeBytes == 0) {
    consumeError(policy.takeError());
    return createStringError("KVFUSE_CACHE_SIZE: expects a number of bytes, or "
                             "one with k, m or g, but has '" +
                             size + "'");
  }
  return CompileCache(findFolder(), policy->MaxSizeBytes);
}

std::string CompileCache::getPath(StringRef key) const {
  SmallString<128> name(folder);
  path::append(name, kFilePrefix + key);
  return name.str().str();
}

std::optional<CompileResult> CompileCache::lookup(StringRef key) const {
  // The time of access says what was not used for longest.
  Expected<fs::file_t> file =
      fs::openNativeFileForRead(getPath(key), fs::OF_UpdateAtime);
  if (!file) {
    consumeError(file.takeError());
    return std::nullopt;
  }
  // Volatile: read rather than mapped, for it may be on a network.
  auto entry = MemoryBuffer::getOpenFile(*file, key, /*FileSize=*/-1,
                                         /*RequiresNullTerminator=*/false,
                                         /*IsVolatile=*/true);
  if (fs::closeFile(*file) || !entry)
    return std::nullopt;
  return readEntry(key, (*entry)->getBuffer());
}

void CompileCache::store(StringRef key, const CompileResult &result) const {
  // What lies there will be run, so nobody else may write it.
  if (fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  EntryHeader header;
  header.checksum = hash({key, result.report, result.output});
  header.reportSize = result.report.size();
  StringRef head(reinterpret_cast<const char *>(&header), sizeof(header));
  if (Error error =
          writeFile(getPath(key), {head, result.report, result.output}))
    return consumeError(std::move(error));

  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::hours(0);
  policy.MaxSizeBytes = limit;
  pruneCache(folder, policy);
}

/// Calls `visit` with each file of the cache in `folder`.
static void forEachFile(StringRef folder,
                        function_ref<void(const fs::directory_entry &)> visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (path::filename(it->path()).starts_with(kFilePrefix))
      visit(*it);
}

/// Is `file` an entry, rather than one that is being written?
static bool isEntry(const fs::directory_entry &file) {
  return !StringRef(file.path()).ends_with(kTemporarySuffix);
}

CompileCache::Contents CompileCache::measure() const {
  Contents contents;
  forEachFile(folder, [&](const fs::directory_entry &file) {
    contents.entries += isEntry(file);
    if (ErrorOr<fs::basic_file_status> status = file.status())
      contents.bytes += status->getSize();
  });
  return contents;
}

uint64_t CompileCache::clear() const {
  uint64_t removed = 0;
  forEachFile(folder, [&](const fs::directory_entry &file) {
    bool gone = !fs::remove(file.path(), /*IgnoreNonExisting=*/false);
    removed += gone && isEntry(file);
  });
  return removed;
}
