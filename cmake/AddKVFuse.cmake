# add_kvfuse_library(name source... [DEPENDS target...] [KVFUSE_LIBS lib...]
#                    [MLIR_LIBS lib...] [LINK_COMPONENTS component...])
#
# A library of kvfuse. MLIR_LIBS are named one by one and become libMLIR.so
# where MLIR_LINK_MLIR_DYLIB is on.
function(add_kvfuse_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;KVFUSE_LIBS;MLIR_LIBS;LINK_COMPONENTS"
                        ${ARGN})
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS}
    EXCLUDE_FROM_LIBMLIR DISABLE_INSTALL
    DEPENDS ${ARG_DEPENDS}
    LINK_COMPONENTS ${ARG_LINK_COMPONENTS}
    LINK_LIBS PUBLIC ${ARG_KVFUSE_LIBS})
  mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS})
endfunction()

# add_kvfuse_passes(folder): table-generated pass declarations of one stage, from
# Passes.td in the current folder.
function(add_kvfuse_passes stage)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${stage})
  add_public_tablegen_target(KVFuse${stage}PassesIncGen)
  add_dependencies(mlir-headers KVFuse${stage}PassesIncGen)
endfunction()
