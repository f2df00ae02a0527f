// Tiles in plain C++, in place of those of a processor (csrc/tiles.h). Every byte is read and written one by one, so that
// the sanitizers see it, and no more rows than a tile was given. Products of tiles touch no other memory, within sizes that
// are looked at before: they are not watched, as that takes ten times as long.
#pragma once

#include <cstdlib>
#include <cstring>

#define HEEDFUL_HAS_TILES 1
#define HEEDFUL_BEGIN_TILES(numbers) HEEDFUL_BEGIN("sse2")
#define HEEDFUL_TILE_LANES "lanes_portable.h"

#if defined(__GNUC__) && !defined(__clang__)
#define HEEDFUL_UNWATCHED __attribute__((no_sanitize("address", "undefined"), optimize("O2")))
#else
#define HEEDFUL_UNWATCHED
#endif

namespace heedful {

struct PlainTiles {
  TileShapes shapes;
  unsigned char data[8][16][64];
  bool begun = false;

  void begin(const TileShapes& given) { shapes = given, begun = true, std::memset(data, 0x5a, sizeof data); }
  void end() { begun = false; }
  void zero(int tile) { std::memset(data[tile], 0, sizeof data[tile]); }
  void load(int tile, const void* from, std::ptrdiff_t step) {
    for (int r = 0; r < rows(tile); ++r)
      for (int b = 0; b < shapes.bytes[tile]; ++b) data[tile][r][b] = static_cast<const unsigned char*>(from)[r * step + b];
  }
  void store(int tile, void* to, std::ptrdiff_t step) {
    for (int r = 0; r < rows(tile); ++r)
      for (int b = 0; b < shapes.bytes[tile]; ++b) static_cast<unsigned char*>(to)[r * step + b] = data[tile][r][b];
  }
  void fit(int sum, int left, int right) {
    if (rows(sum) > 16 || rows(right) > 16 || shapes.bytes[sum] > 64) std::abort();
    if (rows(sum) != rows(left) || shapes.bytes[left] != 4 * rows(right) || shapes.bytes[sum] != shapes.bytes[right]) std::abort();
  }
  HEEDFUL_UNWATCHED void dot_whole(int sum, int left, int right) {
    fit(sum, left, right);
    for (int r = 0; r < rows(sum); ++r)
      for (int c = 0; c < 16; ++c) {
        std::uint32_t total;
        std::memcpy(&total, &data[sum][r][4 * c], 4);
        for (int k = 0; k < rows(right); ++k)
          for (int i = 0; i < 4; ++i)
            total += static_cast<std::uint32_t>(data[left][r][4 * k + i] * static_cast<std::int8_t>(data[right][k][4 * c + i]));
        std::memcpy(&data[sum][r][4 * c], &total, 4);
      }
  }
  HEEDFUL_UNWATCHED void dot_bfloat16(int sum, int left, int right) {
    fit(sum, left, right);
    for (int r = 0; r < rows(sum); ++r)
      for (int c = 0; c < 16; ++c) {
        float total;
        std::memcpy(&total, &data[sum][r][4 * c], 4);
        for (int k = 0; k < rows(right); ++k)
          for (int i = 0; i < 2; ++i) total += widened(&data[left][r][4 * k + 2 * i]) * widened(&data[right][k][4 * c + 2 * i]);
        std::memcpy(&data[sum][r][4 * c], &total, 4);
      }
  }

 private:
  HEEDFUL_UNWATCHED static float widened(const unsigned char* two) {
    const std::uint32_t bits = static_cast<std::uint32_t>(two[0] | two[1] << 8) << 16;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }
  int rows(int tile) const {
    if (!begun) std::abort();
    return shapes.rows[tile];
  }
};

inline PlainTiles& plain_tiles() {
  static thread_local PlainTiles tiles;
  return tiles;
}

}  // namespace heedful

#define TILES_BEGIN(shapes) heedful::plain_tiles().begin(shapes)
#define TILES_END() heedful::plain_tiles().end()
#define TILE_ZERO(tile) heedful::plain_tiles().zero(tile)
#define TILE_LOAD(tile, from, step) heedful::plain_tiles().load(tile, from, step)
#define TILE_STORE(tile, to, step) heedful::plain_tiles().store(tile, to, step)
#define TILE_DOT_WHOLE(sum, codes, weights) heedful::plain_tiles().dot_whole(sum, codes, weights)
#define TILE_DOT_BFLOAT16(sum, left, right) heedful::plain_tiles().dot_bfloat16(sum, left, right)
