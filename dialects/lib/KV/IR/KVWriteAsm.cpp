//===- KVWriteAsm.cpp - Syntax of kv.write --------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kv.write at(%i, ... : type, ...) [mask(%m : type)] [where { region }]
//     negative(policy) out_of_bounds(policy) [disjoint]
//   put %values : type into %cache : type [box] [access(n)] map(#map)
//       [order(#map)] [{ region }]
//   ...
//   [attributes { ... }]
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/IR/KV.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::kv;

namespace {
/// What the clauses `put ...` of one write have been parsed into.
struct Clauses {
  SmallVector<Value> dests, values;
  SmallVector<AffineMap> maps, orders;
  SmallVector<bool> boxes;
  SmallVector<int64_t> accesses;
  SmallVector<std::unique_ptr<Region>> bodies;
};
} // namespace

/// Parses `keyword ( policy )`.
template <typename Policy>
static ParseResult parsePolicy(OpAsmParser &parser, StringRef keyword,
                               Policy &policy,
                               std::optional<Policy> (*symbolize)(StringRef),
                               StringRef rule, StringRef allowed) {
  StringRef name;
  if (parser.parseKeyword(keyword) || parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseRParen())
    return failure();
  std::optional<Policy> parsed = symbolize(name);
  if (!parsed)
    return parser.emitError(loc)
           << rule << ": unknown policy '" << name << "' for '" << keyword
           << "', expects one of " << allowed;
  policy = *parsed;
  return success();
}

/// Parses `%name : type` into a resolved value.
static ParseResult parseTyped(OpAsmParser &parser,
                              SmallVectorImpl<Value> &values) {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  if (parser.parseOperand(operand) || parser.parseColonType(type))
    return failure();
  SMLoc loc = operand.location;
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return parser.emitError(loc, "expects a ranked tensor or memref, but got ")
           << type;
  return parser.resolveOperand(operand, type, values);
}

static ParseResult parseMap(OpAsmParser &parser, AffineMap &map) {
  AffineMapAttr attr;
  if (parser.parseLParen() || parser.parseAttribute(attr) ||
      parser.parseRParen())
    return failure();
  map = attr.getValue();
  return success();
}

/// Parses one clause; the keyword `put` has been read.
static ParseResult parseClause(OpAsmParser &parser, unsigned numIndices,
                               Clauses &clauses) {
  AffineMap map, order;
  if (parseTyped(parser, clauses.values) || parser.parseKeyword("into") ||
      parseTyped(parser, clauses.dests))
    return failure();
  clauses.boxes.push_back(succeeded(parser.parseOptionalKeyword("box")));
  if (succeeded(parser.parseOptionalKeyword("access")))
    if (parser.parseLParen() ||
        parser.parseInteger(clauses.accesses.emplace_back()) ||
        parser.parseRParen())
      return failure();
  SMLoc mapLoc = parser.getCurrentLocation();
  if (parser.parseKeyword("map") || parseMap(parser, map))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    if (parseMap(parser, order))
      return failure();
  } else {
    if (map.getNumDims() < numIndices)
      return parser.emitError(mapLoc, "expects a dimension per index operand");
    order = AffineMap::getMultiDimIdentityMap(map.getNumDims() - numIndices,
                                              parser.getContext());
  }
  clauses.maps.push_back(map);
  clauses.orders.push_back(order);

  auto body = std::make_unique<Region>();
  OptionalParseResult parsed = parser.parseOptionalRegion(*body);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
  } else {
    OpBuilder builder(parser.getContext());
    Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
    Type element =
        cast<ShapedType>(clauses.values.back().getType()).getElementType();
    Block *block = builder.createBlock(body.get(), {}, element, loc);
    YieldOp::create(builder, loc, block->getArgument(0));
  }
  clauses.bodies.push_back(std::move(body));
  return success();
}

ParseResult WriteOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SmallVector<Value> indices, mask;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("at") || parser.parseLParen() ||
      parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
      parser.parseRParen() ||
      parser.resolveOperands(operands, types, loc, indices))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mask")))
    if (parser.parseLParen() || parseTyped(parser, mask) ||
        parser.parseRParen())
      return failure();
  auto where = std::make_unique<Region>();
  if (succeeded(parser.parseOptionalKeyword("where")) &&
      parser.parseRegion(*where))
    return failure();

  NegativePolicy negative;
  BoundsPolicy outOfBounds;
  if (parsePolicy(parser, "negative", negative, symbolizeNegativePolicy, "SX4",
                  "wrap, error, undefined") ||
      parsePolicy(parser, "out_of_bounds", outOfBounds, symbolizeBoundsPolicy,
                  "SX5", "trap, skip, undefined"))
    return failure();

  bool disjoint = succeeded(parser.parseOptionalKeyword("disjoint"));

  Clauses clauses;
  if (parser.parseKeyword("put"))
    return failure();
  do {
    if (parseClause(parser, indices.size(), clauses))
      return failure();
  } while (succeeded(parser.parseOptionalKeyword("put")));
  SMLoc dictLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  // What has a clause of its own would override that clause from here.
  for (StringRef name : getAttributeNames())
    if (result.attributes.get(name))
      return parser.emitError(dictLoc, "attribute '")
             << name << "' is not discardable: it has its own clause";

  // The builder makes identity regions; put the parsed ones in their place.
  OpBuilder builder(parser.getContext());
  build(builder, result, indices, mask.empty() ? Value() : mask.front(),
        clauses.dests, clauses.values, clauses.maps, clauses.orders,
        clauses.boxes, negative, outOfBounds);
  Properties &properties = result.getOrAddProperties<Properties>();
  if (disjoint)
    properties.disjoint = builder.getUnitAttr();
  if (!clauses.accesses.empty())
    properties.accesses = builder.getDenseI64ArrayAttr(clauses.accesses);
  result.regions[0]->takeBody(*where);
  for (auto [region, body] :
       llvm::zip_equal(llvm::drop_begin(result.regions), clauses.bodies))
    region->takeBody(*body);
  return success();
}

void WriteOp::print(OpAsmPrinter &p) {
  p << " at(" << getIndices() << " : " << getIndices().getTypes() << ")";
  if (Value mask = getMask())
    p << " mask(" << mask << " : " << mask.getType() << ")";
  if (hasWhere()) {
    p << " where ";
    p.printRegion(getWhere());
  }
  p << " negative(" << stringifyEnum(getNegative()) << ") out_of_bounds("
    << stringifyEnum(getOutOfBounds()) << ")";
  if (getDisjoint())
    p << " disjoint";
  p.increaseIndent();
  for (unsigned i = 0; i < getNumDests(); ++i) {
    p.printNewline();
    p << "put " << getValues()[i] << " : " << getValueType(i) << " into "
      << getDests()[i] << " : " << getDestType(i);
    if (isBox(i))
      p << " box";
    if (isVersioned())
      p << " access(" << getAccess(i) << ")";
    p << " map(" << getMaps()[i] << ")";
    if (!getOrder(i).isIdentity())
      p << " order(" << getOrders()[i] << ")";
    if (!isCopy(i)) {
      p << ' ';
      p.printRegion(getBodies()[i]);
    }
  }
  p.decreaseIndent();
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getMapsAttrName(), getOrdersAttrName(), getBoxesAttrName(),
       getNegativeAttrName(), getOutOfBoundsAttrName(), getDisjointAttrName(),
       getAccessesAttrName(), getOperandSegmentSizesAttrName()});
}
