// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-version-layouts,convert-kv-to-gpu,kv-hoist-checks)' | FileCheck %s

// Messages speak of arguments by their names in the model's code, through views;
// checks of a callee that serves several calls say which operands they test.

// CHECK-LABEL: func.func @entry(
// CHECK-DAG:     "SM8: dest-alias: arguments 0 ('k_cache') and 1 ('k') overlap"
// CHECK-DAG:     "SM8: dest-alias: arguments 0 ('k_cache') and 2 overlap"
// CHECK-DAG:     "SX10: values of destination 0 and index tensor differ in the number of rows: 'k'"
// CHECK-DAG:     "SX10: values ('k') of destination 0 and index tensor differ in the number of rows"
// CHECK:         call @write
func.func @entry(%c: memref<?x8xf32> {kv.name = "k_cache"}, %v: memref<?x8xf32> {kv.name = "k"},
                 %s: memref<?xi64>, %n: index) {
  call @write(%c, %v, %s) : (memref<?x8xf32>, memref<?x8xf32>, memref<?xi64>) -> ()
  %view = memref.subview %v[0, 0] [%n, 8] [1, 1] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1]>>
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
      put %view : memref<?x8xf32, strided<[8, 1]>> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}

// CHECK-LABEL: func.func @write(
// CHECK:         "SM8: dest-alias: arguments 0 and 1 overlap"
// CHECK:         "SX10: values of destination 0 and index tensor differ in the number of rows"
func.func @write(%c: memref<?x8xf32>, %v: memref<?x8xf32>, %s: memref<?xi64>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
      put %v : memref<?x8xf32> into %c : memref<?x8xf32> map(affine_map<(t, s, d) -> (s, d)>)
  return
}
