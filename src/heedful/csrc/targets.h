// Compiles what stands between a BEGIN and an END for one instruction set, whatever the rest is compiled for. Kernel
// bodies are included once for each set, in a namespace of its name; which one runs is chosen at run time.
#pragma once

#include <cstring>

#include "interface.h"

#if defined(__x86_64__) || defined(__i386__)
#define HEEDFUL_X86 1
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define HEEDFUL_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define HEEDFUL_BEGIN(set) HEEDFUL_PRAGMA(clang attribute push(__attribute__((target(set))), apply_to = function))
#define HEEDFUL_END HEEDFUL_PRAGMA(clang attribute pop)
#else
#define HEEDFUL_BEGIN(set) HEEDFUL_PRAGMA(GCC push_options) HEEDFUL_PRAGMA(GCC target(set))
#define HEEDFUL_END HEEDFUL_PRAGMA(GCC pop_options)
#endif
#define HEEDFUL_BEGIN_AVX512 HEEDFUL_BEGIN("avx512f,avx512dq,avx512vl,fma")
#define HEEDFUL_BEGIN_AVX2 HEEDFUL_BEGIN("avx2,fma")

// The best instruction set of this machine, by the name of its namespace.
HEEDFUL_EXPORT const char* heedful_instruction_set();

// Of a kernel that was compiled for each instruction set, the one for this machine.
#if HEEDFUL_X86
#define HEEDFUL_CHOSEN(kernel) heedful::chosen_of(avx512::kernel, avx2::kernel, portable::kernel)
#else
#define HEEDFUL_CHOSEN(kernel) portable::kernel
#endif

namespace heedful {

template <class Kernel>
Kernel* chosen_of(Kernel* avx512, Kernel* avx2, Kernel* portable) {
  const char* name = heedful_instruction_set();
  return std::strcmp(name, "avx512") == 0 ? avx512 : std::strcmp(name, "avx2") == 0 ? avx2 : portable;
}

}  // namespace heedful
