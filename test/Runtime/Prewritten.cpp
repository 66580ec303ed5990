//===- Prewritten.cpp - Marks of layers that are written already --------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Prewritten | FileCheck %s

#include "kvfuse/Runtime/Prewritten.h"
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace kvfuse;

static constexpr CacheParts kKeyValue = CacheParts::Key | CacheParts::Value;
static constexpr CacheParts kAll = kKeyValue | CacheParts::IndexKey;

static void print(const char *what, bool isWritten) {
  std::printf("%s: %s\n", what, isWritten ? "yes" : "no");
}

static void testReaders() {
  PrewrittenLayers layers;
  layers.mark(3, 1, kAll);
  // CHECK: indexer: yes
  // CHECK-NEXT: attention: yes
  // CHECK-NEXT: attention once more: no
  print("indexer", layers.consume(3, 1, CacheParts::IndexKey));
  print("attention", layers.consume(3, 1, kKeyValue));
  print("attention once more", layers.consume(3, 1, kKeyValue));
  // CHECK-NEXT: another layer: no
  layers.mark(3, 1, kAll);
  print("another layer", layers.consume(4, 1, kAll));
  // CHECK-NEXT: a later step: no
  // CHECK-NEXT: the old step after it: no
  print("a later step", layers.consume(3, 2, kKeyValue));
  print("the old step after it", layers.consume(3, 1, kKeyValue));
  // A dense layer has no index-K. What was asked for is written by the reader
  // after a no, so that none of it stays marked.
  // CHECK-NEXT: one part of two: no
  // CHECK-NEXT: that part: no
  layers.mark(5, 2, CacheParts::Key);
  print("one part of two", layers.consume(5, 2, kKeyValue));
  print("that part", layers.consume(5, 2, CacheParts::Key));
  // CHECK-NEXT: parts of two writes: yes
  layers.mark(6, 2, CacheParts::Key);
  layers.mark(6, 2, CacheParts::Value);
  print("parts of two writes", layers.consume(6, 2, kKeyValue));
  // CHECK-NEXT: a part of an older step: no
  layers.mark(7, 1, CacheParts::Key);
  layers.mark(7, 2, CacheParts::Value);
  print("a part of an older step", layers.consume(7, 2, kKeyValue));
}

static void testClear() {
  PrewrittenLayers layers;
  layers.mark(0, 1, kAll);
  layers.mark(1, 1, kAll);
  layers.mark(2, 1, kAll);
  // CHECK-NEXT: cleared: no
  // CHECK-NEXT: not cleared: yes
  // CHECK-NEXT: all cleared: no
  layers.clear(0);
  print("cleared", layers.consume(0, 1, kAll));
  print("not cleared", layers.consume(1, 1, kAll));
  layers.clear();
  print("all cleared", layers.consume(2, 1, kAll));
}

/// An error before, in and after the write.
static void testFailures() {
  PrewrittenLayers layers;
  // A refused fusion runs the chain, and marks as the fused write does.
  // CHECK-NEXT: not yet: no
  // CHECK-NEXT: written: yes
  layers.write(0, 1, kAll, [&] {
    print("not yet", layers.consume(0, 1, CacheParts::Value));
  });
  print("written", layers.consume(0, 1, kAll));

  // The same step, after the first write of it was taken for good.
  // CHECK-NEXT: failed: no
  // CHECK-NEXT: the other part: yes
  layers.mark(0, 1, kAll);
  try {
    layers.write(0, 1, kKeyValue, [] { throw std::runtime_error("no"); });
  } catch (const std::runtime_error &) {
  }
  print("failed", layers.consume(0, 1, CacheParts::Key));
  print("the other part", layers.consume(0, 1, CacheParts::IndexKey));

  // CHECK-NEXT: after the step failed: no
  try {
    StepScope scope(layers);
    layers.write(0, 2, kAll, [] {});
    layers.write(1, 2, kAll, [] {});
    throw std::runtime_error("between the write and its readers");
  } catch (const std::runtime_error &) {
  }
  print("after the step failed",
        layers.consume(0, 2, kAll) || layers.consume(1, 2, kAll));
}

/// Every mark is taken by one of the threads that ask for it.
static void testThreads() {
  PrewrittenLayers layers;
  std::atomic<int> numTaken = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int layer = 0; layer < 100; ++layer) {
        if (i == 0)
          layers.mark(layer, 1, kAll);
        numTaken += layers.consume(layer, 1, kKeyValue);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int layer = 0; layer < 100; ++layer)
    numTaken += layers.consume(layer, 1, kKeyValue);
  // CHECK-NEXT: 100 taken
  std::printf("%d taken\n", numTaken.load());
}

int main() {
  testReaders();
  testClear();
  testFailures();
  testThreads();
}
