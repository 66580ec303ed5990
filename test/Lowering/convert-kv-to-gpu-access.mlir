// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(convert-kv-to-gpu{tokens-per-thread=1},canonicalize,cse)' | FileCheck %s
// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(convert-kv-to-gpu,canonicalize,cse)' | FileCheck %s --check-prefix=LONG

// Rows of 128 are 16 groups of 8: nothing but vectors, with 16 bytes of values
// and 8 of the cache at once. What a scalar from outside does, it does to all
// elements. Sizes were tested before.

// CHECK-LABEL: func.func @whole(
// CHECK-NOT:     cf.assert
// CHECK:         gpu.launch_func
// CHECK-LABEL: gpu.func @kv_write(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x4x32x128xf8E4M3FN>, %[[V:[^:]*]]: memref<?x4x128xbf16>, %[[SCALE:[^:]*]]: f32)
// CHECK-SAME:    known_block_size = array<i32: 64, 1, 1>, kv.token_kernel = 1 : i64
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[C64:.+]] = arith.constant 64 : index
// CHECK:         %[[TOKEN:.+]] = gpu.block_id x
// CHECK-NEXT:    %[[G:.+]] = gpu.thread_id x
// CHECK-NEXT:    %[[HERE:.+]] = arith.cmpi ult, %[[G]], %[[C64]]
// CHECK-NEXT:    scf.if %[[HERE]] {
// CHECK-NEXT:      %[[ROWS:.+]]:2 = affine.delinearize_index %[[G]] into (16)
// CHECK-NEXT:      %[[D:.+]] = arith.muli %[[ROWS]]#1, %[[C8]]
// CHECK-NEXT:      %[[X:.+]] = vector.load %[[V]][%[[TOKEN]], %[[ROWS]]#0, %[[D]]] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
// CHECK-NEXT:      memref.load %{{.*}}[%[[TOKEN]]]
// CHECK-NOT:       vector.load
// CHECK:           scf.if
// CHECK-NEXT:        %[[WIDE:.+]] = arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT:        %[[SCALES:.+]] = vector.broadcast %[[SCALE]] : f32 to vector<8xf32>
// CHECK-NEXT:        %[[SCALED:.+]] = arith.mulf %[[WIDE]], %[[SCALES]] : vector<8xf32>
// CHECK-NEXT:        %[[Y:.+]] = kv.cast %[[SCALED]] saturating : vector<8xf32> to vector<8xf8E4M3FN>
// CHECK-NEXT:        vector.store %[[Y]], %[[C]][%{{.+}}, %[[ROWS]]#0, %{{.+}}, %[[D]]] {alignment = 8 : i64}
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return

// In a long step a thread has several tokens, here four. It loads all groups and all
// slots before it branches, the last token's in place of one that does not exist.

// LONG-LABEL:  func.func @whole(
// LONG:          %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c2048
// LONG-NEXT:     scf.if %[[FEW]] {
// LONG:            gpu.launch_func @kernels::@kv_write blocks in (%dim, %c1, %c1)
// LONG:          } else {
// LONG:            %[[QUARTER:.*]] = arith.ceildivui %dim, %c4
// LONG:            gpu.launch_func @kernels::@kv_write_0 blocks in (%[[QUARTER]], %c1, %c1)
// LONG-LABEL: gpu.func @kv_write_0(
// LONG-SAME:    kv.token_kernel = 4 : i64
// LONG-DAG:     %[[COUNT:.+]] = memref.dim %arg0
// LONG-DAG:     %[[BLOCK:.+]] = gpu.block_id x
// LONG-DAG:     %[[LAST:.+]] = arith.subi %[[COUNT]], %c1
// LONG-DAG:     %[[FIRST:.+]] = arith.muli %[[BLOCK]], %c4
// LONG-DAG:     %[[NEXT:.+]] = arith.addi %[[FIRST]], %c1
// LONG:         %[[EXISTS:.+]] = arith.cmpi ult, %[[NEXT]], %[[COUNT]]
// LONG-NEXT:    %[[SECOND:.+]] = arith.minui %[[NEXT]], %[[LAST]]
// LONG:         scf.if
// LONG:           %[[X:.+]] = vector.load %{{.*}}[%[[FIRST]],
// LONG-NEXT:      memref.load %arg0[%[[FIRST]]]
// LONG-NEXT:      %[[Y:.+]] = vector.load %{{.*}}[%[[SECOND]],
// LONG-NEXT:      memref.load %arg0[%[[SECOND]]]
// LONG:           scf.if
// LONG-NEXT:        arith.extf %[[X]]
// LONG:             vector.store %{{.*}} {alignment = 8 : i64}
// LONG-NEXT:      }
// LONG-NEXT:      scf.if %[[EXISTS]] {
// LONG:             scf.if
// LONG-NEXT:          arith.extf %[[Y]]
// LONG:               vector.store %{{.*}} {alignment = 8 : i64}
func.func @whole(%s: memref<?xi64>, %v: memref<?x4x128xbf16>, %c: memref<?x4x32x128xf8E4M3FN>, %scale: f32) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(skip)
    put %v : memref<?x4x128xbf16> into %c : memref<?x4x32x128xf8E4M3FN> access(8)
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
    ^bb0(%x: bf16):
      %wide = arith.extf %x : bf16 to f32
      %scaled = arith.mulf %wide, %scale : f32
      %y = kv.cast %scaled saturating : f32 to f8E4M3FN
      kv.yield %y : f8E4M3FN
    }
  return
}

