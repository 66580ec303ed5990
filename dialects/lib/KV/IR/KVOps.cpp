//===- KVOps.cpp - kv.apply and kv.cast -----------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "VerifyMap.h"
#include "mlir/Dialect/CommonFolders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::kv;

//===----------------------------------------------------------------------===//
// ApplyOp
//===----------------------------------------------------------------------===//

LogicalResult ApplyOp::verify() {
  AffineMap map = getMap();
  if (map.getNumResults() != 1)
    return emitOpError("expects a map with one result, but ")
           << getMapAttr() << " has " << map.getNumResults();
  if (map.getNumSymbols() != 0)
    return emitOpError("expects a map without symbols, but got ")
           << getMapAttr();
  if (map.getNumDims() != getInputs().size())
    return emitOpError("expects one operand per dimension of the map: ")
           << getInputs().size() << " operands for " << map.getNumDims()
           << " dimensions";
  // The trait lets tensor<?xi64> pass for tensor<4xi64>; the syntax, which
  // prints one type, does not.
  for (Type type : getInputs().getTypes())
    if (type != getType())
      return emitOpError("expects operands and result of one type, but got ")
             << type << " and " << getType();
  return verifyDivisors(map, [&] { return emitOpError(); });
}

/// apply (..., x, ...) -> x (..., x, ...)
/// apply constants -> constant
OpFoldResult ApplyOp::fold(FoldAdaptor adaptor) {
  AffineExpr expr = getMap().getResult(0);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getInputs()[dim.getPosition()];

  // Scalars and splats: evaluate the map once.
  SmallVector<int64_t> scalars(getMap().getNumDims(), 0);
  for (auto [dim, input] : llvm::enumerate(adaptor.getInputs())) {
    if (!getMap().isFunctionOfDim(dim))
      continue;
    if (auto splat = dyn_cast_or_null<SplatElementsAttr>(input))
      scalars[dim] = splat.getSplatValue<APInt>().getSExtValue();
    else if (auto scalar = dyn_cast_or_null<IntegerAttr>(input))
      scalars[dim] = scalar.getInt();
    else
      return {};
  }
  Attribute result = IntegerAttr::get(IntegerType::get(getContext(), 64),
                                      getMap().compose(scalars).front());
  auto shaped = dyn_cast<ShapedType>(getType());
  if (!shaped)
    return result;
  if (!shaped.hasStaticShape())
    return {};
  return SplatElementsAttr::get(shaped, result);
}

/// apply #map(..., unused, x, x) -> apply simplify(#map')(..., x), the same
/// value for every x. One operand stays in any case, for its shape.
LogicalResult ApplyOp::canonicalize(ApplyOp op, PatternRewriter &rewriter) {
  AffineMap map = simplifyAffineMap(op.getMap());
  SmallVector<Value> inputs;
  SmallVector<AffineExpr> dims;
  for (auto [dim, input] : llvm::enumerate(op.getInputs())) {
    auto *equal = llvm::find(inputs, input);
    dims.push_back(rewriter.getAffineDimExpr(equal - inputs.begin()));
    if (equal == inputs.end() && map.isFunctionOfDim(dim))
      inputs.push_back(input);
  }
  if (inputs.empty())
    inputs.push_back(op.getInputs()[0]);
  map =
      simplifyAffineMap(map.replaceDimsAndSymbols(dims, {}, inputs.size(), 0));
  if (map == op.getMap())
    return rewriter.notifyMatchFailure(op, "expected a map that simplifies or "
                                           "an operand that is not needed");
  rewriter.modifyOpInPlace(op, [&] {
    op.setMap(map);
    op.getInputsMutable().assign(inputs);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

bool mlir::kv::hasNoInfinity(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && !APFloat::semanticsHasInf(floatType.getFloatSemantics());
}

APFloat mlir::kv::castFloat(APFloat value, FloatType type, bool saturating) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (value.isNaN())
    return APFloat::getNaN(semantics, value.isNegative());
  bool negative = value.isNegative();
  bool wasInfinity = value.isInfinity();
  bool losesInfo = false;
  APFloat::opStatus status =
      value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (saturating && (wasInfinity || (status & APFloat::opOverflow)))
    return APFloat::getLargest(semantics, negative);
  return value;
}

LogicalResult CastOp::verify() {
  Type from = getElementTypeOrSelf(getInput().getType());
  Type to = getElementTypeOrSelf(getResult().getType());
  for (Type type : {from, to}) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    unsigned width = type.getIntOrFloatBitWidth();
    if (width != 8 && width != 16 && width != 32)
      return emitOpError("SC1: expects element types of 8, 16 or 32 bits, but "
                         "got ")
             << type;
    if (!APFloat::semanticsHasSignedRepr(semantics) ||
        !APFloat::semanticsHasZero(semantics))
      return emitOpError("SC1: expects element types with a sign and a zero, "
                         "but got ")
             << type;
  }
  if (getSaturating() && !hasNoInfinity(to))
    return emitOpError("SC3: saturating is for types without infinities, but ")
           << to << " has them";
  // The trait lets tensor<?xf32> pass for tensor<4xf32>.
  auto shaped = dyn_cast<ShapedType>(getType());
  if (shaped && cast<ShapedType>(getInput().getType()).clone(to) != shaped)
    return emitOpError("expects operand and result of one shape, but got ")
           << getInput().getType() << " and " << getType();
  return success();
}

/// cast x : T to T -> x, saturating or not: a type that may saturate has no
/// infinity to change.
/// cast constant -> constant
OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto to = cast<FloatType>(getElementTypeOrSelf(getType()));
  bool saturating = getSaturating();
  return constFoldCastOp<FloatAttr, FloatAttr, APFloat, APFloat, void>(
      adaptor.getOperands(), getType(), [&](const APFloat &value, bool &valid) {
        valid = true;
        return castFloat(value, to, saturating);
      });
}

#define GET_OP_CLASSES
#include "kvfuse/Dialect/KV/IR/KVOps.cpp.inc"
