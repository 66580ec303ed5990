// The committed exports of torch-mlir: `raw` and `torch` say the same.

// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn_shared.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{mutates=auto})' | FileCheck %s --check-prefix=HND
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn_shared.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{mutates=auto})' | FileCheck %s --check-prefix=HND

// HND-DAG: #[[$PAGE:.+]] = affine_map<(d0) -> (d0 floordiv 32)>
// HND-DAG: #[[$OFFSET:.+]] = affine_map<(d0) -> (d0 mod 32)>
// HND-DAG: #[[$SCATTER:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d2, d4)>
// HND-LABEL: func.func @main(
// HND-SAME:    %[[KC:[^:]+]]: tensor<?x4x32x128xf8E4M3FN> {bufferization.writable = true}
// HND-SAME:    %[[VC:[^:]+]]: tensor<?x4x32x128xf8E4M3FN> {bufferization.writable = true}
// HND-SAME:    %[[IC:[^:]+]]: tensor<?x1x32x128xbf16> {bufferization.writable = true}
// HND-SAME:    %[[K:[^:]+]]: tensor<?x4x128xbf16>, %[[V:[^:]+]]: tensor<?x4x128xbf16>, %[[I:[^:]+]]: tensor<?x1x128xbf16>
// HND-SAME:    %[[SLOTS:[^:]+]]: tensor<?xi32>)
// HND-SAME:    -> (tensor<?x4x32x128xf8E4M3FN>, tensor<?x4x32x128xf8E4M3FN>, tensor<?x1x32x128xbf16>) {
// HND-NEXT:    %[[WIDE:.+]] = arith.extsi %[[SLOTS]] : tensor<?xi32> to tensor<?xi64>
// HND-NEXT:    %[[PAGE:.+]] = kv.apply #[[$PAGE]](%[[WIDE]]) : tensor<?xi64>
// HND-NEXT:    %[[OFFSET:.+]] = kv.apply #[[$OFFSET]](%[[WIDE]]) : tensor<?xi64>
// HND-NEXT:    %[[K8:.+]] = kv.cast %[[K]] saturating : tensor<?x4x128xbf16> to tensor<?x4x128xf8E4M3FN>
// HND-NEXT:    %[[KC1:.+]] = kv.write at(%[[PAGE]], %[[OFFSET]] : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
// HND-NEXT:      put %[[K8]] : tensor<?x4x128xf8E4M3FN> into %[[KC]] : tensor<?x4x32x128xf8E4M3FN> map(#[[$SCATTER]])
// HND-NEXT:    %[[V8:.+]] = kv.cast %[[V]] saturating
// HND-NEXT:    %[[VC1:.+]] = kv.write at(%[[PAGE]], %[[OFFSET]] :
// HND-NEXT:      put %[[V8]] : {{.*}} into %[[VC]] : {{.*}} map(#[[$SCATTER]])
// HND-NEXT:    %[[IC1:.+]] = kv.write at(%[[PAGE]], %[[OFFSET]] :
// HND-NEXT:      put %[[I]] : {{.*}} into %[[IC]] : {{.*}} map(#[[$SCATTER]])
// HND-NEXT:    return %[[KC1]], %[[VC1]], %[[IC1]] :

// Each write computes its own page and offset: nothing is shared that torch
// does not share.
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=OWN
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e4m3fn.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=OWN

// OWN-NOT:      "torch
// OWN:          func.func @main
// OWN-COUNT-3:  {bufferization.writable = false}
// OWN-NOT:      writable
// OWN:          arith.extsi
// OWN:          kv.write
// OWN:          arith.extsi
// OWN:          kv.write
// OWN:          arith.extsi
// OWN:          kv.write
// OWN-NOT:      torch

// RUN: kvfuse-opt %S/../Exports/nhd_layer_bf16_from_f32.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=NHD
// RUN: kvfuse-opt %S/../Exports/nhd_layer_bf16_from_f32.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=NHD

