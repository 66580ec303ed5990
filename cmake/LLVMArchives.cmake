# use_llvm_archives(): makes MLIR's archives need LLVM's archives. As exported, they
# name libLLVM.so. For a library that goes to machines without LLVM.
function(use_llvm_archives)
  set(archives)
  foreach(target IN LISTS LLVM_AVAILABLE_LIBS)
    if(NOT TARGET ${target} OR NOT target MATCHES "^LLVM.")
      continue()
    endif()
    list(APPEND archives ${target})
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      # Some need libraries of others that may not be there, for what nothing here
      # refers to: Z3, curl, libedit, libffi, libxml2.
      list(FILTER libraries INCLUDE REGEX "LLVM.|^(rt|dl|m)$|ZLIB|zstd")
      set_target_properties(${target} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()

  foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(TRANSFORM libraries REPLACE "^LLVM$" "KVFuseLLVMArchives")
      list(TRANSFORM libraries REPLACE ":LLVM>$" ":KVFuseLLVMArchives>")
      set_target_properties(${target} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()

  add_library(KVFuseLLVMArchives INTERFACE)
  target_link_libraries(KVFuseLLVMArchives INTERFACE ${archives})
endfunction()
