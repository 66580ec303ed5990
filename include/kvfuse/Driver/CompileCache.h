//===- CompileCache.h - Results of compilations on disk ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of files named after keys, which any number of processes may use at
// once: a file is replaced as a whole, and one that is not as it was written is
// as good as none. Without a folder that can be written all is as before, only
// slower.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DRIVER_COMPILECACHE_H
#define KVFUSE_DRIVER_COMPILECACHE_H

#include "kvfuse/Driver/Compile.h"

namespace kvfuse {

class CompileCache {
public:
  /// The cache that the environment asks for. KVFUSE_CACHE_DIR is its folder;
  /// without it, `kvfuse` in the user's folder of caches (XDG_CACHE_HOME, or
  /// ~/.cache); empty, there is none. KVFUSE_CACHE_SIZE bounds it, in bytes or
  /// with one of the suffixes k, m, g; without it, 1g.
  static llvm::Expected<CompileCache> fromEnvironment();

  bool isOn() const { return !folder.empty(); }

  /// The result that was stored under `key`, if it is there and whole.
  std::optional<CompileResult> lookup(llvm::StringRef key) const;

  /// Stores `result` if it can, and removes what was not used for longest if
  /// there is more than may be.
  void store(llvm::StringRef key, const CompileResult &result) const;

  struct Contents {
    uint64_t entries = 0, bytes = 0;
  };
  Contents measure() const;

  /// Removes all entries; returns how many there were.
  uint64_t clear() const;

  llvm::StringRef getFolder() const { return folder; }
  uint64_t getLimit() const { return limit; }

private:
  CompileCache(std::string folder, uint64_t limit)
      : folder(std::move(folder)), limit(limit) {}

  std::string getPath(llvm::StringRef key) const;

  std::string folder;
  uint64_t limit;
};

/// The key of a compilation by this build of the compiler: all that decides its
/// result, in `parts`, and nothing else. Empty if the build cannot be told from
/// others.
std::string makeCacheKey(llvm::ArrayRef<llvm::StringRef> parts);

} // namespace kvfuse

#endif // KVFUSE_DRIVER_COMPILECACHE_H
