//===- EmitHeader.cpp - A C header of exported functions ------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Signature.h"
#include "kvfuse/Target/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace kvfuse;

/// The C type of a scalar. Floats of less than 32 bits are passed as their
/// bits.
static std::string getCType(StringRef dtype) {
  DLDataType type = getDLDataType(dtype);
  switch (type.code) {
  case kDLBool:
    return "bool";
  case kDLFloat:
    if (type.bits >= 32)
      return type.bits == 32 ? "float" : "double";
    break;
  case kDLInt:
    return llvm::formatv("int{0}_t", type.bits).str();
  default:
    break;
  }
  return llvm::formatv("uint{0}_t", type.bits).str();
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Names of parameters: those of arguments, where they are identifiers in C and
/// C++ and differ from one another, others by number.
static SmallVector<std::string>
nameParameters(ArrayRef<ArgumentSignature> arguments) {
  SmallVector<std::string> names;
  llvm::StringSet<> taken;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    // An underscore keeps clear of keywords.
    std::string name = argument.name + "_";
    if (!isIdentifier(argument.name) || !taken.insert(name).second)
      name = ("arg" + Twine(i)).str();
    names.push_back(name);
  }
  return names;
}

/// What a comment says of an argument.
static std::string describe(const ArgumentSignature &argument) {
  std::string text = argument.dtype;
  if (argument.sizes) {
    auto sizes = llvm::map_range(*argument.sizes, [](int64_t size) {
      return size < 0 ? std::string("?") : std::to_string(size);
    });
    text += "[" + llvm::join(sizes, ", ") + "]";
  }
  return text + (argument.isWritten ? ", written" : "");
}

static constexpr StringLiteral kDescriptor = R"(
#ifndef KVFUSE_MEMREF{0}
#define KVFUSE_MEMREF{0}
/** A tensor of rank {0}; offset and strides count elements. */
typedef struct KVFuseMemRef{0} {{
  void *allocated;
  void *aligned;
  int64_t offset;
{1}} KVFuseMemRef{0};
#endif
)";

static void writeDescriptor(raw_ostream &os, size_t rank) {
  std::string arrays;
  if (rank != 0)
    arrays =
        llvm::formatv("  int64_t sizes[{0}];\n  int64_t strides[{0}];\n", rank);
  os << llvm::formatv(kDescriptor.data(), rank, arrays);
}

static void writeFunction(raw_ostream &os, StringRef name,
                          ArrayRef<ArgumentSignature> arguments, bool isCUDA) {
  SmallVector<std::string> names = nameParameters(arguments);
  os << "\n/**\n * " << name << "\n";
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    os << " *   " << i << ": ";
    // Any other text might end the comment.
    if (isIdentifier(argument.name))
      os << argument.name << ": ";
    os << describe(argument) << "\n";
  }
  os << " */\n";
  static constexpr StringLiteral kParameters =
      "(void *self, const TVMFFIAny *args, int32_t num_args, "
      "TVMFFIAny *result);\n";
  os << "int32_t " << kTVMFFIPrefix << name << kParameters;
  if (isCUDA)
    os << "/** Loads its kernels on the device of that number. */\n"
       << "int32_t " << kTVMFFIPrefix << name << "_load" << kParameters;

  os << "/** The same without checks of data types, ranks and devices. Returns "
        "null, or a\n * message. */\nconst char *"
     << kWrapperPrefix << name << "(";
  llvm::interleaveComma(llvm::zip_equal(arguments, names), os, [&](auto pair) {
    auto &[argument, name] = pair;
    if (argument.sizes)
      os << "KVFuseMemRef" << argument.sizes->size() << " *" << name;
    else
      os << getCType(argument.dtype) << " " << name;
  });
  os << (arguments.empty() ? "void);\n" : ");\n");
}

std::string kvfuse::emitHeader(ModuleOp module, StringRef target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "/* Functions compiled by kvfuse-compile for " << target << ". */\n"
     << "#pragma once\n\n#include <stdbool.h>\n#include <stdint.h>\n"
     << "#include <tvm/ffi/c_api.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  std::set<size_t> ranks;
  std::string functions;
  llvm::raw_string_ostream functionsStream(functions);
  for (auto wrapper : module.getOps<LLVM::LLVMFuncOp>()) {
    StringRef name = wrapper.getName();
    auto arguments = getSignature(wrapper);
    // C cannot speak of other names.
    if (!arguments || !name.consume_front(kWrapperPrefix) ||
        !isIdentifier(name))
      continue;
    for (const ArgumentSignature &argument : *arguments)
      if (argument.sizes)
        ranks.insert(argument.sizes->size());
    writeFunction(functionsStream, name, *arguments, target != "cpu");
  }
  for (size_t rank : ranks)
    writeDescriptor(os, rank);
  os << functions << "\n#ifdef __cplusplus\n}\n#endif\n";
  return text;
}
