//===- Signature.cpp - What callers pass to a function --------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Lowering/Signature.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Data types
//===----------------------------------------------------------------------===//

/// MLIR's i8 says no sign, and both kinds of bytes are stored as one.
static constexpr StringLiteral kAnyByte = "int8 or uint8";

static StringRef getIntegerName(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return "bool";
  case 8:
    if (type.isSignless())
      return kAnyByte;
    return isUnsigned ? "uint8" : "int8";
  case 16:
    return isUnsigned ? "uint16" : "int16";
  case 32:
    return isUnsigned ? "uint32" : "int32";
  case 64:
    return isUnsigned ? "uint64" : "int64";
  default:
    return {};
  }
}

StringRef kvfuse::getDTypeName(Type type) {
  return TypeSwitch<Type, StringRef>(type)
      .Case([](BFloat16Type) { return "bfloat16"; })
      .Case([](Float16Type) { return "float16"; })
      .Case([](Float32Type) { return "float32"; })
      .Case([](Float64Type) { return "float64"; })
      .Case([](Float8E3M4Type) { return "float8_e3m4"; })
      .Case([](Float8E4M3Type) { return "float8_e4m3"; })
      .Case([](Float8E4M3B11FNUZType) { return "float8_e4m3b11fnuz"; })
      .Case([](Float8E4M3FNType) { return "float8_e4m3fn"; })
      .Case([](Float8E4M3FNUZType) { return "float8_e4m3fnuz"; })
      .Case([](Float8E5M2Type) { return "float8_e5m2"; })
      .Case([](Float8E5M2FNUZType) { return "float8_e5m2fnuz"; })
      .Case([](Float8E8M0FNUType) { return "float8_e8m0fnu"; })
      .Case([](IndexType) { return "int64"; })
      .Case([](IntegerType integer) { return getIntegerName(integer); })
      .Default(StringRef());
}

DLDataType kvfuse::getDLDataType(StringRef name) {
  struct Entry {
    StringLiteral name;
    DLDataType type;
  };
  static constexpr Entry kEntries[] = {
      {kAnyByte, {kDLInt, 8, 0}},
      {"bool", {kDLBool, 8, 1}},
      {"int8", {kDLInt, 8, 1}},
      {"int16", {kDLInt, 16, 1}},
      {"int32", {kDLInt, 32, 1}},
      {"int64", {kDLInt, 64, 1}},
      {"uint8", {kDLUInt, 8, 1}},
      {"uint16", {kDLUInt, 16, 1}},
      {"uint32", {kDLUInt, 32, 1}},
      {"uint64", {kDLUInt, 64, 1}},
      {"bfloat16", {kDLBfloat, 16, 1}},
      {"float16", {kDLFloat, 16, 1}},
      {"float32", {kDLFloat, 32, 1}},
      {"float64", {kDLFloat, 64, 1}},
      {"float8_e3m4", {kDLFloat8_e3m4, 8, 1}},
      {"float8_e4m3", {kDLFloat8_e4m3, 8, 1}},
      {"float8_e4m3b11fnuz", {kDLFloat8_e4m3b11fnuz, 8, 1}},
      {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
      {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
      {"float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
      {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
      {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
  };
  const Entry *entry = llvm::find_if(
      kEntries, [&](const Entry &entry) { return entry.name == name; });
  assert(entry != std::end(kEntries) && "not a name of getDTypeName");
  return entry->type;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kName = "name";
static constexpr StringLiteral kDType = "dtype";
static constexpr StringLiteral kSizes = "sizes";
static constexpr StringLiteral kWritten = "written";

ArrayAttr kvfuse::encodeSignature(MLIRContext *context,
                                  ArrayRef<ArgumentSignature> arguments) {
  Builder b(context);
  SmallVector<Attribute> encoded;
  for (const ArgumentSignature &argument : arguments) {
    NamedAttrList attrs;
    attrs.append(kDType, b.getStringAttr(argument.dtype));
    if (!argument.name.empty())
      attrs.append(kName, b.getStringAttr(argument.name));
    if (argument.sizes)
      attrs.append(kSizes, b.getDenseI64ArrayAttr(*argument.sizes));
    if (argument.isWritten)
      attrs.append(kWritten, b.getUnitAttr());
    encoded.push_back(attrs.getDictionary(context));
  }
  return b.getArrayAttr(encoded);
}

std::optional<SmallVector<ArgumentSignature>>
kvfuse::getSignature(Operation *function) {
  auto encoded = function->getAttrOfType<ArrayAttr>(kSignatureAttr);
  if (!encoded)
    return std::nullopt;
  SmallVector<ArgumentSignature> arguments;
  for (auto attrs : encoded.getAsRange<DictionaryAttr>()) {
    ArgumentSignature &argument = arguments.emplace_back();
    argument.dtype = attrs.getAs<StringAttr>(kDType).str();
    if (auto name = attrs.getAs<StringAttr>(kName))
      argument.name = name.str();
    if (auto sizes = attrs.getAs<DenseI64ArrayAttr>(kSizes))
      argument.sizes = llvm::to_vector(sizes.asArrayRef());
    argument.isWritten = attrs.contains(kWritten);
  }
  return arguments;
}
