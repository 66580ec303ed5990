//===- KVWriteOp.td - kv.write -----------------------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every example below is a whole function, and a test parses it.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KVWRITEOP_TD
#define KVFUSE_DIALECT_KV_IR_KVWRITEOP_TD

include "kvfuse/Dialect/KV/IR/KVBase.td"
include "kvfuse/Dialect/KV/IR/KVEnums.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def KV_WriteOp : KV_Op<"write", [
    AttrSizedOperandSegments, SingleBlock, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes rows into one or more caches at computed coordinates";
  let description = [{
    For each token of the grid, and for each destination, writes one row of
    values into the cache at coordinates that a map computes from the token's
    index values.

    - The *grid* is the common shape of the index operands, of rank g >= 1
      (nearly always `[T]`, the tokens). Index values are signed, i32 or i64,
      and are widened to i64 before any arithmetic (SX1).
    - `map` takes g grid coordinates, n index values (one per index operand)
      and r row coordinates, in this order, to all coordinates of the cache.
      Divisors are positive constants (SX2).
    - `order` takes the g grid and r row coordinates to the coordinates of the
      values: a permutation that may leave dimensions out (broadcast, SX10).
      The identity is not printed. It tells `[T, H, D]` from `[H, T, D]` also
      where T equals H (SX8).
    - Row extents come from the values; a row dimension that the values do not
      have is the coordinate of one cache dimension and takes its extent. A
      cache dimension whose coordinate is a bare row coordinate must be covered
      exactly, unless the destination is marked `box` (SX10).
    - `mask` and the region `where` (index values as i64 to an i1) say which
      tokens are written; both must hold.
    - `negative` (SX4): `wrap` adds the size of the dimension to a coordinate in
      [-size, 0), `error` leaves it out of bounds, `undefined` is the caller's
      promise that there is none.
    - `out_of_bounds` (SX5), tested per token and destination against the sizes
      of that call: `trap` makes the call fail and writes nothing outside the
      caches, `skip` leaves out that row of that destination, `undefined` is the
      caller's promise.
    - The region of a destination takes one value element to the stored element.
      It holds operations on scalars only, without effects and regions, and may
      use scalars from outside. A region that only yields its argument is not
      printed: values are then copied bit for bit (SC6).

    Of tokens with equal coordinates each stored element comes from one (SX7).
    Bytes that are not addressed are not written (SM4). What a destination
    takes, its values, mask and index values, does not overlap it (SM3): that is
    for whoever builds the operation to know.

    The tensor form has no memory effect and returns the new caches; it is
    speculatable only if nothing can trap. The buffer form writes in place.
    Operands are either all tensors or all memrefs.

    The buffer form alone has layout facts, which `kv-version-layouts` proves or
    tests:

    - `disjoint`: no destination overlaps another one, nor what is read for
      another one (SM2, SM3), so all may be written at once. Without it several
      destinations are written one after the other, as if each had a write of
      its own. Two may be parts of one memref.
    - `access(n)`, on every destination or on none: the sizes of all operands
      agree (SX10), and rows may be moved in groups of n elements, a power of
      two. For n > 1 the last row coordinate walks along the last dimension of
      values and cache, both have stride 1 in their types, and each n-th element
      of a row, the first one included, lies at an address that is a multiple
      of n elements, in values and cache.

    Example: K and V of one layer with page size 32, head-major pages, and K
    cast to fp8 on the way.

    ```mlir
    func.func @layer(%slots: tensor<?xi64>, %k: tensor<?x4x128xbf16>, %v: tensor<?x4x128xbf16>,
                     %kc: tensor<?x4x32x128xf8E4M3FN>, %vc: tensor<?x4x32x128xbf16>)
        -> (tensor<?x4x32x128xf8E4M3FN>, tensor<?x4x32x128xbf16>) {
      %kc1, %vc1 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : tensor<?x4x128xbf16> into %kc : tensor<?x4x32x128xf8E4M3FN>
            map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
        ^bb0(%x: bf16):
          %y = kv.cast %x saturating : bf16 to f8E4M3FN
          kv.yield %y : f8E4M3FN
        }
        put %v : tensor<?x4x128xbf16> into %vc : tensor<?x4x32x128xbf16>
            map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
      return %kc1, %vc1 : tensor<?x4x32x128xf8E4M3FN>, tensor<?x4x32x128xbf16>
    }
    ```

    Example: the scatter of an unfused chain, in buffer form. The mask leaves
    padding tokens out.

    ```mlir
    func.func @scatter(%page: memref<?xi64>, %offset: memref<?xi64>, %real: memref<?xi1>,
                       %k: memref<?x4x128xbf16>,
                       %kc: memref<?x32x4x128xbf16, strided<[?, ?, ?, 1], offset: ?>>) {
      kv.write at(%page, %offset : memref<?xi64>, memref<?xi64>) mask(%real : memref<?xi1>)
          negative(wrap) out_of_bounds(trap)
        put %k : memref<?x4x128xbf16>
            into %kc : memref<?x32x4x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
            map(affine_map<(t, p, o, h, d) -> (p, o, h, d)>)
      return
    }
    ```

    Example: negative slots are padding; values come head by head, and go to
    columns 512 and up of a wider row.

    ```mlir
    func.func @columns(%slots: tensor<?xi32>, %v: tensor<2x?x64xf16>, %c: tensor<?x2x576xf16>)
        -> tensor<?x2x576xf16> {
      %c1 = kv.write at(%slots : tensor<?xi32>) where {
        ^bb0(%s: i64):
          %zero = arith.constant 0 : i64
          %real = arith.cmpi sge, %s, %zero : i64
          kv.yield %real : i1
        } negative(error) out_of_bounds(skip)
        put %v : tensor<2x?x64xf16> into %c : tensor<?x2x576xf16> box
            map(affine_map<(t, s, h, c) -> (s, h, c + 512)>)
            order(affine_map<(t, h, c) -> (h, t, c)>)
      return %c1 : tensor<?x2x576xf16>
    }
    ```

    Example: rows of two columns of one buffer, moved 16 bytes at a time.

    ```mlir
    func.func @wide(%slots: memref<?xi64>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
                    %c: memref<?x128xbf16>) {
      kv.write at(%slots : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
        put %k : memref<?x64xbf16> into %c : memref<?x128xbf16> box access(8)
            map(affine_map<(t, s, d) -> (s, d)>)
        put %v : memref<?x64xbf16> into %c : memref<?x128xbf16> box access(8)
            map(affine_map<(t, s, d) -> (s, d + 64)>)
      return
    }
    ```
  }];

  let arguments = (ins
    Variadic<KV_IndexValues>:$indices,
    Optional<KV_Mask>:$mask,
    Variadic<KV_Cache>:$dests,
    Variadic<KV_Rows>:$values,
    AffineMapArrayAttr:$maps,
    AffineMapArrayAttr:$orders,
    DenseBoolArrayAttr:$boxes,
    KV_NegativePolicy:$negative,
    KV_BoundsPolicy:$out_of_bounds,
    UnitAttr:$disjoint,
    OptionalAttr<DenseI64ArrayAttr>:$accesses);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$where,
                        VariadicRegion<SizedRegion<1>>:$bodies);

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  // The regions are looked at only when their operations have been verified.
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Builds a write without regions: each value is stored as it is. Results
    /// follow from the destinations.
    OpBuilder<(ins "ValueRange":$indices, "Value":$mask, "ValueRange":$dests,
                   "ValueRange":$values, "ArrayRef<AffineMap>":$maps,
                   "ArrayRef<AffineMap>":$orders, "ArrayRef<bool>":$boxes,
                   "NegativePolicy":$negative, "BoundsPolicy":$outOfBounds)>,
    /// Builds a write whose regions the caller fills.
    OpBuilder<(ins "TypeRange":$resultTypes, "ValueRange":$operands,
                   "ArrayRef<NamedAttribute>":$attributes,
                   "unsigned":$numRegions)>
  ];

  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getDestsMutable(); }

    bool hasTensorForm() { return isa<RankedTensorType>(getDests()[0].getType()); }
    unsigned getNumDests() { return getDests().size(); }
    unsigned getNumIndices() { return getIndices().size(); }
    /// g: the rank of the token grid.
    unsigned getGridRank() {
      return cast<ShapedType>(getIndices()[0].getType()).getRank();
    }
    /// Sizes of the token grid, static where any index operand or the mask
    /// says so.
    SmallVector<int64_t> getGridShape();
    /// r: the number of row coordinates of destination `i`.
    unsigned getRowRank(unsigned i) {
      return getMap(i).getNumDims() - getGridRank() - getNumIndices();
    }
    AffineMap getMap(unsigned i) {
      return cast<AffineMapAttr>(getMaps()[i]).getValue();
    }
    AffineMap getOrder(unsigned i) {
      return cast<AffineMapAttr>(getOrders()[i]).getValue();
    }
    bool isBox(unsigned i) { return getBoxes()[i]; }
    ShapedType getDestType(unsigned i) {
      return cast<ShapedType>(getDests()[i].getType());
    }
    ShapedType getValueType(unsigned i) {
      return cast<ShapedType>(getValues()[i].getType());
    }
    Block &getBody(unsigned i) { return getBodies()[i].front(); }
    bool hasWhere() { return !getWhere().empty(); }

    /// Is the region of destination `i` the identity?
    bool isCopy(unsigned i);

    /// Position of the map's coordinate kinds in its dimension list.
    bool isGridDim(unsigned dim) { return dim < getGridRank(); }
    bool isIndexDim(unsigned dim) {
      return dim >= getGridRank() && dim < getGridRank() + getNumIndices();
    }
    unsigned getRowDim(unsigned row) {
      return getGridRank() + getNumIndices() + row;
    }

    /// The row coordinate that is coordinate `dim` of destination `i`, if that
    /// coordinate is a row coordinate alone.
    std::optional<unsigned> getBareRow(unsigned i, unsigned dim);

    /// Must the rows cover dimension `dim` of destination `i` exactly (SX10)?
    /// Its size is then the extent of the row coordinate `getBareRow(i, dim)`.
    bool isCoveredExactly(unsigned i, unsigned dim) {
      return !isBox(i) && getBareRow(i, dim);
    }

    /// Where the extent of row coordinate `row` of destination `i` is read
    /// from: a dimension of the values, or else of the cache.
    struct Extent {
      bool fromValues;
      unsigned dim;
    };
    Extent getRowExtent(unsigned i, unsigned row);
    /// That extent, if it is static, or else ShapedType::kDynamic.
    int64_t getStaticRowExtent(unsigned i, unsigned row);

    /// The values that each dimension of the map of destination `i` can take,
    /// from the static sizes of grid and rows; of index values nothing is known.
    SmallVector<Interval> getMapIntervals(unsigned i);
    /// The values of coordinate `dim` of destination `i`, before wrapping.
    Interval getCoordinateInterval(unsigned i, unsigned dim);

    /// Does coordinate `dim` of destination `i` need a bounds test (SX5)? Not if
    /// it is covered exactly, or provably inside a static size. What remains to
    /// be tested depends on the policies.
    bool needsBoundsCheck(unsigned i, unsigned dim);

    /// May coordinate `dim` of destination `i` be negative before wrapping?
    bool mayBeNegative(unsigned i, unsigned dim);

    /// Has `kv-version-layouts` seen this write: is there an `access` clause?
    bool isVersioned() { return getAccesses().has_value(); }
    /// Elements of destination `i` that are moved at once; 1 without a clause.
    int64_t getAccess(unsigned i) {
      return isVersioned() ? (*getAccesses())[i] : 1;
    }
    /// Does the last row coordinate of destination `i` walk along the last
    /// dimension of both values and cache, in steps of one, and along no other?
    /// Only such rows have groups of elements.
    bool hasInnerRow(unsigned i);

    /// Are index operands, mask, policies and the region `where` of `other`
    /// those of this write?
    bool hasSameTokens(WriteOp other);

    /// Does this write put the same rows at the same places once more: equal to
    /// `previous` in all but the caches, which are those that it returns?
    bool repeats(WriteOp previous);
  }];
}

#endif // KVFUSE_DIALECT_KV_IR_KVWRITEOP_TD
