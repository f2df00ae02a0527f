// Sums of products in tiles (AMX): 16 inputs and 16 outputs at once, TILE * GROUP terms a step. In place of dots.inc, which
// says what these functions are for; TILE_DOT is the product of two tiles.

constexpr int TILE = 16, BLOCK = 2 * TILE, STEP = TILE * GROUP, COLUMN = TILE * GROUP;
constexpr int WEIGHTS_ROW = PANEL * GROUP * static_cast<int>(sizeof(Weight));  // bytes
constexpr int SUMS_ROW = PANEL * static_cast<int>(sizeof(Total));

constexpr int STRIP = PANEL;
using Strip = const Weight*;
static inline std::int64_t room_of_strip(const Layer&) { return 0; }
static inline Strip strip_of(const Layer& p, std::int64_t column, char*) { return p.packed + column * p.grouped(); }

// Whole steps: where the terms end within one, it is the last STEP terms, and what was counted before is 0.
static inline std::int64_t codes_of_row(const Layer& p) {
  return p.grouped() < STEP ? p.grouped() : (p.grouped() + STEP - 1) / STEP * STEP;
}
static inline void arrange(const Layer& p, Code* codes) {
  const std::int64_t rest = p.grouped() % STEP;
  if (p.grouped() < STEP || rest == 0) return;
  Code* last = codes + (p.grouped() - rest);
  std::memmove(last + (STEP - rest), last, rest * sizeof(Code));
  std::memset(last, 0, (STEP - rest) * sizeof(Code));
}
static inline std::int64_t block_start(std::int64_t rows, std::int64_t, std::int64_t block) {
  return block * BLOCK < rows ? block * BLOCK : rows;
}
// A tile reads the rows that it has, be they asked for or not.
static inline std::int64_t rows_with_room(std::int64_t rows) {
  return rows <= TILE ? rows : (rows + BLOCK - 1) / BLOCK * BLOCK;
}
// Tiles 0 to 3 hold sums, 4 and 5 inputs, 6 and 7 weights; where a block is one tile of rows, 5 has weights as well.
static inline void begin_layer(const Layer& p) {
  const int rows = static_cast<int>(p.rows < TILE ? p.rows : TILE);
  const int terms = static_cast<int>(p.grouped() < STEP ? p.grouped() : STEP);
  TileShapes shapes;
  for (int tile = 0; tile < 4; ++tile) shapes.set(tile, rows, TILE * sizeof(Total));
  shapes.set(4, rows, terms * static_cast<int>(sizeof(Code)));
  if (p.rows > TILE) shapes.set(5, TILE, terms * static_cast<int>(sizeof(Code)));
  for (int tile = p.rows > TILE ? 6 : 5; tile < 8; ++tile) shapes.set(tile, terms / GROUP, COLUMN * sizeof(Weight));
  TILES_BEGIN(shapes);
}
static inline void end_layer() { TILES_END(); }

// The weights of a step: `last` where it is the last one.
static inline const Weight* of_step(const Weight* weights, std::int64_t t, std::int64_t last) {
  return weights + (t < last ? t : last) * PANEL;
}

// Two tiles of rows, two of outputs.
static void dot_square(const Code* codes, std::int64_t step, const Weight* weights, std::int64_t last,
                       Total* sums) {
  TILE_ZERO(0);
  TILE_ZERO(1);
  TILE_ZERO(2);
  TILE_ZERO(3);
  for (std::int64_t t = 0; t < step; t += STEP) {
    const Weight* w = of_step(weights, t, last);
    TILE_LOAD(6, w, WEIGHTS_ROW);
    TILE_LOAD(4, codes + t, step * sizeof(Code));
    TILE_DOT(0, 4, 6);
    TILE_LOAD(7, w + COLUMN, WEIGHTS_ROW);
    TILE_DOT(1, 4, 7);
    TILE_LOAD(5, codes + TILE * step + t, step * sizeof(Code));
    TILE_DOT(2, 5, 6);
    TILE_DOT(3, 5, 7);
  }
  TILE_STORE(0, sums, SUMS_ROW);
  TILE_STORE(1, sums + TILE, SUMS_ROW);
  TILE_STORE(2, sums + TILE * PANEL, SUMS_ROW);
  TILE_STORE(3, sums + TILE * PANEL + TILE, SUMS_ROW);
}

// One tile of rows, four of outputs.
static void dot_line(const Code* codes, std::int64_t step, const Weight* weights, std::int64_t last,
                     Total* sums) {
  TILE_ZERO(0);
  TILE_ZERO(1);
  TILE_ZERO(2);
  TILE_ZERO(3);
  for (std::int64_t t = 0; t < step; t += STEP) {
    const Weight* w = of_step(weights, t, last);
    TILE_LOAD(4, codes + t, step * sizeof(Code));
    TILE_LOAD(5, w, WEIGHTS_ROW);
    TILE_DOT(0, 4, 5);
    TILE_LOAD(6, w + COLUMN, WEIGHTS_ROW);
    TILE_DOT(1, 4, 6);
    TILE_LOAD(7, w + 2 * COLUMN, WEIGHTS_ROW);
    TILE_DOT(2, 4, 7);
    TILE_LOAD(5, w + 3 * COLUMN, WEIGHTS_ROW);
    TILE_DOT(3, 4, 5);
  }
  TILE_STORE(0, sums, SUMS_ROW);
  TILE_STORE(1, sums + TILE, SUMS_ROW);
  TILE_STORE(2, sums + 2 * TILE, SUMS_ROW);
  TILE_STORE(3, sums + 3 * TILE, SUMS_ROW);
}

// The sums of at most BLOCK inputs for the first `outputs` of a panel. They wrap around as those of every form do.
static void dot_strip(const Layer& p, int rows, const Code* codes, Strip weights, int outputs, Total* sums) {
  const std::int64_t step = codes_of_row(p), last = p.grouped() < STEP ? 0 : p.grouped() - STEP;
  // Tile 5 can have weights where it has as many bytes and rows as they.
  if (p.rows <= TILE || (rows <= TILE && p.grouped() >= STEP)) return dot_line(codes, step, weights, last, sums);
  for (int column = 0; column < outputs; column += 2 * TILE)
    dot_square(codes, step, weights + column * GROUP, last, sums + column);
}

// As in dots.inc, of tiles that stay where they are.
static std::int64_t busy(std::int64_t rounds) {
  Layer most{};
  most.rows = TILE;
  most.terms = STEP;
  begin_layer(most);
  for (std::int64_t n = 0; n < rounds; ++n) {
    TILE_DOT(0, 4, 5);
    TILE_DOT(1, 4, 6);
    TILE_DOT(2, 4, 7);
    TILE_DOT(3, 4, 5);
  }
  end_layer();
  return rounds * 4 * TILE * TILE * STEP * 2;
}
