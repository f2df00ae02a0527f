// Tiles of a processor with AMX, by eight names. Tests compile their own in place of these, in plain C++, where a processor
// has none (HEEDFUL_TILES names the header).
#pragma once

#include <cstdint>

namespace heedful {

// What a tile holds, as the instruction reads it: rows, and bytes of a row.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, unused[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};

  void set(int tile, int row_count, int row_bytes) {
    rows[tile] = static_cast<std::uint8_t>(row_count);
    bytes[tile] = static_cast<std::uint16_t>(row_bytes);
  }
};

}  // namespace heedful

#if defined(HEEDFUL_TILES)
#include HEEDFUL_TILES
#elif defined(__x86_64__) && defined(__linux__) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define HEEDFUL_HAS_TILES 1
#define HEEDFUL_BEGIN_TILES(numbers) \
  HEEDFUL_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512vnni,fma,amx-tile," numbers)
#define HEEDFUL_TILE_LANES "lanes_avx512.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

// The instructions are not known to write memory or to read it: nothing may be moved across them.
#define HEEDFUL_TILES_FENCE asm volatile("" ::: "memory")
#define TILES_BEGIN(shapes) do { HEEDFUL_TILES_FENCE; _tile_loadconfig(&(shapes)); } while (0)
#define TILES_END() _tile_release()
#define TILE_ZERO(tile) _tile_zero(tile)
#define TILE_LOAD(tile, from, step) _tile_loadd(tile, from, step)
#define TILE_STORE(tile, to, step) do { _tile_stored(tile, to, step); HEEDFUL_TILES_FENCE; } while (0)
#define TILE_DOT_WHOLE(sum, codes, weights) _tile_dpbusd(sum, codes, weights)
#define TILE_DOT_BFLOAT16(sum, left, right) _tile_dpbf16ps(sum, left, right)

namespace heedful {

// Whether the processor has tiles and the system lets this process use them; it must be asked, once.
inline bool tiles_granted() {
  static const bool granted = [] {
    unsigned a, b, c, d;
    constexpr unsigned TILE = 1u << 24, WHOLE = 1u << 25, BFLOAT16 = 1u << 22, ALL = TILE | WHOLE | BFLOAT16;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & ALL) != ALL) return false;
    constexpr long ASK_FOR_STATE = 0x1023, TILE_DATA = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
  }();
  return granted;
}

}  // namespace heedful
#endif
