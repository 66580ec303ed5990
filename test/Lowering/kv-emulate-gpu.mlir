// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-emulate-gpu)' -split-input-file | FileCheck %s

// Loops run over the dimensions whose index the kernel uses; along the others
// one thread does what all would do, if there is any.

// CHECK-LABEL: module {
// CHECK:         func.func private @scale(
// CHECK-SAME:      %[[GX:[^:]*]]: index, %[[GY:[^:]*]]: index, %[[GZ:[^:]*]]: index, %[[BX:[^:]*]]: index, %[[BY:[^:]*]]: index, %[[BZ:[^:]*]]: index, %[[M:[^:]*]]: memref<?xf32>, %[[F:[^:]*]]: f32)
// CHECK-SAME:      attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[HAS_Z:.*]] = arith.cmpi ne, %[[GZ]], %[[C0]]
// CHECK:         %[[HAS_BY:.*]] = arith.cmpi ne, %[[BY]], %[[C0]]
// CHECK:         %[[AND:.*]] = arith.andi %[[HAS_Z]], %[[HAS_BY]]
// CHECK:         %[[HAS_BZ:.*]] = arith.cmpi ne, %[[BZ]], %[[C0]]
// CHECK:         %[[ANY:.*]] = arith.andi %[[AND]], %[[HAS_BZ]]
// CHECK:         scf.if %[[ANY]] {
// CHECK-NEXT:      scf.for %[[X:.*]] = %[[C0]] to %[[GX]] step %[[C1]] {
// CHECK-NEXT:        scf.for %[[Y:.*]] = %[[C0]] to %[[GY]] step %[[C1]] {
// CHECK-NEXT:          scf.for %[[T:.*]] = %[[C0]] to %[[BX]] step %[[C1]] {
// CHECK-NEXT:            %[[ROW:.*]] = arith.muli %[[Y]], %[[GX]]
// CHECK-NEXT:            %[[BLOCK:.*]] = arith.addi %[[ROW]], %[[X]]
// CHECK-NEXT:            %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[BX]]
// CHECK-NEXT:            %[[I:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK:                 cf.assert %{{.*}}, "index out of bounds"
// CHECK:                 memref.load %[[M]][%[[I]]]
// CHECK:                 arith.mulf %{{.*}}, %[[F]]
// CHECK:                 memref.store %{{.*}}, %[[M]][%[[I]]]
// CHECK-NOT:     gpu.
// CHECK:         return
// CHECK-NOT:     gpu.

// CHECK:         func.func @host(
// CHECK-SAME:      %[[HM:.*]]: memref<?xf32>, %[[HF:.*]]: f32, %[[HT:.*]]: index)
// CHECK:         %[[H1:.*]] = arith.constant 1 : index
// CHECK:         %[[H2:.*]] = arith.constant 2 : index
// CHECK:         %[[H64:.*]] = arith.constant 64 : index
// CHECK:         call @scale(%[[HT]], %[[H2]], %[[H1]], %[[H64]], %[[H1]], %[[H1]], %[[HM]], %[[HF]]) : (index, index, index, index, index, index, memref<?xf32>, f32) -> ()
// CHECK:         call @scale(
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%m: memref<?xf32>, %f: f32) kernel {
      %x = gpu.block_id x
      %y = gpu.block_id y
      %gx = gpu.grid_dim x
      %t = gpu.thread_id x
      %bx = gpu.block_dim x
      %row = arith.muli %y, %gx : index
      %block = arith.addi %row, %x : index
      %first = arith.muli %block, %bx : index
      %i = arith.addi %first, %t : index
      %c0 = arith.constant 0 : index
      %n = memref.dim %m, %c0 : memref<?xf32>
      %ok = arith.cmpi ult, %i, %n : index
      cf.assert %ok, "index out of bounds"
      %v = memref.load %m[%i] : memref<?xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %m[%i] : memref<?xf32>
      gpu.return
    }
  }
  func.func @host(%m: memref<?xf32>, %f: f32, %t: index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@scale blocks in (%t, %c2, %c1) threads in (%c64, %c1, %c1)
        args(%m : memref<?xf32>, %f : f32)
    gpu.launch_func @kernels::@scale blocks in (%t, %c2, %c1) threads in (%c64, %c1, %c1)
        args(%m : memref<?xf32>, %f : f32)
    return
  }
}

// -----

// The six indices of a kernel, in a nest without a branch around it. Ids may
// stand inside structured control flow.

// CHECK-LABEL: func.func private @all_dimensions(
// CHECK-NOT:     scf.if
// CHECK-COUNT-6: scf.for
// CHECK:         scf.if
// CHECK-NOT:     scf.for
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @all_dimensions(%m: memref<?x?x?x?x?x?xindex>, %ok: i1) kernel {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %bz = gpu.block_id z
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      scf.if %ok {
        %tz = gpu.thread_id z
        memref.store %bx, %m[%bx, %by, %bz, %tx, %ty, %tz] : memref<?x?x?x?x?x?xindex>
      }
      gpu.return
    }
  }
}

// -----

// A kernel gets a new name where a function of the module has its name, and
// sizes become indices.

// CHECK-LABEL: module {
// CHECK:         func.func private @k_0(
// CHECK:         func.func @k(%[[T:.*]]: i32)
// CHECK:           %[[C1:.*]] = arith.constant 1 : i32
// CHECK:           %[[GX:.*]] = arith.index_cast %[[T]] : i32 to index
// CHECK-COUNT-5:   arith.index_cast %[[C1]] : i32 to index
// CHECK:           call @k_0(%[[GX]], {{.*}}) : (index, index, index, index, index, index) -> ()
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @k(%t: i32) {
    %c1 = arith.constant 1 : i32
    gpu.launch_func @kernels::@k blocks in (%t, %c1, %c1) threads in (%c1, %c1, %c1) : i32
    return
  }
}

// -----

// Nested modules have their own kernels: they are not this pass's.

// CHECK-LABEL: module {
// CHECK:         module @nested attributes {gpu.container_module} {
// CHECK:           gpu.module @kernels
module {
  module @nested attributes {gpu.container_module} {
    gpu.module @kernels {
      gpu.func @k() kernel {
        gpu.return
      }
    }
  }
}

// -----

// A constant of the kernels moves to the module, under a name that is free there.

// CHECK-LABEL: memref.global "private" constant @pages : memref<2xi64> = dense<[0, 1]>
// CHECK:         func.func private @k(
// CHECK:           memref.get_global @[[PAGES:pages_.*]] : memref<2xi64>
// CHECK:         memref.global "private" constant @[[PAGES]] : memref<2xi64> = dense<[2, 3]>
module attributes {gpu.container_module} {
  memref.global "private" constant @pages : memref<2xi64> = dense<[0, 1]>
  gpu.module @kernels {
    memref.global "private" constant @pages : memref<2xi64> = dense<[2, 3]>
    gpu.func @k(%out: memref<i64>) kernel {
      %c0 = arith.constant 0 : index
      %pages = memref.get_global @pages : memref<2xi64>
      %x = memref.load %pages[%c0] : memref<2xi64>
      memref.store %x, %out[] : memref<i64>
      gpu.return
    }
  }
}
