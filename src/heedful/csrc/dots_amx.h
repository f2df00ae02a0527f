// Sums of products of whole numbers in tiles (AMX): 16 inputs and 16 outputs at once, 64 terms a step. A form of its own in
// place of dots.inc; what whole.inc asks for is said there.

using Code = std::uint8_t;
constexpr int TILE = 16, BLOCK = 2 * TILE, STEP = TILE * GROUP;

static inline std::int32_t shift_of(std::int32_t zero) { return zero; }
// Whole steps: where the terms end within one, it is the last STEP terms, and what was counted before is 0.
static inline std::int64_t codes_of_row(const Whole& p) {
  return p.grouped() < STEP ? p.grouped() : (p.grouped() + STEP - 1) / STEP * STEP;
}
static inline void arrange(const Whole& p, Code* codes) {
  const std::int64_t rest = p.grouped() % STEP;
  if (p.grouped() < STEP || rest == 0) return;
  Code* last = codes + (p.grouped() - rest);
  std::memmove(last + (STEP - rest), last, rest);
  std::memset(last, 0, STEP - rest);
}
static inline std::int64_t block_start(std::int64_t rows, std::int64_t, std::int64_t block) {
  return block * BLOCK < rows ? block * BLOCK : rows;
}
// A tile reads the rows that it has, be they asked for or not.
static inline std::int64_t rows_with_room(std::int64_t rows) {
  return rows <= TILE ? rows : (rows + BLOCK - 1) / BLOCK * BLOCK;
}
// Tiles 0 to 3 hold sums, 4 and 5 inputs, 6 and 7 weights; where a block is one tile of rows, 5 has weights as well.
static inline void begin_layer(const Whole& p) {
  const int rows = static_cast<int>(p.rows < TILE ? p.rows : TILE);
  const int terms = static_cast<int>(p.grouped() < STEP ? p.grouped() : STEP);
  TileShapes shapes;
  for (int tile = 0; tile < 4; ++tile) shapes.set(tile, rows, TILE * sizeof(std::int32_t));
  shapes.set(4, rows, terms);
  if (p.rows > TILE) shapes.set(5, TILE, terms);
  for (int tile = p.rows > TILE ? 6 : 5; tile < 8; ++tile) shapes.set(tile, terms / GROUP, TILE * GROUP);
  TILES_BEGIN(shapes);
}
static inline void end_layer() { TILES_END(); }

constexpr int COLUMN = TILE * GROUP, WEIGHTS_ROW = PANEL * GROUP;
constexpr int SUMS_ROW = PANEL * static_cast<int>(sizeof(std::int32_t));

// The weights of a step: `last` where it is the last one.
static inline const std::int8_t* of_step(const std::int8_t* weights, std::int64_t t, std::int64_t last) {
  return weights + (t < last ? t : last) * PANEL;
}

// Two tiles of rows, two of outputs.
static void dot_square(const Code* codes, std::int64_t step, const std::int8_t* weights, std::int64_t last,
                       std::int32_t* sums) {
  TILE_ZERO(0);
  TILE_ZERO(1);
  TILE_ZERO(2);
  TILE_ZERO(3);
  for (std::int64_t t = 0; t < step; t += STEP) {
    const std::int8_t* w = of_step(weights, t, last);
    TILE_LOAD(6, w, WEIGHTS_ROW);
    TILE_LOAD(4, codes + t, step);
    TILE_DOT_WHOLE(0, 4, 6);
    TILE_LOAD(7, w + COLUMN, WEIGHTS_ROW);
    TILE_DOT_WHOLE(1, 4, 7);
    TILE_LOAD(5, codes + TILE * step + t, step);
    TILE_DOT_WHOLE(2, 5, 6);
    TILE_DOT_WHOLE(3, 5, 7);
  }
  TILE_STORE(0, sums, SUMS_ROW);
  TILE_STORE(1, sums + TILE, SUMS_ROW);
  TILE_STORE(2, sums + TILE * PANEL, SUMS_ROW);
  TILE_STORE(3, sums + TILE * PANEL + TILE, SUMS_ROW);
}

// One tile of rows, four of outputs.
static void dot_line(const Code* codes, std::int64_t step, const std::int8_t* weights, std::int64_t last,
                     std::int32_t* sums) {
  TILE_ZERO(0);
  TILE_ZERO(1);
  TILE_ZERO(2);
  TILE_ZERO(3);
  for (std::int64_t t = 0; t < step; t += STEP) {
    const std::int8_t* w = of_step(weights, t, last);
    TILE_LOAD(4, codes + t, step);
    TILE_LOAD(5, w, WEIGHTS_ROW);
    TILE_DOT_WHOLE(0, 4, 5);
    TILE_LOAD(6, w + COLUMN, WEIGHTS_ROW);
    TILE_DOT_WHOLE(1, 4, 6);
    TILE_LOAD(7, w + 2 * COLUMN, WEIGHTS_ROW);
    TILE_DOT_WHOLE(2, 4, 7);
    TILE_LOAD(5, w + 3 * COLUMN, WEIGHTS_ROW);
    TILE_DOT_WHOLE(3, 4, 5);
  }
  TILE_STORE(0, sums, SUMS_ROW);
  TILE_STORE(1, sums + TILE, SUMS_ROW);
  TILE_STORE(2, sums + 2 * TILE, SUMS_ROW);
  TILE_STORE(3, sums + 3 * TILE, SUMS_ROW);
}

// The sums of at most BLOCK inputs for the first `outputs` of a panel. They wrap around as those of every form do.
static void dot_panel(const Whole& p, int rows, const Code* codes, const std::int8_t* weights, int outputs,
                      std::int32_t* sums) {
  const std::int64_t step = codes_of_row(p), last = p.grouped() < STEP ? 0 : p.grouped() - STEP;
  // Tile 5 can have weights where it has as many bytes and rows as they.
  if (p.rows <= TILE || (rows <= TILE && p.grouped() >= STEP)) return dot_line(codes, step, weights, last, sums);
  for (int column = 0; column < outputs; column += 2 * TILE)
    dot_square(codes, step, weights + column * GROUP, last, sums + column);
}
