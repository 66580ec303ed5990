//===- TensorCall.cpp - Calls with torch tensors --------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Python module _tensor_call. A call of a TVM-FFI function from Python
// makes two owning objects of each tensor, and a check of seven tensors in
// Python costs half as much again. Here torch fills in a borrowed DLTensor for
// each, as DLPack's exchange interface has it for calls of kernels. The module
// keeps to Python's stable interface, so that one file serves Python 3.10 and
// all later ones.
//
//===----------------------------------------------------------------------===//

#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "StackBuffer.h"
#include <string>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

using kvfuse::runtime::StackBuffer;

namespace {
/// What is used of torch, looked up once.
struct Torch {
  PyTypeObject *tensor = nullptr;
  PyObject *isGradEnabled = nullptr;
  PyObject *requiresGrad = nullptr;
  PyObject *isNeg = nullptr;
  /// Null if this torch has none, or one of another version.
  const DLPackExchangeAPI *exchange = nullptr;
};

/// An instance of the Python type TensorCall.
struct TensorCall {
  PyObject_HEAD;
  /// Called with `count` plain tensors; null until one is set.
  PyObject *direct;
  Py_ssize_t count;
  /// The names of these arguments in a tuple; an empty one if they have none.
  PyObject *names;
  /// The TVM-FFI function that `direct` is; null if it is another callable.
  TVMFFIObjectHandle function;
};

/// torch's current stream and allocator for compiled functions, for a scope.
class Environment {
public:
  Environment(const DLPackExchangeAPI &exchange, const DLDevice &device)
      : device(device) {
    if (device.device_type != kDLCPU &&
        exchange.current_work_stream(device.device_type, device.device_id,
                                     &stream) == 0)
      hasStream = TVMFFIEnvSetStream(device.device_type, device.device_id,
                                     stream, &outerStream) == 0;
    allocator = exchange.managed_tensor_allocator;
    TVMFFIEnvSetDLPackManagedTensorAllocator(
        allocator, /*write_to_global_context=*/0, &outerAllocator);
  }
  ~Environment() {
    if (hasStream && outerStream != stream)
      TVMFFIEnvSetStream(device.device_type, device.device_id, outerStream,
                         nullptr);
    if (outerAllocator != allocator)
      TVMFFIEnvSetDLPackManagedTensorAllocator(
          outerAllocator, /*write_to_global_context=*/0, nullptr);
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  DLDevice device;
  bool hasStream = false;
  void *stream = nullptr;
  TVMFFIStreamHandle outerStream = nullptr;
  DLPackManagedTensorAllocator allocator = nullptr;
  DLPackManagedTensorAllocator outerAllocator = nullptr;
};
} // namespace

static Torch torch;

static TensorCall &get(PyObject *object) {
  return *reinterpret_cast<TensorCall *>(object);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Are all arguments of torch.Tensor itself? Subclasses may have no memory.
static bool arePlainTensors(PyObject *args, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i)
    if (Py_TYPE(PyTuple_GetItem(args, i)) != torch.tensor)
      return false;
  return true;
}

/// Takes the reference `value`. Returns 1 if it is True, -1 if it is null.
static int isTrue(PyObject *value) {
  if (!value)
    return -1;
  bool result = value == Py_True;
  Py_DECREF(value);
  return result;
}

/// Returns 1 if autograd would have to know what a call writes, -1 with an
/// exception set.
static int areRecorded(PyObject *args, Py_ssize_t count) {
  int result = isTrue(PyObject_CallNoArgs(torch.isGradEnabled));
  if (result != 1)
    return result;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (int needsGrad = isTrue(
            PyObject_GetAttr(PyTuple_GetItem(args, i), torch.requiresGrad)))
      return needsGrad;
  return 0;
}

/// Raises the error that a compiled function left, as Python's exception of the
/// same name.
static void raiseError() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  // Otherwise Python code that was called on the way has raised.
  if (!PyErr_Occurred()) {
    const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
    std::string kind(cell->kind.data, cell->kind.size);
    std::string message(cell->message.data, cell->message.size);
    PyObject *type = PyDict_GetItemString(PyEval_GetBuiltins(), kind.c_str());
    bool isException = type && PyExceptionClass_Check(type);
    PyErr_SetString(isException ? type : PyExc_RuntimeError, message.c_str());
  }
  if (error)
    TVMFFIObjectDecRef(error);
}

