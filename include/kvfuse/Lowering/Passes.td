//===- Passes.td - Lowering: buffers to kernels ------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_PASSES
#define KVFUSE_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def ConvertKVToGPU : Pass<"convert-kv-to-gpu", "::mlir::ModuleOp"> {
  let summary = "turn each kv.write and elementwise operation on buffers into a kernel";
  let description = [{
    Overview: each `kv.write` in buffer form, each elementwise `linalg.generic`
    (all loops parallel, `linalg.index` and `memref.load` allowed in its body),
    and each `memref.copy` becomes one `gpu.func` in the module's
    `gpu.module @kernels` and one `gpu.launch_func` at the site. Equal
    signatures share a kernel.

    A constant `memref.global` lies in memory of the host: a kernel that reads
    one gets a copy of it in `gpu.module @kernels`. A scalar that is loaded from
    a memref, such as a scale, may lie in memory of the device: its kernel loads
    it, and computes itself what is computed from it, unless something between
    the load and the launch may write that memref.

    The kernel of a write: grid x is the token, threads and grid y have the
    groups of elements of its rows, all destinations side by side. A thread loads
    its group and the index values one right after the other, as whatever it does
    first, it waits for memory. Index values are then widened, and the coordinates
    in the destination computed, wrapped (SX4) and tested against the sizes of that
    call (SX5) before an address is formed. Under `trap` a bad coordinate is a
    `cf.assert`. Destinations that differ in nothing but the memory, such as K and
    V, are selected between; others are behind a branch. Destinations of a write
    that is not `disjoint` get a kernel each, in order.

    Where the types say how many groups a token has, there are threads for all of
    them, and a long step, from about two thousand blocks on, gets a kernel of its
    own whose threads have four tokens: the host tests the number of tokens. With
    `tokens-per-thread` there is one kernel, for any number of tokens.

    A group is what the destination's `access` clause says. Without one it is an
    element, at any stride. With `access(n)` it is a vector of n elements, loaded
    and stored with the alignment that the clause promises (16 bytes at most), and
    the region works on vectors. A group that does not lie in its row as a whole,
    or not in the cache without wrapping, is moved by element; where rows are
    whole groups by their type there is no code for that.

    The kernel of an elementwise operation, in an unfused chain: a thread has four
    elements, as far apart as its block has threads, and loads all of them before
    it stores any. (Torch's kernels do the same, and the chain stands for what
    torch would run: a kernel for each operation, moving element by element.)

    The host side tests that sizes of values and caches agree, unless `access`
    clauses say that this has been done, and those of the operands of an
    elementwise operation (SX10, a `cf.assert` before the launch), and launches
    nothing for an empty grid or empty rows (SX9).

    Before: functions on buffers. After: no kv operation but `kv.cast`, no linalg
    operation and no `memref.copy` is left.

    Example:

    ```mlir
    func.func @before(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<?x8xf32>) {
      kv.write at(%s : memref<4xi64>) negative(error) out_of_bounds(skip)
        put %v : memref<4x8xf32> into %c : memref<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return
    }
    ```
    becomes, when canonicalized,
    ```mlir
    module attributes {gpu.container_module} {
      func.func @after(%s: memref<4xi64>, %v: memref<4x8xf32>, %c: memref<?x8xf32>) {
        %c4 = arith.constant 4 : index
        %c1 = arith.constant 1 : index
        %c32 = arith.constant 32 : index
        gpu.launch_func @kernels::@kv_write blocks in (%c4, %c1, %c1)
            threads in (%c32, %c1, %c1)
            args(%s : memref<4xi64>, %c : memref<?x8xf32>, %v : memref<4x8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @kv_write(%s: memref<4xi64>, %c: memref<?x8xf32>, %v: memref<4x8xf32>)
            kernel attributes {known_block_size = array<i32: 32, 1, 1>,
                               kv.token_kernel = 1 : i64} {
          %c8 = arith.constant 8 : index
          %c0 = arith.constant 0 : index
          %token = gpu.block_id x
          %d = gpu.thread_id x
          %here = arith.cmpi ult, %d, %c8 : index
          scf.if %here {
            %x = memref.load %v[%token, %d] : memref<4x8xf32>
            %slot = memref.load %s[%token] {alignment = 8 : i64} : memref<4xi64>
            %row = arith.index_cast %slot : i64 to index
            %rows = memref.dim %c, %c0 : memref<?x8xf32>
            %inside = arith.cmpi ult, %row, %rows : index
            scf.if %inside {
              memref.store %x, %c[%row, %d] : memref<?x8xf32>
            }
          }
          gpu.return
        }
      }
    }
    ```
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", "0",
           "Most threads of a block of a write; 0: the model's choice">,
    Option<"tokensPerThread", "tokens-per-thread", "int64_t", "0",
           "Tokens of a thread of a write; 0: the model's choice">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def KVHoistChecks : Pass<"kv-hoist-checks", "::mlir::ModuleOp"> {
  let summary = "test the sizes of all writes before the first launch";
  let description = [{
    Overview: each `cf.assert` of a function whose condition is computed from the
    arguments alone, such as the tests of sizes (SX10) that `convert-kv-to-gpu`
    puts in front of each launch, moves to the start of the function. Those of a
    callee are repeated in the caller, which may launch something before the
    call, and calls the rest of the callee, the function `CALLEE_unchecked`. So
    either all sizes agree, or nothing is written, and nothing is tested twice.
    Asserts inside `scf` regions stay: whether they hold matters only if the
    region runs. A condition may be computed with branches, and with calls of
    functions that have the attribute `kv.pure`: no effect, and defined for all
    arguments.

    Before: host functions with launches. After: no launch or call stands before
    an assert of the same block that depends on the arguments alone.

    Example:

    ```mlir
    func.func private @launch()
    func.func @before(%a: memref<?xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      call @launch() : () -> ()
      %size = memref.dim %a, %c0 : memref<?xf32>
      %ok = arith.cmpi eq, %size, %n : index
      cf.assert %ok, "SX10: sizes differ"
      return
    }
    ```
    becomes
    ```mlir
    func.func private @launch()
    func.func @after(%a: memref<?xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %size = memref.dim %a, %c0 : memref<?xf32>
      %ok = arith.cmpi eq, %size, %n : index
      cf.assert %ok, "SX10: sizes differ"
      call @launch() : () -> ()
      return
    }
    ```
  }];
}

def KVExpandCasts : Pass<"kv-expand-casts"> {
  let summary = "compute kv.cast and small-float conversions in integers";
  let description = [{
    Overview: each `kv.cast`, and each `arith.extf` and `arith.truncf` between
    types of 8 to 32 bits, on scalars or vectors, becomes integer arithmetic on
    the bits with the same result on every target (SC1 to SC3, SC7).
    `arith.truncf` keeps its rounding mode. No conversion instruction and no
    library call is needed.

    Before: `kv.cast` on scalars and vectors. After: no `kv.cast`, and no
    `arith.truncf` with a rounding mode.

    Example:

    ```mlir
    %y = kv.cast %x : f32 to bf16
    ```
    becomes integer operations between `arith.bitcast %x : f32 to i32` and
    `arith.bitcast %bits : i16 to bf16`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def KVEmulateGPU : Pass<"kv-emulate-gpu", "::mlir::ModuleOp"> {
  let summary = "run launches as loops on the CPU";
  let description = [{
    Overview: each kernel becomes a private function, internal in LLVM IR too,
    that loops over the grid and the threads of a block; each `gpu.launch_func`
    becomes a call of it. The body is the kernel's own IR, so that the CPU
    computes what the GPU would. Globals of the kernels become the module's.
    Kernels must not synchronise or use shared memory, and a thread that runs
    twice must leave what it leaves when it runs once; those of kvfuse do so.

    Before: `gpu.module`s with structured kernels. After: no gpu operation.

    Example:

    ```mlir
    gpu.launch_func @kernels::@k blocks in (%t, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%m : memref<?xf32>)
    ```
    becomes
    ```mlir
    call @k(%t, %c1, %c1, %c256, %c1, %c1, %m)
        : (index, index, index, index, index, index, memref<?xf32>) -> ()
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def KVSmallFloatsToBits : Pass<"kv-small-floats-to-bits", "::mlir::ModuleOp"> {
  let summary = "carry floats of less than 32 bits as integers";
  let description = [{
    Overview: every bf16, f16 and 8-bit float that is left, be it a value or one
    of a vector, a block argument, a parameter, a constant or the element of a
    buffer, becomes an integer of its width with the same bits. LLVM carries a
    small float in an f32 from block to block where the CPU has no register for
    it, by calls of a library that need not be there; it leaves integers alone. A
    parameter of `main` that is a bf16 is therefore a `uint16_t` in C.

    Nothing may compute with small floats any more: that is an error. So is the
    declaration of a function with one for parameter or result.

    Before: unstructured control flow on memrefs, after
    `kv-expand-casts`. After: no float type of less than 32 bits.

    Example:

    ```mlir
    func.func @f(%x: bf16, %a: memref<4xbf16>, %i: index) {
      memref.store %x, %a[%i] : memref<4xbf16>
      return
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: i16, %a: memref<4xi16>, %i: index) {
      memref.store %x, %a[%i] : memref<4xi16>
      return
    }
    ```
  }];
}

def KVCastsToNVVM : Pass<"kv-casts-to-nvvm"> {
  let summary = "convert to 8-bit floats by the hardware's instructions";
  let description = [{
    Overview: `kv.cast` from 16 or 32 bits to f8E4M3FN or f8E5M2 becomes
    `nvvm.convert.f32x2.to.f8x2`, two elements at a time. The instruction
    saturates (SC3); for a cast that does not (SC2), what overflows is picked out by
    a comparison, and the bytes are those of the same cast in integers, but for the
    sign of a NaN (SC6). Pairs of bf16 in a register become f32 by a shift and a
    mask. Needs compute capability 8.9.

    Before: kernels with casts. After: no such cast is left.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def KVDependentLaunch : Pass<"kv-dependent-launch"> {
  let summary = "let a kernel start before the one in front of it has ended";
  let description = [{
    Overview: every thread of each kernel waits for the kernels in front before it
    touches memory or ends (SP1), in long steps before it does anything. It allows
    the kernel behind to start: once its rows are stored, or with `early`, at once;
    then kernels overlap, and all arithmetic that needs no memory comes before the
    wait. A kernel that was allowed to start early must itself wait before it reads
    what this one writes (SP2). Needs compute capability 9.0, and a launch with the
    attribute of programmatic stream serialization; launched without it, the
    instructions do nothing.

    Before: kernels in the LLVM and NVVM dialects. After: the same.
  }];
  let options = [
    Option<"early", "early", "bool", "false",
           "Allow the next kernel to start at once">,
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def KVZeroOffsets : Pass<"kv-zero-offsets", "::mlir::ModuleOp"> {
  let summary = "let buffers of kernels begin at their pointers";
  let description = [{
    Overview: kernels read no offset of a memref. Whoever launches them passes the
    address of the first element as the aligned pointer, as `kv-launch-to-llvm`
    does, and every address of a kernel takes an addition less.

    Before: kernels in the LLVM dialect, and their launches. After: the same; the
    parameters are as before, but those of offsets have no use.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def KVPinLoads : Pass<"kv-pin-loads"> {
  let summary = "keep loads in front of the branches that they were put in front of";
  let description = [{
    Overview: what is loaded in front of a branch, and used only behind it, is also
    used by an assembly statement without text at the end of the block, if it fills
    registers of 16, 32 or 64 bits. LLVM would move the load behind the branch otherwise, and what waits
    for the condition, such as a slot, would no longer wait beside it.

    Before: kernels in the LLVM and NVVM dialects. After: the same, and such loads
    have a use in their block.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def KVTrapToStatus : Pass<"kv-trap-to-status", "::mlir::ModuleOp"> {
  let summary = "turn asserts into error returns";
  let description = [{
    Overview: every function with a body gets one more result, a `!llvm.ptr` to
    the message of the assert that failed (a zero-terminated string), or null. A
    `cf.assert` that fails returns at once; a call that returns a message is
    followed by a return of it. The other results are then poison. Buffers that
    the function allocated and would have freed later are leaked on that way.

    Declarations, functions with the attribute `kv.pure`, which cannot fail, and
    calls of them stay as they are. A declaration with the attribute
    `kv.may_fail` gets the result, too.

    Before: functions in unstructured control flow (no scf). After: no
    `cf.assert` in a function.

    Example:

    ```mlir
    func.func @f(%ok: i1) {
      cf.assert %ok, "SX5: index out of bounds"
      return
    }
    ```
    becomes
    ```mlir
    llvm.mlir.global private constant @kvfuse_message_0("SX5: index out of bounds\00")
    func.func @f(%ok: i1) -> !llvm.ptr {
      %message = llvm.mlir.addressof @kvfuse_message_0 : !llvm.ptr
      cf.cond_br %ok, ^bb1, ^bb2(%message : !llvm.ptr)
    ^bb1:
      %null = llvm.mlir.zero : !llvm.ptr
      return %null : !llvm.ptr
    ^bb2(%status: !llvm.ptr):
      return %status : !llvm.ptr
    }
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::ub::UBDialect"];
}

def KVDescribeFunctions : Pass<"kv-describe-functions", "::mlir::ModuleOp"> {
  let summary = "note the signatures of public functions";
  let description = [{
    Overview: lowering forgets what a caller has to know. This pass notes it: a
    public function gets an array `kv.signature`, with a dictionary for each
    argument: its `dtype`, the `sizes` of a tensor (-1 for any), its `name` in
    the model's code (the argument's attribute `kv.name`) and, if the function or
    one that it calls writes it, `written`. It also gets a C wrapper (`llvm.emit_c_interface`). The functions
    themselves, and private ones, become internal in LLVM IR: objects can be
    linked with one another, and with a `main`.

    MLIR's i8 says no sign; such a `dtype` is "int8 or uint8". A function that
    returns something, or takes what DLPack has no type for, cannot be called
    through TVM-FFI: it gets no signature, and a warning. (A result that is an
    argument that was written has gone with bufferization.)

    Before: host functions on memrefs, with the kernels that they launch. After:
    the same, with attributes; `kv.name` has gone.

    Example:

    ```mlir
    func.func @f(%c: memref<4xf32> {kv.name = "cache"}, %n: index)
    ```
    becomes, if a kernel writes `%c`,
    ```mlir
    func.func @f(%c: memref<4xf32>, %n: index) attributes {
      kv.signature = [
        {dtype = "float32", name = "cache", sizes = array<i64: 4>, written},
        {dtype = "int64"}
      ],
      llvm.emit_c_interface, llvm.linkage = #llvm.linkage<internal>}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def KVLaunchToLLVM : Pass<"kv-launch-to-llvm", "::mlir::ModuleOp"> {
  let summary = "launch kernels through kvfuse's runtime";
  let description = [{
    Overview: host code of a GPU gets its calls of the runtime
    (`kvfuse/Runtime/Runtime.h`). A `gpu.binary` becomes a `KVFuseModule`, with
    the PTX or cubin in a constant; each of its kernels that is launched becomes
    a `KVFuseKernel`. A `gpu.launch_func` becomes a call of `kvfuse_launch` with
    the kernel, the sizes of grid and block, and the parameters: memrefs are
    taken apart as `convert-gpu-to-nvvm` takes them apart in the kernel, with the
    address of the first element for the aligned pointer and an offset of 0, and
    each number lies at the start of a slot of 8 bytes. The slots of all launches of a
    function are one array on its stack. The call may fail (`kv.may_fail`, see
    `kv-trap-to-status`).

    A launch must be a plain one: no cluster, no dynamic shared memory, no
    `async`. It must not pass a `memref.global`, which is memory of the host.

    Before: host functions, and kernels as `gpu.binary` with one object each.
    After: no gpu operation.

    Example:

    ```mlir
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1)
        threads in (%c32, %c1, %c1) args(%x : f32)
    ```
    becomes
    ```mlir
    llvm.store %x, %slots : f32, !llvm.ptr
    %kernel = llvm.mlir.addressof @kvfuse_kernel_k : !llvm.ptr
    %count = llvm.mlir.constant(1 : i64) : i64
    func.call @kvfuse_launch(%kernel, %n_i64, %one, %one, %threads, %one, %one,
                             %slots, %count)
    ```
  }];
  let options = [
    Option<"dependent", "dependent", "bool", "false",
           "Launch with programmatic stream serialization">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def KVAllocToRuntime : Pass<"kv-alloc-to-runtime", "::mlir::ModuleOp"> {
  let summary = "take temporaries from the caller's allocator";
  let description = [{
    Overview: host code of a GPU has its temporaries in memory of the device:
    `memref.alloc` and `memref.dealloc` become calls of `kvfuse_allocate` and
    `kvfuse_release`. The former may fail (`kv.may_fail`, see
    `kv-trap-to-status`). Where something fails, what a function has allocated is
    released by the runtime, when the call from outside ends.

    Before: buffers of any element type, in the identity layout. After: no
    `memref.alloc` and `memref.dealloc`.

    Example:

    ```mlir
    %m = memref.alloc(%n) : memref<?xf32>
    ```
    becomes
    ```mlir
    func.call @kvfuse_allocate(%bytes, %place) : (i64, !llvm.ptr) -> ()
    %data = llvm.load %place : !llvm.ptr -> !llvm.ptr
    // A descriptor with %data and %n.
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def KVExportFunctions : Pass<"kv-export-functions", "::mlir::ModuleOp"> {
  let summary = "give functions their TVM-FFI entries";
  let description = [{
    Overview: each function that `kv-describe-functions` has described gets

    - a constant of type `KVFuseFunction` (`kvfuse/Runtime/Runtime.h`): name,
      arguments with name, element type, rank, static sizes and whether they are
      written, and the kernels that it may launch, itself or by calls;
    - the constant's entry `kvfuse_entry_NAME`, which takes an array of pointers
      to descriptors and scalars and calls the C wrapper `_mlir_ciface_NAME`;
    - `__tvm_ffi_NAME`, TVM-FFI's entry, which leaves the rest to `kvfuse_call` of
      the runtime;
    - with the option `cuda`, `__tvm_ffi_NAME_load`, which takes the number of a
      device and loads the kernels there (`kvfuse_load`).

    A byte of either sign has a type with 0 `lanes`.

    Before: functions in the LLVM dialect, with C wrappers that return a status.
    After: the same and those.

    Example:

    ```mlir
    llvm.func @__tvm_ffi_f(%self: !llvm.ptr, %args: !llvm.ptr, %count: i32,
                           %result: !llvm.ptr) -> i32 {
      %f = llvm.mlir.addressof @kvfuse_function_f : !llvm.ptr
      %code = llvm.call @kvfuse_call(%f, %args, %count, %result)
          : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
      llvm.return %code : i32
    }
    ```
  }];
  let options = [
    Option<"cuda", "cuda", "bool", "false",
           "The functions launch kernels on a CUDA device, not on the CPU">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def KVCheckLowered : Pass<"kv-check-lowered"> {
  let summary = "fail if an operation was left that cannot be translated";
  let description = [{
    Overview: upstream conversions leave what they do not know, with exit code 0
    (a float8 `arith.truncf`, for one). This pass ends a pipeline: it fails, with
    the location, at the first operation outside the dialects that translate.
    Nested modules are looked into.

    Before: a module, or `gpu.module`, that should be lowered. After: unchanged,
    and it is. Option `allow`: names of the dialects that may be left.

    With the option `host` it looks at the code around the kernels instead, and
    fails where that reads or writes a memref: on a GPU the memory is the
    device's. Such as the flag of a branch, if it is an element of a tensor. A
    `memref.global` of its own, such as the counters of branches, is the host's.
  }];
  let options = [
    Option<"host", "host", "bool", "false",
           "Check that the host accesses no memory, and nothing else">,
    ListOption<"allow", "allow", "std::string",
               "Dialects whose operations may be left">
  ];
}

#endif // KVFUSE_LOWERING_PASSES
