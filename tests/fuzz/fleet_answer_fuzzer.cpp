// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any text as the answer of a fleet's server. The first bytes of the input choose how the columns of each row
// are read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "fleet/answer.hpp"

namespace {

void read_cell(kmt::AnswerCells& cells, unsigned how) {
  switch (how % 7) {
    case 0: (void)cells.text(); break;
    case 1: (void)cells.texts(); break;
    case 2: (void)cells.count(); break;
    case 3: (void)cells.number(); break;
    case 4: (void)cells.number_32(); break;
    case 5: (void)cells.decimal(); break;
    default: (void)cells.allocator(); break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kCells = 16;
  if (size < kCells) return 0;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data + kCells), size - kCells);
    for (const nlohmann::json& row : kmt::rows_of_answer(text)) {
      try {
        kmt::AnswerCells cells(row);
        for (std::size_t i = 0; i < kCells; ++i) read_cell(cells, data[i]);
      } catch (const kmt::Error&) {  // expected: the answer is damaged
      }
    }
  } catch (const kmt::Error&) {
  }
  return 0;
}