// -----

// Rows of 46 end with a group of 6, which goes element by element; so does any
// group at the end of a row whose size is not known. 64 bytes are four accesses
// of 16.

// Such groups are not loaded before it is known what they are.

// CHECK-LABEL: gpu.func @kv_write(
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[C46:.+]] = arith.constant 46 : index
// CHECK:         %[[D:.+]] = arith.muli %{{.+}}, %[[C8]]
// CHECK:         %[[END:.+]] = arith.addi %[[D]], %[[C8]]
// CHECK-NEXT:    %[[WHOLE:.+]] = arith.cmpi ule, %[[END]], %[[C46]]
// CHECK-NEXT:    scf.if %[[WHOLE]] {
// CHECK-NEXT:      vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
// CHECK-NEXT:      vector.store
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[LAST:.+]] = arith.minui %[[END]], %[[C46]]
// CHECK-NEXT:      scf.for %[[E:.+]] = %[[D]] to %[[LAST]] step %[[C1]] {
// CHECK-NEXT:        %[[X:.+]] = memref.load %{{.*}}[%{{.*}}, %[[E]]]
// CHECK-NEXT:        memref.store %[[X]], %{{.*}}[%{{.*}}, %[[E]]]

// CHECK-LABEL: gpu.func @kv_write_0(
// CHECK:         %[[SIZE:.+]] = memref.dim
// CHECK:         arith.ceildivui %[[SIZE]]
// CHECK:         arith.cmpi ule, %{{.+}}, %[[SIZE]]
// CHECK:           vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<16xf32>
// CHECK:           vector.store {{.*}} {alignment = 16 : i64} : {{.*}}, vector<16xf32>
// CHECK:         } else {
// CHECK-NEXT:      arith.minui %{{.+}}, %[[SIZE]]
func.func @tail(%s: memref<?xi64>, %v: memref<?x46xbf16, strided<[48, 1]>>, %c: memref<?x46xbf16, strided<[48, 1]>>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x46xbf16, strided<[48, 1]>> into %c : memref<?x46xbf16, strided<[48, 1]>> access(8)
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}
func.func @dynamic(%s: memref<?xi64>, %v: memref<?x?xf32>, %c: memref<?x?xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x?xf32> into %c : memref<?x?xf32> access(16)
        map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// The last coordinate depends on the index value. A group of which an element is
// out of bounds, or to be wrapped, is tested and moved element by element. An
// access by one element is what it is without a clause.

// CHECK-LABEL: gpu.func @kv_write(
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK:         %[[X:.+]] = vector.load {{.*}} {alignment = 4 : i64} : {{.*}}, vector<4xi8>
// CHECK-NEXT:    memref.load %{{.*}} : memref<?xi64>
// CHECK:         %[[FIRST:.+]] = affine.apply
// CHECK-NEXT:    %[[LAST:.+]] = arith.addi %[[FIRST]], %[[C3]] : index
// CHECK-NEXT:    %[[SIZE:.+]] = memref.dim
// CHECK-NEXT:    %[[FIRST_IN:.+]] = arith.cmpi ult, %[[FIRST]], %[[SIZE]]
// CHECK-NEXT:    %[[LAST_IN:.+]] = arith.cmpi ult, %[[LAST]], %[[SIZE]]
// CHECK-NEXT:    %[[IN:.+]] = arith.andi %[[FIRST_IN]], %[[LAST_IN]]
// CHECK-NEXT:    scf.if %[[IN]] {
// CHECK-NEXT:      vector.store %[[X]], %{{.*}}[%[[FIRST]]] {alignment = 4 : i64}
// CHECK-NEXT:    } else {
// CHECK:           scf.for
// CHECK-NEXT:        %[[I:.+]] = affine.apply
// CHECK-NEXT:        %[[NEGATIVE:.+]] = arith.cmpi slt, %[[I]]
// CHECK-NEXT:        %[[WRAPPED:.+]] = arith.addi %[[I]], %[[SIZE]]
// CHECK-NEXT:        %[[PLACE:.+]] = arith.select %[[NEGATIVE]], %[[WRAPPED]], %[[I]]
// CHECK-NEXT:        %[[INSIDE:.+]] = arith.cmpi ult, %[[PLACE]], %[[SIZE]]
// CHECK-NEXT:        cf.assert %[[INSIDE]], "SX5: index out of bounds in destination 0"
// CHECK-NEXT:        scf.if %[[INSIDE]] {

// Nothing is tested, so a coordinate may only be negative.

// CHECK-LABEL: gpu.func @kv_write_0(
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK:         %[[FIRST:.+]] = affine.apply
// CHECK-NEXT:    %[[IN:.+]] = arith.cmpi sge, %[[FIRST]], %[[C0]]
// CHECK-NEXT:    scf.if %[[IN]] {
// CHECK-NEXT:      vector.store

// CHECK-LABEL: gpu.func @kv_write_1(
// CHECK-NOT:     vector
// CHECK:         gpu.return
func.func @mixed(%s: memref<?xi64>, %v: memref<?x8xi8>, %c: memref<?xi8>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xi8> into %c : memref<?xi8> access(4)
        map(affine_map<(t, s, d) -> (s * 16 + d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(undefined)
    put %v : memref<?x8xi8> into %c : memref<?xi8> access(4)
        map(affine_map<(t, s, d) -> (s * 16 + d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xi8> into %c : memref<?xi8> access(1)
        map(affine_map<(t, s, d) -> (s * 16 + d)>)
  return
}

// -----

// What is not elementwise, or is lowered to scalars only, is done for each
// element; what does not depend on the element once.

// CHECK-LABEL: gpu.func @kv_write(
// CHECK-SAME:    %[[BIAS:[^:]*]]: i64)
// CHECK:         %[[X:.+]] = vector.load {{.*}}, vector<2xi64>
// CHECK:         %[[TWICE:.+]] = arith.addi %[[BIAS]], %[[BIAS]] : i64
// CHECK-NEXT:    %[[X0:.+]] = vector.extract %[[X]][0] : i64 from vector<2xi64>
// CHECK-NEXT:    %[[I0:.+]] = arith.index_cast %[[X0]]
// CHECK-NEXT:    %[[J0:.+]] = affine.apply #{{.*}}(%[[I0]])
// CHECK-NEXT:    %[[Y0:.+]] = arith.index_cast %[[J0]]
// CHECK-NEXT:    %[[X1:.+]] = vector.extract %[[X]][1] : i64 from vector<2xi64>
// CHECK-NEXT:    %[[I1:.+]] = arith.index_cast %[[X1]]
// CHECK-NEXT:    %[[J1:.+]] = affine.apply #{{.*}}(%[[I1]])
// CHECK-NEXT:    %[[Y1:.+]] = arith.index_cast %[[J1]]
// CHECK-NEXT:    %[[Y:.+]] = vector.from_elements %[[Y0]], %[[Y1]] : vector<2xi64>
// CHECK-NEXT:    %[[TWICES:.+]] = vector.broadcast %[[TWICE]] : i64 to vector<2xi64>
// CHECK-NEXT:    %[[Z:.+]] = arith.muli %[[Y]], %[[TWICES]] : vector<2xi64>
// CHECK-NEXT:    vector.store %[[Z]]

// CHECK-LABEL: gpu.func @kv_write_0(
// CHECK:         %[[SEVENS:.+]] = arith.constant dense<7> : vector<2xi64>
// CHECK:         vector.store %[[SEVENS]]
func.func @regions(%s: memref<?xi64>, %v: memref<?x8xi64>, %c: memref<?x8xi64>, %bias: i64) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xi64> into %c : memref<?x8xi64> access(2)
        map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: i64):
      %twice = arith.addi %bias, %bias : i64
      %y = kv.apply affine_map<(x) -> (x mod 5)>(%x) : i64
      %z = arith.muli %y, %twice : i64
      kv.yield %z : i64
    }
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xi64> into %c : memref<?x8xi64> access(2)
        map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: i64):
      %seven = arith.constant 7 : i64
      kv.yield %seven : i64
    }
  return
}

// -----

// One launch for both destinations, each with groups of its own, if they are
// disjoint; else one after the other, each with its groups.

// CHECK-LABEL: func.func @several(
// CHECK-NOT:     cf.assert
// CHECK-COUNT-3: gpu.launch_func
// CHECK-NOT:     gpu.launch_func
// CHECK-LABEL: gpu.func @kv_write(
// CHECK:         vector<4xf32>
// CHECK:         } else {
// CHECK:         vector<2xf32>
// CHECK:         gpu.return
// CHECK-LABEL: gpu.func @kv_write_0(
// CHECK-NOT:     vector<2xf32>
// CHECK:         gpu.return
// CHECK-LABEL: gpu.func @kv_write_1(
// CHECK-NOT:     vector<4xf32>
// CHECK:         gpu.return
func.func @several(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip) disjoint
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> access(4) map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> access(2) map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> access(4) map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> access(2) map(affine_map<(t, s, d) -> (s, d)>)
  return
}
