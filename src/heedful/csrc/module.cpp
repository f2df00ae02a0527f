// Makes the library an importable module, so that installers place it beside the Python files. Its functions are
// called through ctypes.
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernels", "Compiled kernels of heedful.", 0, 0, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&module); }
