// Kernels are tied to no vendor: upstream's passes take them to an AMD GPU. Its
// own 8-bit floats are others (fnuz), so that f8E4M3FN is computed in integers.
// No upstream pass lowers asserts to ROCDL, so the policy is skip.

// RUN: kvfuse-opt %s --pass-pipeline='builtin.module(kvfuse-to-gpu)' \
// RUN:   | kvfuse-opt --pass-pipeline='builtin.module(builtin.module(gpu.module(gpu.func(int-range-optimizations),arith-emulate-unsupported-floats{source-types=bf16,f16,f8E4M3FN target-type=f32},kv-expand-casts,expand-strided-metadata,affine-expand-index-ops,lower-affine,convert-scf-to-cf,convert-gpu-to-rocdl{chipset=gfx942 index-bitwidth=64},reconcile-unrealized-casts,canonicalize,cse,kv-check-lowered{allow=llvm,rocdl})))' -o %t.rocdl.mlir
// RUN: FileCheck %s --check-prefix=ROCDL --implicit-check-not=nvvm < %t.rocdl.mlir
// RUN: mlir-opt %t.rocdl.mlir --allow-unregistered-dialect --pass-pipeline='builtin.module(builtin.module(rocdl-attach-target{chip=gfx942 O=3},gpu-module-to-binary{format=isa}))' -o %t.binary.mlir
// RUN: sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' %t.binary.mlir | FileCheck %s --check-prefix=ISA --implicit-check-not=scratch_

// ROCDL: gpu.module @kernels
// ROCDL: llvm.func @kv_write(
// ROCDL: rocdl.kernel

// 16 bytes at a time are read, and stored, or half of that where they shrink.

// ISA:     .amdgcn_target \22amdgcn-amd-amdhsa--gfx942\22
// ISA:     kv_write:
// ISA-DAG: global_load_dwordx4
// ISA-DAG: global_store_dwordx2
// ISA-DAG: global_store_dwordx4
// ISA:     s_endpgm
// ISA:     .amdhsa_private_segment_fixed_size 0
// ISA-NOT: .amdhsa_private_segment_fixed_size {{[1-9]}}
func.func @layer(
    %k: tensor<?x4x32x128xf8E4M3FN> {bufferization.writable = true},
    %i: tensor<?x1x32x128xbf16> {bufferization.writable = true},
    %k_rows: tensor<?x4x128xbf16>, %i_rows: tensor<?x1x128xbf16>,
    %slots: tensor<?xi32>)
    -> (tensor<?x4x32x128xf8E4M3FN>, tensor<?x1x32x128xbf16>) {
  %0 = kv.write at(%slots : tensor<?xi32>) negative(wrap) out_of_bounds(skip)
    put %k_rows : tensor<?x4x128xbf16> into %k : tensor<?x4x32x128xf8E4M3FN>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
    ^bb0(%x: bf16):
      %y = kv.cast %x saturating : bf16 to f8E4M3FN
      kv.yield %y : f8E4M3FN
    }
  %1 = kv.write at(%slots : tensor<?xi32>) negative(wrap) out_of_bounds(skip)
    put %i_rows : tensor<?x1x128xbf16> into %i : tensor<?x1x32x128xbf16>
        map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
  return %0, %1 : tensor<?x4x32x128xf8E4M3FN>, tensor<?x1x32x128xbf16>
}
