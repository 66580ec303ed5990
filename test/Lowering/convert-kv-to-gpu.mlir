// RUN: kvfuse-opt %s -split-input-file -pass-pipeline='builtin.module(convert-kv-to-gpu,canonicalize,cse)' | FileCheck %s

// The example of the description, whole.

// CHECK:       module attributes {gpu.container_module} {
// CHECK-NEXT:    func.func @example(%[[S:.*]]: memref<4xi64>, %[[V:.*]]: memref<4x8xf32>, %[[C:.*]]: memref<?x8xf32>) {
// CHECK-DAG:       %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:       %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:       %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT:      gpu.launch_func @kernels::@kv_write blocks in (%[[C4]], %[[C1]], %[[C1]]) threads in (%[[C32]], %[[C1]], %[[C1]])
// CHECK-SAME:        args(%[[S]] : memref<4xi64>, %[[C]] : memref<?x8xf32>, %[[V]] : memref<4x8xf32>)
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.module @kernels {
// CHECK-NEXT:      gpu.func @kv_write(%[[S:.*]]: memref<4xi64>, %[[C:.*]]: memref<?x8xf32>, %[[V:.*]]: memref<4x8xf32>) kernel
// CHECK-SAME:          attributes {known_block_size = array<i32: 32, 1, 1>, kv.token_kernel = 1 : i64} {
// CHECK-NEXT:        %[[C8:.*]] = arith.constant 8 : index
// CHECK-NEXT:        %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:        %[[TOKEN:.*]] = gpu.block_id x
// CHECK-NEXT:        %[[D:.*]] = gpu.thread_id x
// CHECK-NEXT:        %[[HERE:.*]] = arith.cmpi ult, %[[D]], %[[C8]]
// CHECK-NEXT:        scf.if %[[HERE]] {
// CHECK-NEXT:          %[[X:.*]] = memref.load %[[V]][%[[TOKEN]], %[[D]]]
// CHECK-NEXT:          %[[SLOT:.*]] = memref.load %[[S]][%[[TOKEN]]] {alignment = 8 : i64}
// CHECK-NEXT:          %[[ROW:.*]] = arith.index_cast %[[SLOT]] : i64 to index
// CHECK-NEXT:          %[[ROWS:.*]] = memref.dim %[[C]], %[[C0]]
// CHECK-NEXT:          %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %[[ROWS]]
// CHECK-NEXT:          scf.if %[[INSIDE]] {
// CHECK-NEXT:            memref.store %[[X]], %[[C]][%[[ROW]], %[[D]]]
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        gpu.return
func.func @example(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<4xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<4x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// One launch: tokens on grid x (case B8), rows on grid y and threads, inside an
// scf.if for an empty grid or empty rows (SX9, case B6). An i32 index is widened
// with its sign (SX1). Sign and bounds are tested before an address is formed
// (SX4, SX5), and `s mod 32` in a static 32 is not tested at all. A division by a
// power of two is a shift (SX2). The element and its slot are loaded side by side.

// CHECK:       module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @pages(
// CHECK-SAME:    %[[S:.*]]: memref<?xi32>, %[[V:.*]]: memref<?x4x8xf32>, %[[C:.*]]: memref<?x4x32x8xf8E5M2>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK:         %[[ROWS:.*]] = memref.dim %[[V]], %[[C0]]
// CHECK:         %[[T:.*]] = memref.dim %[[S]], %[[C0]]
// CHECK:         %[[EQ:.*]] = arith.cmpi eq, %[[ROWS]], %[[T]]
// CHECK-NEXT:    cf.assert %[[EQ]], "SX10: values of destination 0 and index tensor differ in the number of rows"
// CHECK-NEXT:    %[[ANY:.*]] = arith.cmpi ne, %[[T]], %[[C0]]
// CHECK-NEXT:    scf.if %[[ANY]] {
// CHECK-NEXT:      gpu.launch_func @kernels::@kv_write blocks in (%[[T]], %[[C1]], %[[C1]]) threads in (%[[C32]], %[[C1]], %[[C1]])
// CHECK-SAME:        args(%[[S]] : memref<?xi32>, %[[C]] : memref<?x4x32x8xf8E5M2>, %[[V]] : memref<?x4x8xf32>)
// CHECK-NEXT:    }
// CHECK:       gpu.module @kernels {
// CHECK:         gpu.func @kv_write(%[[KS:.*]]: memref<?xi32>, %[[KC:.*]]: memref<?x4x32x8xf8E5M2>, %[[KV:.*]]: memref<?x4x8xf32>) kernel
// CHECK-DAG:       %[[K0:.*]] = arith.constant 0 : index
// CHECK-DAG:       %[[K5:.*]] = arith.constant 5 : index
// CHECK-DAG:       %[[K32:.*]] = arith.constant 32 : index
// CHECK:           %[[TOKEN:.*]] = gpu.block_id x
// CHECK-NEXT:      %[[E:.*]] = gpu.thread_id x
// CHECK-NEXT:      %[[HERE:.*]] = arith.cmpi ult, %[[E]], %[[K32]]
// CHECK-NEXT:      scf.if %[[HERE]] {
// CHECK-NEXT:        %[[HD:.*]]:2 = affine.delinearize_index %[[E]] into (8)
// CHECK-NEXT:        %[[X:.*]] = memref.load %[[KV]][%[[TOKEN]], %[[HD]]#0, %[[HD]]#1]
// CHECK-NEXT:        %[[NARROW:.*]] = memref.load %[[KS]][%[[TOKEN]]] {alignment = 4 : i64}
// CHECK-NEXT:        %[[I:.*]] = arith.index_cast %[[NARROW]] : i32 to index
// CHECK-NEXT:        %[[P:.*]] = arith.shrsi %[[I]], %[[K5]]
// CHECK-NEXT:        %[[NEG:.*]] = arith.cmpi slt, %[[P]], %[[K0]]
// CHECK-NEXT:        %[[N:.*]] = memref.dim %[[KC]], %[[K0]]
// CHECK-NEXT:        %[[SUM:.*]] = arith.addi %[[P]], %[[N]]
// CHECK-NEXT:        %[[PAGE:.*]] = arith.select %[[NEG]], %[[SUM]], %[[P]]
// CHECK-NEXT:        %[[IN:.*]] = arith.cmpi ult, %[[PAGE]], %[[N]]
// CHECK-NEXT:        %[[OFFSET:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK-NEXT:        cf.assert %[[IN]], "SX5: index out of bounds in destination 0"
// CHECK-NEXT:        scf.if %[[IN]] {
// CHECK-NEXT:          %[[Y:.*]] = kv.cast %[[X]] : f32 to f8E5M2
// CHECK-NEXT:          memref.store %[[Y]], %[[KC]][%[[PAGE]], %[[HD]]#0, %[[OFFSET]], %[[HD]]#1]
func.func @pages(%s: memref<?xi32>, %v: memref<?x4x8xf32>, %c: memref<?x4x32x8xf8E5M2>) {
  kv.write at(%s : memref<?xi32>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x4x8xf32> into %c : memref<?x4x32x8xf8E5M2>
    map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
    ^bb0(%e: f32):
      %y = kv.cast %e : f32 to f8E5M2
      kv.yield %y : f8E5M2
    }
  return
}

// -----

// SX4: `error` does not wrap; one unsigned comparison says that a negative
// coordinate is out of bounds. SX5: `skip` traps nowhere.

// CHECK-LABEL: func.func @skip(
// CHECK:         gpu.func @kv_write(
// CHECK-NOT:     arith.select
// CHECK-NOT:     cf.assert
// CHECK:         %[[SLOT:.*]] = arith.index_cast
// CHECK-NOT:     arith.select
// CHECK-NOT:     cf.assert
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[SLOT]],
// CHECK-NEXT:    scf.if %[[IN]] {
// CHECK-NEXT:      memref.store
func.func @skip(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// Promised to be neither: no test but for the number of the thread.

// CHECK-LABEL: func.func @undefined(
// CHECK:         gpu.func @kv_write(
// CHECK:         arith.cmpi ult, %thread_id_x, %c8
// CHECK-NEXT:    scf.if
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     scf.if
// CHECK:         memref.store
func.func @undefined(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(undefined) out_of_bounds(undefined)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// A coordinate that mixes index and row is tested for each element (SX5), and so
// is the row in a box. What is compared with a size is known before any store.

// CHECK-LABEL: func.func @mixed(
// CHECK-NOT:     cover dimension
// CHECK:         gpu.func @kv_write(
// CHECK:           %[[PAGE:.*]] = arith.shrsi
// CHECK:           %[[PAGE_IN:.*]] = arith.cmpi ult, %[[PAGE]],
// CHECK:           %[[ROW:.*]] = affine.apply #{{.*}}(%{{.*}})[%thread_id_x]
// CHECK:           %[[ROW_IN:.*]] = arith.cmpi ult, %[[ROW]],
// CHECK-NEXT:      %[[IN:.*]] = arith.andi %[[PAGE_IN]], %[[ROW_IN]]
// CHECK-NEXT:      cf.assert %[[IN]], "SX5: index out of bounds in destination 0"
// CHECK-NEXT:      scf.if %[[IN]] {
// CHECK-NEXT:        memref.store %{{.*}}, %{{.*}}[%[[PAGE]], %[[ROW]]]
func.func @mixed(%s: memref<?xi64>, %v: memref<?x132xi8>, %c: memref<?x?xi8>) {
  kv.write at(%s : memref<?xi64>) negative(error) out_of_bounds(trap)
    put %v : memref<?x132xi8> into %c : memref<?x?xi8> box
    map(affine_map<(t, s, r) -> (s floordiv 32, (s mod 32) * 132 + r)>)
  return
}

// -----

// A grid of rank 2, values in another order (SX8) and without one of the row
// dimensions, whose extent is then the cache's (SX10).

// CHECK-LABEL: func.func @grid(
// CHECK-SAME:    %[[S:.*]]: memref<?x?xi64>, %[[V:.*]]: memref<?x8x?xf32>, %[[C:.*]]: memref<?x?x8xf32>)
// CHECK-DAG:     cf.assert %{{.*}}, "SX10: values of destination 0 and index tensor differ in the number of rows"
// CHECK:         gpu.launch_func @kernels::@kv_write blocks in (%[[BLOCKS:.*]], %[[Y:.*]], %{{.*}}) threads
// CHECK:       gpu.func @kv_write(%[[KS:.*]]: memref<?x?xi64>, %[[KC:.*]]: memref<?x?x8xf32>, %[[KV:.*]]: memref<?x8x?xf32>)
// CHECK:         %[[H:.*]] = memref.dim %[[KC]], %{{.*}}
// CHECK:         %[[ALL:.*]] = arith.muli %[[H]], %{{.*}}
// CHECK:         %[[BLOCK:.*]] = gpu.block_id x
// CHECK:         %[[T:.*]]:2 = affine.delinearize_index %[[BLOCK]] into (%{{.*}})
// CHECK:         scf.for %[[E:.*]] = %{{.*}} to %[[ALL]] step
// CHECK-NEXT:      %[[ROW:.*]]:2 = affine.delinearize_index %[[E]] into (8)
// CHECK-NEXT:      memref.load %[[KV]][%[[T]]#1, %[[ROW]]#1, %[[T]]#0]
// CHECK-NEXT:      memref.load %[[KS]][%[[T]]#0, %[[T]]#1]
// CHECK:           memref.store %{{.*}}, %[[KC]][%{{.*}}, %[[ROW]]#0, %[[ROW]]#1]
func.func @grid(%s: memref<?x?xi64>, %v: memref<?x8x?xf32>, %c: memref<?x?x8xf32>) {
  kv.write at(%s : memref<?x?xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<?x8x?xf32> into %c : memref<?x?x8xf32>
    map(affine_map<(a, b, s, h, d) -> (s, h, d)>) order(affine_map<(a, b, h, d) -> (b, d, a)>)
  return
}

// -----

// Mask and region `where` together: nothing is computed for a token of which they
// say no, and nothing waits for them that could be loaded before. A constant that a region uses from outside is
// cloned, a value is an argument.

// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    %[[F:[^:]*]]: f32
// CHECK:         cf.assert %{{.*}}, "SX10: mask and index tensor differ in size"
// CHECK:         gpu.launch_func {{.*}} args({{.*}}, %[[F]] : f32)
// CHECK:       gpu.func @kv_write({{.*}}, %[[KM:.*]]: memref<?xi1>, %{{.*}}: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>, %[[KF:.*]]: f32)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         memref.load %{{.*}} : memref<?x8xf32>
// CHECK-NEXT:    %[[S:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK-NEXT:    %[[M:.*]] = memref.load %[[KM]]
// CHECK:         %[[P:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:         %[[NE:.*]] = arith.cmpi ne, %[[P]], %{{.*}} : i64
// CHECK:         %[[ON:.*]] = arith.andi %[[M]], %[[NE]]
// CHECK:         scf.if %[[ON]] {
// CHECK:           %[[X:.*]] = arith.mulf %{{.*}}, %[[KF]]
// CHECK:           %[[Y:.*]] = arith.addf %[[X]], %[[TWO]]
// CHECK:           memref.store %[[Y]]
// CHECK-NOT:     kv.apply
func.func @mask(%f: f32, %s: memref<?xi64>, %m: memref<?xi1>, %v: memref<?x8xf32>, %c: memref<?x8xf32>) {
  %two = arith.constant 2.0 : f32
  kv.write at(%s : memref<?xi64>) mask(%m : memref<?xi1>) where {
    ^bb0(%e: i64):
      %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%e) : i64
      %c3 = arith.constant 3 : i64
      %ne = arith.cmpi ne, %p, %c3 : i64
      kv.yield %ne : i1
    } negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%e: f32):
      %x = arith.mulf %e, %f : f32
      %y = arith.addf %x, %two : f32
      kv.yield %y : f32
    }
  return
}

// -----

// SX10: what the verifier could not compare is compared before the launch.

// CHECK-LABEL: func.func @sizes(
// CHECK-DAG:     "SX10: index tensors differ in size"
// CHECK-DAG:     "SX10: values of destination 0 and index tensor differ in the number of rows"
// CHECK-DAG:     "SX10: rows of destination 0 do not cover dimension 2 of the cache"
// CHECK-DAG:     "SX10: rows of destination 1 do not cover dimension 2 of the cache"
// CHECK:         scf.if
// CHECK:           gpu.launch_func
func.func @sizes(%p: memref<?xi64>, %o: memref<?xi64>, %v: memref<?x?xf32>, %c: memref<?x4x?xf32>, %w: memref<?x8xf32>, %d: memref<?x4x?xf32>) {
  kv.write at(%p, %o : memref<?xi64>, memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x?xf32> into %c : memref<?x4x?xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
    put %w : memref<?x8xf32> into %d : memref<?x4x?xf32> map(affine_map<(t, p, o, d) -> (p, o, d)>)
  return
}

// -----

// Several destinations lie side by side in the walk. Those that are alike differ in
// nothing but what they lie in, which is selected; others are behind a branch.
// Equal signatures share a kernel, also with other functions; a kernel's name gives
// way to one there is.

// CHECK-LABEL: func.func @kernels(
// CHECK:         gpu.launch_func @[[M:.*]]::@kv_write blocks
// CHECK:         gpu.launch_func @[[M]]::@kv_write_0 blocks
// CHECK-LABEL: func.func @again(
// CHECK:         gpu.launch_func @[[M]]::@kv_write blocks
// CHECK:       gpu.module @[[M]] {
// CHECK:         gpu.func @kv_write(%[[S:.*]]: memref<?xi64>, %[[C:.*]]: memref<?x8xf32>, %[[D:.*]]: memref<?x8xf32>, %[[V:.*]]: memref<?x8xf32>)
// CHECK:           %[[HERE:.*]] = arith.cmpi ult, %thread_id_x, %c16
// CHECK-NEXT:      scf.if %[[HERE]] {
// CHECK-NEXT:        %[[BEHIND:.*]] = arith.cmpi uge, %thread_id_x, %c8
// CHECK-NEXT:        %[[CACHE:.*]] = arith.select %[[BEHIND]], %[[D]], %[[C]] : memref<?x8xf32>
// CHECK-NEXT:        %[[E:.*]] = arith.remui %thread_id_x, %c8
// CHECK-NEXT:        %[[X:.*]] = memref.load %[[V]][%block_id_x, %[[E]]]
// CHECK-NEXT:        memref.load %[[S]]
// CHECK:             %[[ROWS:.*]] = memref.dim %[[CACHE]]
// CHECK:             cf.assert %{{.*}}, "SX5: index out of bounds in one of destinations 0 to 1"
// CHECK-NEXT:        scf.if
// CHECK-NEXT:          memref.store %[[X]], %[[CACHE]][%{{.*}}, %[[E]]]
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
// CHECK:         gpu.func @kv_write_0(
// CHECK-NOT:     gpu.func
// CHECK-LABEL: func.func @unlike(
// CHECK:         gpu.func @kv_write(
// CHECK:           %[[FIRST:.*]] = arith.cmpi ult, %thread_id_x, %c8
// CHECK-NEXT:      scf.if %[[FIRST]] {
// CHECK-NEXT:        memref.load
// CHECK-NEXT:        memref.load %{{.*}} : memref<?xi64>
// CHECK:           } else {
// CHECK-NEXT:        %[[E:.*]] = arith.subi %thread_id_x, %c8
// CHECK-NEXT:        memref.load %{{.*}}[%block_id_x, %[[E]]] : memref<?x4xf32>
// CHECK-NEXT:        memref.load %{{.*}} : memref<?xi64>
func.func @kernels(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
func.func @again(%s: memref<?xi64>, %v: memref<?x8xf32>, %c: memref<?x8xf32>, %d: memref<?x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %v : memref<?x8xf32> into %d : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

func.func @unlike(%s: memref<?xi64>, %v: memref<?x8xf32>, %w: memref<?x4xf32>, %c: memref<?x8xf32>, %d: memref<?x4xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
    put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
    put %w : memref<?x4xf32> into %d : memref<?x4xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// -----

// An elementwise operation of an unfused chain: threads over its elements, named
// after what it does. A thread loads four of its block's share, as far apart as
// the block has threads, before it stores any; those behind the last are loaded
// from there, and not stored. Operands of other sizes are an error before the launch. A
// scalar kv.apply of host code is lowered too.

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[S:.*]]: memref<?xi64>, %[[P:.*]]: memref<?xi64>, %[[I:.*]]: i64) -> i64 {
// CHECK-NOT:     kv.apply
// CHECK:         cf.assert %{{.*}}, "SX10: operands of an elementwise operation differ in size"
// CHECK:         scf.if
// CHECK-NEXT:      gpu.launch_func @kernels::@kv_apply blocks in (%{{.*}}) threads in (%{{.*}}) args(%[[S]] : memref<?xi64>, %[[P]] : memref<?xi64>)
// CHECK:       gpu.func @kv_apply(%[[KS:.*]]: memref<?xi64>, %[[KP:.*]]: memref<?xi64>) kernel {
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK:         %[[N:.*]] = memref.dim %[[KS]]
// CHECK-NEXT:    %[[THREADS:.*]] = gpu.block_dim x
// CHECK-NEXT:    %[[SHARE:.*]] = arith.muli %[[THREADS]], %[[C4]]
// CHECK-NEXT:    %[[BLOCK:.*]] = gpu.block_id x
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[SHARE]]
// CHECK-NEXT:    %[[THREAD:.*]] = gpu.thread_id x
// CHECK-NEXT:    %[[START:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK-NEXT:    %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK-NEXT:    %[[STEP:.*]] = arith.muli %[[BLOCKS]], %[[SHARE]]
// CHECK-NEXT:    scf.for %[[E:.*]] = %[[START]] to %[[N]] step %[[STEP]]
// CHECK-NEXT:      %[[LAST:.*]] = arith.subi %[[N]], %[[C1]]
// CHECK-NEXT:      %[[X:.*]] = memref.load %[[KS]][%[[E]]] {alignment = 8 : i64}
// CHECK-NEXT:      %[[E1:.*]] = arith.addi %[[E]], %[[THREADS]]
// CHECK-NEXT:      %[[EXISTS:.*]] = arith.cmpi ult, %[[E1]], %[[N]]
// CHECK-NEXT:      %[[PLACE:.*]] = arith.minui %[[E1]], %[[LAST]]
// CHECK-NEXT:      %[[X1:.*]] = memref.load %[[KS]][%[[PLACE]]]
// CHECK-COUNT-2:   memref.load %[[KS]]
// CHECK-NEXT:      arith.index_cast %[[X]]
// CHECK-NEXT:      affine.apply
// CHECK-NEXT:      %[[Y:.*]] = arith.index_cast
// CHECK-NEXT:      memref.store %[[Y]], %[[KP]][%[[E]]] {alignment = 8 : i64}
// CHECK-NEXT:      scf.if %[[EXISTS]] {
// CHECK-NEXT:        arith.index_cast %[[X1]]
// CHECK-NEXT:        affine.apply
// CHECK-NEXT:        %[[Y1:.*]] = arith.index_cast
// CHECK-NEXT:        memref.store %[[Y1]], %[[KP]][%[[PLACE]]]
// CHECK-COUNT-2:   memref.store
// CHECK-NOT:     memref.store
#id = affine_map<(d0) -> (d0)>
func.func @elementwise(%s: memref<?xi64>, %p: memref<?xi64>, %i: i64) -> i64 {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : memref<?xi64>) outs(%p : memref<?xi64>) {
  ^bb0(%e: i64, %o: i64):
    %x = kv.apply affine_map<(s) -> (s floordiv 32)>(%e) : i64
    linalg.yield %x : i64
  }
  %j = kv.apply affine_map<(s) -> (s + 1)>(%i) : i64
  return %j : i64
}

// -----

// The arithmetic of index tensors that is not fused: positions, and elements
// looked up elsewhere.

// CHECK-LABEL: func.func @positions(
// CHECK-NOT:     linalg
// CHECK:         gpu.launch_func @kernels::@elementwise
// CHECK:       gpu.func @elementwise(%[[OUT:[^:]*]]: memref<2x3xi64>, %[[TABLE:[^:]*]]: memref<?xi64>)
// CHECK:         scf.for %[[E:.+]] =
// CHECK:           %[[P:.+]]:2 = affine.delinearize_index %[[E]] into (3)
// CHECK:           %[[SUM:.+]] = arith.addi %[[P]]#0, %[[P]]#1 : index
// CHECK:           %[[X:.+]] = memref.load %[[TABLE]][%[[SUM]]]
// CHECK:           memref.store %[[X]], %[[OUT]][%[[P]]#0, %[[P]]#1]
func.func @positions(%table: memref<?xi64>, %out: memref<2x3xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%out : memref<2x3xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %sum = arith.addi %i, %j : index
    %x = memref.load %table[%sum] : memref<?xi64>
    linalg.yield %x : i64
  }
  return
}

// -----

// A copy is a kernel: the host cannot read what a device holds. A constant is
// in memory of the host; the kernels get one of their own, and views of it.

// CHECK-LABEL: func.func @constants(
// CHECK-NOT:     memref.copy
// CHECK:         gpu.launch_func @kernels::@elementwise {{.*}} args(%arg0 : memref<4xi64>)
// CHECK:       gpu.module @kernels {
// CHECK-NEXT:    memref.global "private" constant @pages : memref<2x2xi64> = dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK:         gpu.func @elementwise(%[[OUT:[^:]*]]: memref<4xi64>)
// CHECK:           %[[PAGES:.+]] = memref.get_global @pages : memref<2x2xi64>
// CHECK:           %[[FLAT:.+]] = memref.collapse_shape %[[PAGES]]
// CHECK:           memref.load %[[FLAT]]
memref.global "private" constant @pages : memref<2x2xi64> = dense<[[0, 1], [2, 3]]>
func.func @constants(%out: memref<4xi64>) {
  %pages = memref.get_global @pages : memref<2x2xi64>
  %flat = memref.collapse_shape %pages [[0, 1]] : memref<2x2xi64> into memref<4xi64>
  memref.copy %flat, %out : memref<4xi64> to memref<4xi64>
  return
}

// -----

// A scale is loaded by the kernel that uses it, and so is what the host would
// compute from it. Not where something in between may write the scale: that is
// loaded on the host.

// CHECK-LABEL: func.func @scales(
// CHECK-NOT:     memref.load
// CHECK:         gpu.launch_func @kernels::@kv_write {{.*}} args(%arg0 : memref<4xi64>, %arg2 : memref<?x8xf32>, %arg1 : memref<4x8xf32>, %arg3 : memref<1xf32>)
// CHECK-NEXT:    %[[LATE:.+]] = memref.load %arg3
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    gpu.launch_func @kernels::@kv_write_0 {{.*}} args({{.*}}, %[[LATE]] : f32)
// CHECK:       gpu.func @kv_write(%{{.*}}, %[[SCALES:[^:]*]]: memref<1xf32>)
// CHECK:         %[[SCALE:.+]] = memref.load %[[SCALES]]
// CHECK:         %[[TWICE:.+]] = arith.addf %[[SCALE]], %[[SCALE]]
// CHECK:         arith.divf %{{.*}}, %[[TWICE]] : f32
// CHECK:       gpu.func @kv_write_0(%{{.*}}, %[[LATE:[^:]*]]: f32)
// CHECK:         arith.divf %{{.*}}, %[[LATE]] : f32
func.func @scales(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<?x8xf32>, %scales: memref<1xf32>, %new: f32) {
  %c0 = arith.constant 0 : index
  %scale = memref.load %scales[%c0] : memref<1xf32>
  %twice = arith.addf %scale, %scale : f32
  kv.write at(%s : memref<4xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<4x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = arith.divf %x, %twice : f32
      kv.yield %y : f32
    }
  %late = memref.load %scales[%c0] : memref<1xf32>
  memref.store %new, %scales[%c0] : memref<1xf32>
  kv.write at(%s : memref<4xi64>) negative(error) out_of_bounds(skip)
    put %v : memref<4x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
    ^bb0(%x: f32):
      %y = arith.divf %x, %late : f32
      kv.yield %y : f32
    }
  return
}

// -----

// A write in a loop may change, in one round, what is loaded before the loop for
// the next.

// CHECK-LABEL: func.func @loop(
// CHECK:         memref.load %arg3
// CHECK:         scf.for
// CHECK:           gpu.launch_func {{.*}} : f32)
func.func @loop(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<?x8xf32>, %scale: memref<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.load %scale[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    kv.write at(%s : memref<4xi64>) negative(error) out_of_bounds(skip)
      put %v : memref<4x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>) {
      ^bb0(%e: f32):
        %y = arith.divf %e, %x : f32
        kv.yield %y : f32
      }
    memref.store %x, %scale[] : memref<f32>
  }
  return
}
