//===- Scalars.cpp - Scalar arguments and their ranges ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %runtime_tests/Scalars | FileCheck %s

#include "Testing.h"
#include <cmath>
#include <cstring>

using namespace testing;

static int numBytes;

/// Prints the scalar's bytes, the highest first.
static const char *printBytes(void **arguments) {
  unsigned char bytes[8];
  std::memcpy(bytes, arguments[0], numBytes);
  std::printf("  0x");
  for (int i = numBytes; i-- > 0;)
    std::printf("%02x", bytes[i]);
  std::printf("\n");
  return nullptr;
}

static void pass(const char *what, DLDataType type, TVMFFIAny value) {
  KVFuseArgument argument = {"scale", type, -1, 0, nullptr};
  numBytes = type.bits / 8;
  call(what, kvfuse_call, {"f", printBytes, &argument, 1, kDLCPU, nullptr, 0},
       {value});
}

static constexpr DLDataType kF16 = {kDLFloat, 16, 1};

static void testIntegers() {
  // CHECK-LABEL: int64
  // CHECK-NEXT: 0xfffffffffffffffe
  pass("int64", kInt64, integer(-2));
  // CHECK: least int8
  // CHECK-NEXT: 0x80
  pass("least int8", {kDLInt, 8, 1}, integer(-128));
  // CHECK: below int8
  // CHECK-NEXT: ValueError: argument 0 ('scale'): -129 is no int8
  pass("below int8", {kDLInt, 8, 1}, integer(-129));
  // CHECK: above int32
  // CHECK-NEXT: ValueError: argument 0 ('scale'): 2147483648 is no int32
  pass("above int32", {kDLInt, 32, 1}, integer(INT64_C(1) << 31));
  // CHECK: greatest uint16
  // CHECK-NEXT: 0xffff
  pass("greatest uint16", {kDLUInt, 16, 1}, integer(65535));
  // CHECK: negative uint16
  // CHECK-NEXT: ValueError: argument 0 ('scale'): -1 is no uint16
  pass("negative uint16", {kDLUInt, 16, 1}, integer(-1));
  // CHECK: negative uint64
  // CHECK-NEXT: ValueError: argument 0 ('scale'): -1 is no uint64
  pass("negative uint64", {kDLUInt, 64, 1}, integer(-1));
  // CHECK: either sign
  // CHECK-NEXT: 0xff
  // CHECK: either sign
  // CHECK-NEXT: 0x80
  // CHECK: either sign
  // CHECK-NEXT: ValueError: argument 0 ('scale'): 256 is no int8 or uint8
  pass("either sign", {kDLInt, 8, 0}, integer(255));
  pass("either sign", {kDLInt, 8, 0}, integer(-128));
  pass("either sign", {kDLInt, 8, 0}, integer(256));
  // CHECK: float for int
  // CHECK-NEXT: TypeError: argument 0 ('scale'): expects a number of type int64, got float
  pass("float for int", kInt64, number(1));
  // CHECK: bool
  // CHECK-NEXT: 0x01
  pass("bool", {kDLBool, 8, 1}, boolean(true));
  // CHECK: int for bool
  // CHECK-NEXT: TypeError: argument 0 ('scale'): expects a number of type bool, got int
  pass("int for bool", {kDLBool, 8, 1}, integer(1));
}

static void testWideFloats() {
  // CHECK-LABEL: float64
  // CHECK-NEXT: 0x3fd5555555555555
  pass("float64", {kDLFloat, 64, 1}, number(1.0 / 3));
  // CHECK: float32
  // CHECK-NEXT: 0x3eaaaaab
  pass("float32", {kDLFloat, 32, 1}, number(1.0 / 3));
  // CHECK: float32 from int
  // CHECK-NEXT: 0x40400000
  pass("float32 from int", {kDLFloat, 32, 1}, integer(3));
  // CHECK: float8
  // CHECK-NEXT: TypeError: argument 0 ('scale'): expects a number of type float8_e4m3fn, got float
  pass("float8", kF8, number(1));
}

/// Halfway cases, the least and greatest numbers, and a number between two
/// float32 that a rounding to float32 first would round the wrong way.
static void testSmallFloats() {
  // CHECK-LABEL: float16
  // CHECK-NEXT: 0x3555
  // CHECK: odd half
  // CHECK-NEXT: 0x3c02
  // CHECK: even half
  // CHECK-NEXT: 0x3c00
  // CHECK: above half
  // CHECK-NEXT: 0x3c01
  // CHECK: carry
  // CHECK-NEXT: 0x4000
  // CHECK: greatest
  // CHECK-NEXT: 0xfbff
  // CHECK: overflow
  // CHECK-NEXT: 0x7c00
  // CHECK: huge
  // CHECK-NEXT: 0x7c00
  // CHECK: least normal
  // CHECK-NEXT: 0x0400
  // CHECK: subnormal
  // CHECK-NEXT: 0x8003
  // CHECK: half of the least
  // CHECK-NEXT: 0x0000
  pass("float16", kF16, number(1.0 / 3));
  pass("odd half", kF16, number(1 + 3 * std::ldexp(1, -11)));
  pass("even half", kF16, number(1 + std::ldexp(1, -11)));
  pass("above half", kF16, number(1 + std::ldexp(1, -11) + std::ldexp(1, -40)));
  pass("carry", kF16, number(2 - std::ldexp(1, -12)));
  pass("greatest", kF16, number(-65519));
  pass("overflow", kF16, number(65520));
  pass("huge", kF16, number(1e300));
  pass("least normal", kF16, number(std::ldexp(1, -14)));
  pass("subnormal", kF16, number(-3 * std::ldexp(1, -24)));
  pass("half of the least", kF16, number(std::ldexp(1, -25)));
  // CHECK-LABEL: bfloat16
  // CHECK-NEXT: 0x3eab
  // CHECK: minus zero
  // CHECK-NEXT: 0x8000
  // CHECK: infinity
  // CHECK-NEXT: 0xff80
  // CHECK: not a number
  // CHECK-NEXT: 0x7fc0
  // CHECK: least bfloat16
  // CHECK-NEXT: 0x0001
  pass("bfloat16", kBF16, number(1.0 / 3));
  pass("minus zero", kBF16, number(-0.0));
  pass("infinity", kBF16, number(-HUGE_VAL));
  pass("not a number", kBF16, number(std::nan("")));
  pass("least bfloat16", kBF16, number(std::ldexp(1, -133)));
}

int main() {
  testIntegers();
  testWideFloats();
  testSmallFloats();
}
