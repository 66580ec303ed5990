//===- Prewritten.h - Layers whose caches are written already ---*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For engines that split a layer's cache write and its readers over several
// calls: the fused write puts down K, V and index-K at once, and each reader,
// which would write its own part otherwise, asks whether that was done. Needs
// nothing but the C++17 standard library.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_RUNTIME_PREWRITTEN_H
#define KVFUSE_RUNTIME_PREWRITTEN_H

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace kvfuse {

/// What a layer's cache write writes, or-ed.
enum class CacheParts : uint32_t { None = 0, Key = 1, Value = 2, IndexKey = 4 };

constexpr CacheParts operator|(CacheParts a, CacheParts b) {
  return CacheParts(uint32_t(a) | uint32_t(b));
}
constexpr CacheParts operator&(CacheParts a, CacheParts b) {
  return CacheParts(uint32_t(a) & uint32_t(b));
}
constexpr CacheParts operator~(CacheParts a) {
  return CacheParts(~uint32_t(a));
}

/// Which parts of which layers are written in the current step, and not yet
/// taken note of by their readers.
///
/// A step is any number that the engine does not use again, such as a counter
/// of forward passes; steps are only compared for equality. A mark of one step
/// is never taken for another.
///
/// The failure rule: an error between a mark and its reader leaves nothing
/// marked, so that a repeated step writes again. `write` marks only what was
/// written to its end, and a `StepScope` clears the rest however a step ends.
/// A refused fusion is no failure: the chain wrote the same bytes, so it marks.
///
/// Safe to use from several threads.
class PrewrittenLayers {
public:
  /// Marks `parts` of `layer` as written in `step`.
  void mark(int64_t layer, int64_t step, CacheParts parts) {
    std::lock_guard<std::mutex> lock(mutex);
    Mark &mark = getMark(layer, step);
    mark.parts = mark.parts | parts;
  }

  /// Is every one of `parts` marked in `step`? Their marks are gone after it,
  /// whatever the answer: after a no, the reader writes all of them itself.
  bool consume(int64_t layer, int64_t step, CacheParts parts) {
    std::lock_guard<std::mutex> lock(mutex);
    Mark &mark = getMark(layer, step);
    bool isWritten = (mark.parts & parts) == parts;
    mark.parts = mark.parts & ~parts;
    return isWritten;
  }

  /// Forgets the marks of `layer`.
  void clear(int64_t layer) {
    std::lock_guard<std::mutex> lock(mutex);
    marks.erase(layer);
  }

  /// Forgets all marks.
  void clear() {
    std::lock_guard<std::mutex> lock(mutex);
    marks.clear();
  }

  /// Runs `function`, which writes `parts` of `layer`, and marks them if it
  /// returns. They are not marked while it runs, nor after it threw. (Code that
  /// returns its errors calls `mark` after it saw none.)
  template <typename Function>
  void write(int64_t layer, int64_t step, CacheParts parts,
             Function &&function) {
    // What is marked of an earlier write ends here.
    consume(layer, step, parts);
    std::forward<Function>(function)();
    mark(layer, step, parts);
  }

private:
  struct Mark {
    int64_t step;
    CacheParts parts;
  };

  /// The layer's mark of `step`; what is left of another step goes.
  Mark &getMark(int64_t layer, int64_t step) {
    Mark &mark = marks.try_emplace(layer, Mark{step, {}}).first->second;
    if (mark.step != step)
      mark = {step, CacheParts::None};
    return mark;
  }

  std::mutex mutex;
  std::unordered_map<int64_t, Mark> marks;
};

/// Forgets all marks at the end of a step, which may be an exception.
class StepScope {
public:
  explicit StepScope(PrewrittenLayers &layers) : layers(layers) {}
  ~StepScope() { layers.clear(); }
  StepScope(const StepScope &) = delete;
  StepScope &operator=(const StepScope &) = delete;

private:
  PrewrittenLayers &layers;
};

} // namespace kvfuse

#endif // KVFUSE_RUNTIME_PREWRITTEN_H