/// Has `tensor` got the negative bit, by which its elements are not what lies
/// in memory? The imaginary part of a conjugate has, so other types never do.
/// Returns -1 with an exception set.
static int isNegated(PyObject *tensor, const DLTensor &borrowed) {
  if (borrowed.dtype.code != kDLFloat)
    return 0;
  return isTrue(PyObject_CallMethodObjArgs(tensor, torch.isNeg, nullptr));
}

/// Borrows the memory of all arguments, sizes and strides included, so nobody
/// may resize a tensor meanwhile, as in torch's own operations. Returns false
/// where torch cannot lend it, or where elements are not what lies there.
static bool borrow(PyObject *args, Py_ssize_t count, DLTensor *tensors) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *tensor = PyTuple_GetItem(args, i);
    if (torch.exchange->dltensor_from_py_object_no_sync(tensor, &tensors[i]) ||
        isNegated(tensor, tensors[i])) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

/// Calls a TVM-FFI function, which returns nothing, with tensors.
static PyObject *callFunction(TVMFFIObjectHandle function, DLTensor *tensors,
                              size_t count) {
  StackBuffer<TVMFFIAny, 32> values(count);
  DLDevice device = {kDLCPU, 0};
  for (size_t i = 0; i < count; ++i) {
    values[i] = {};
    values[i].type_index = kTVMFFIDLTensorPtr;
    values[i].v_ptr = &tensors[i];
    if (device.device_type == kDLCPU)
      device = tensors[i].device;
  }
  TVMFFIAny result = {};
  result.type_index = kTVMFFINone;
  int status = 0;
  {
    Environment environment(*torch.exchange, device);
    PyThreadState *thread = PyEval_SaveThread();
    status = TVMFFIFunctionCall(function, values.data(),
                                static_cast<int32_t>(count), &result);
    PyEval_RestoreThread(thread);
  }
  if (status) {
    raiseError();
    return nullptr;
  }
  Py_RETURN_NONE;
}

static PyObject *callOtherwise(PyObject *object, PyObject *args,
                               PyObject *kwargs) {
  PyObject *otherwise = PyObject_GetAttrString(object, "_call_otherwise");
  if (!otherwise)
    return nullptr;
  PyObject *result = PyObject_Call(otherwise, args, kwargs);
  Py_DECREF(otherwise);
  return result;
}

/// Calls `direct` if the arguments, by position alone, are what it expects.
static PyObject *callByPosition(PyObject *object, PyObject *args) {
  const TensorCall &call = get(object);
  if (!call.direct || PyTuple_Size(args) != call.count ||
      !arePlainTensors(args, call.count))
    return callOtherwise(object, args, nullptr);
  if (int recorded = areRecorded(args, call.count))
    return recorded < 0 ? nullptr : callOtherwise(object, args, nullptr);
  StackBuffer<DLTensor, 32> tensors(call.count);
  if (!borrow(args, call.count, tensors.data()))
    return callOtherwise(object, args, nullptr);
  if (call.function)
    return callFunction(call.function, tensors.data(), call.count);
  return PyObject_Call(call.direct, args, nullptr);
}

/// The arguments of a call by position, as a new tuple. Null if these are
/// others than the names say; no exception is set then.
static PyObject *bind(const TensorCall &call, PyObject *args,
                      PyObject *kwargs) {
  Py_ssize_t numArgs = PyTuple_Size(args);
  if (!call.direct || numArgs + PyDict_Size(kwargs) != PyTuple_Size(call.names))
    return nullptr;
  PyObject *bound = PyTuple_New(call.count);
  for (Py_ssize_t i = 0; bound && i < call.count; ++i) {
    PyObject *value =
        i < numArgs ? PyTuple_GetItem(args, i)
                    : PyDict_GetItem(kwargs, PyTuple_GetItem(call.names, i));
    if (!value) {
      Py_CLEAR(bound);
      break;
    }
    Py_INCREF(value);
    PyTuple_SetItem(bound, i, value);
  }
  PyErr_Clear();
  return bound;
}

static PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs) {
  if (!kwargs || PyDict_Size(kwargs) == 0)
    return callByPosition(object, args);
  PyObject *bound = bind(get(object), args, kwargs);
  if (!bound)
    return callOtherwise(object, args, kwargs);
  PyObject *result = callByPosition(object, bound);
  Py_DECREF(bound);
  return result;
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

/// Sets `exchange` to the DLPack interface of torch.Tensor if it is of use
/// here. Returns false with an exception set.
static bool findExchange(PyObject *tensor, const DLPackExchangeAPI *&exchange) {
  const char *name = "__dlpack_c_exchange_api__";
  if (!PyObject_HasAttrString(tensor, name))
    return true;
  PyObject *capsule = PyObject_GetAttrString(tensor, name);
  if (!capsule)
    return false;
  auto *found = static_cast<const DLPackExchangeAPI *>(
      PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  if (!found)
    return false;
  if (found->header.version.major == DLPACK_MAJOR_VERSION &&
      found->dltensor_from_py_object_no_sync)
    exchange = found;
  return true;
}

static bool findTorch() {
  if (torch.tensor)
    return true;
  PyObject *module = PyImport_ImportModule("torch");
  if (!module)
    return false;
  PyObject *tensor = PyObject_GetAttrString(module, "Tensor");
  torch.isGradEnabled = PyObject_GetAttrString(module, "is_grad_enabled");
  torch.requiresGrad = PyUnicode_InternFromString("requires_grad");
  torch.isNeg = PyUnicode_InternFromString("is_neg");
  Py_DECREF(module);
  if (!tensor || !torch.isGradEnabled || !torch.requiresGrad || !torch.isNeg ||
      !findExchange(tensor, torch.exchange))
    return false;
  torch.tensor = reinterpret_cast<PyTypeObject *>(tensor);
  return true;
}

/// _expect_tensors(direct, handle, count, names)
static PyObject *expectTensors(PyObject *object, PyObject *args) {
  PyObject *direct = nullptr;
  Py_ssize_t count = 0;
  PyObject *names = nullptr;
  PyObject *handle = nullptr;
  if (!PyArg_ParseTuple(args, "OO!nO!", &direct, &PyLong_Type, &handle, &count,
                        &PyTuple_Type, &names) ||
      !findTorch())
    return nullptr;
  TVMFFIObjectHandle function = PyLong_AsVoidPtr(handle);
  if (PyErr_Occurred())
    return nullptr;
  TensorCall &call = get(object);
  // A thread may be in what was set first.
  if (!call.direct && torch.exchange) {
    Py_INCREF(direct);
    Py_INCREF(names);
    call.function = function;
    call.count = count;
    call.names = names;
    call.direct = direct;
  }
  Py_RETURN_NONE;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(get(object).direct);
  Py_VISIT(get(object).names);
  return 0;
}

static int clear(PyObject *object) {
  Py_CLEAR(get(object).direct);
  Py_CLEAR(get(object).names);
  return 0;
}

static void deallocate(PyObject *object) {
  PyObject_GC_UnTrack(object);
  clear(object);
  PyTypeObject *type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

PyDoc_STRVAR(
    typeDocumentation,
    "A callable that is cheap to call with torch tensors.\n\n"
    "After `_expect_tensors`, calls with these arguments alone, all of\n"
    "torch.Tensor itself and none of them with a gradient that autograd\n"
    "records, go to a function directly. All others go to the method\n"
    "`_call_otherwise`, which subclasses have.");

PyDoc_STRVAR(
    expectTensorsDocumentation,
    "_expect_tensors(direct, handle, count, names)\n--\n\n"
    "Makes calls with `count` tensors go to `direct` from now on; what the\n"
    "first call of this said stays. handle: the address of the TVM-FFI\n"
    "function that `direct` is, one that returns nothing; 0 if it is another\n"
    "callable. names: of all arguments, or () if they are passed by position\n"
    "only. Imports torch.");

static PyMethodDef methods[] = {{"_expect_tensors", expectTensors, METH_VARARGS,
                                 expectTensorsDocumentation},
                                {nullptr, nullptr, 0, nullptr}};

static PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>(typeDocumentation)},
    {Py_tp_call, reinterpret_cast<void *>(call)},
    {Py_tp_methods, methods},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {0, nullptr}};

static PyType_Spec spec = {
    "kvfuse._tensor_call.TensorCall", sizeof(TensorCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                             "_tensor_call",
                             "Calls with torch tensors.",
                             /*m_size=*/-1,
                             nullptr,
                             nullptr,
                             nullptr,
                             nullptr,
                             nullptr};

// NOLINTNEXTLINE(readability-identifier-naming): Python looks for this name.
PyMODINIT_FUNC PyInit__tensor_call() {
  PyObject *created = PyModule_Create(&module);
  PyObject *type = created ? PyType_FromSpec(&spec) : nullptr;
  if (!type || PyModule_AddObject(created, "TensorCall", type)) {
    Py_XDECREF(type);
    Py_XDECREF(created);
    return nullptr;
  }
  return created;
}
