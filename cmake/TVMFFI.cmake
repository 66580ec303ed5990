# Finds the C and C++ interface of TVM-FFI where the Python environment has it:
# the targets tvm_ffi::header and tvm_ffi::shared.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python3_EXECUTABLE} -m tvm_ffi.config --cmakedir
  OUTPUT_VARIABLE tvm_ffi_DIR
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE TVMFFI_STATUS)
if(NOT TVMFFI_STATUS EQUAL 0)
  message(FATAL_ERROR "${Python3_EXECUTABLE} has no tvm_ffi: install the packages "
                      "of requirements-dev.txt")
endif()
# The package asks the interpreter once more, under its own name.
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
find_package(tvm_ffi REQUIRED CONFIG PATHS ${tvm_ffi_DIR} NO_DEFAULT_PATH)
