// Copies the rows of real tokens and zeroes the others, whatever these hold.

#include <cstdint>
#include <cstring>

#include "interface.h"
#include "pool.h"

HEEDFUL_EXPORT void heedful_clear_padding(const char* input, const std::uint8_t* valid, char* output,
                                          std::int64_t rows, std::int64_t row_bytes, std::int32_t threads) {
  struct Context {
    const char* input;
    const std::uint8_t* valid;
    char* output;
    std::int64_t rows, row_bytes;
  } context{input, valid, output, rows, row_bytes};
  constexpr std::int64_t TASK_ROWS = 64;
  const std::int64_t tasks = (rows + TASK_ROWS - 1) / TASK_ROWS;
  heedful::parallel_for(
      tasks, rows * row_bytes < (1 << 18) ? 1 : threads,  // waking a thread costs more than a small copy
      [](void* data, std::int64_t task) {
        const Context& c = *static_cast<Context*>(data);
        const std::int64_t last = (task + 1) * TASK_ROWS < c.rows ? (task + 1) * TASK_ROWS : c.rows;
        for (std::int64_t row = task * TASK_ROWS; row < last; ++row) {
          char* to = c.output + row * c.row_bytes;
          if (c.valid[row])
            std::memcpy(to, c.input + row * c.row_bytes, c.row_bytes);
          else
            std::memset(to, 0, c.row_bytes);
        }
      },
      &context);
}