// NHD-NOT:  torch
// NHD:      #[[$SCATTER:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
// NHD:      kv.cast %{{.+}} : tensor<?x8x128xf32> to tensor<?x8x128xbf16>
// NHD:      put %{{.+}} : tensor<?x8x128xbf16> into %{{.+}} : tensor<?x32x8x128xbf16> map(#[[$SCATTER]])
// NHD:      put %{{.+}} : tensor<?x8x128xbf16> into %{{.+}} : tensor<?x32x8x128xbf16> map(#[[$SCATTER]])
// NHD:      put %{{.+}} : tensor<?x1x128xbf16> into %{{.+}} : tensor<?x32x1x128xbf16> map(#[[$SCATTER]])
// NHD-NOT:  torch

// Narrow slots go into a flat write as they are (SX1).
// RUN: kvfuse-opt %S/../Exports/flat_kv_bf16_i32.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=FLAT
// RUN: kvfuse-opt %S/../Exports/flat_kv_bf16_i32.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=FLAT

// FLAT:         #[[$FLAT:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// FLAT-LABEL:   func.func @main(
// FLAT-COUNT-2: kv.write at(%{{.+}} : tensor<?xi32>) negative(wrap) out_of_bounds(trap)
// FLAT-NOT:     torch

// e5m2 does not saturate in torch 2.13 (SC4).
// RUN: kvfuse-opt %S/../Exports/hnd_layer_e5m2_from_f16.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=E5M2
// E5M2: kv.cast %{{.+}} : tensor<?x1x128xf16> to tensor<?x1x128xf8E5M2>

// The page size need not be a power of two.
// RUN: kvfuse-opt %S/../Exports/hnd_k_page3.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=PAGE3
// PAGE3-DAG: affine_map<(d0) -> (d0 floordiv 3)>
// PAGE3-DAG: affine_map<(d0) -> (d0 mod 3)>

// Truncated division stays what it is where slots may be negative (SX3); the
// remainder of the same slots is floor.
// RUN: kvfuse-opt %S/../Exports/nhd_kv_trunc_division.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=TRUNC
// RUN: kvfuse-opt %S/../Exports/nhd_kv_trunc_division.torch.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch)' | FileCheck %s --check-prefix=TRUNC

// TRUNC-NOT:   torch
// TRUNC:       %[[C32:.+]] = arith.constant 32 : i64
// TRUNC:       %[[SPLAT:.+]] = tensor.splat %[[C32]][%{{.+}}] : tensor<?xi64>
// TRUNC-NEXT:  %[[PAGE:.+]] = arith.divsi %[[SLOTS:.+]], %[[SPLAT]] : tensor<?xi64>
// TRUNC-NEXT:  %[[OFFSET:.+]] = kv.apply #{{.+}}(%[[SLOTS]]) : tensor<?xi64>
// TRUNC-NEXT:  kv.write at(%[[PAGE]], %[[OFFSET]] :

// An operation between the writes stays, and so do the torch types.
// RUN: kvfuse-opt %S/../Exports/hnd_layer_silu_between.raw.mlir --allow-unregistered-dialect \
// RUN:   -pass-pipeline='builtin.module(kv-import-torch{mutates=auto})' | FileCheck %s --check-prefix=SILU

// SILU-LABEL:   func.func @main(
// SILU-SAME:      %{{.+}}: !torch.vtensor<[?,4,32,128],f8E4M3FN> {bufferization.writable = true}
// SILU-SAME:      -> (!torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,4,32,128],f8E4M3FN>, !torch.vtensor<[?,1,32,128],bf16>, !torch.none)
// SILU:           kv.write
// SILU:           %[[NEW:.+]] = "torch_c.from_builtin_tensor"
// SILU-NEXT:      %[[SILU:.+]] = "torch.aten.silu"
// SILU-NEXT:      %[[ROWS:.+]] = "torch_c.to_builtin_tensor"(%[[SILU]])
// SILU:           kv.cast %[[ROWS]] saturating
// SILU-COUNT-2:   kv.write
// SILU:           %[[NONE:.+]] = "torch.constant.none"
// SILU-NEXT:      return %[[NEW]], %{{.+}}, %{{.+}}, %[[NONE]] :
