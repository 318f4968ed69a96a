// SPDX-License-Identifier: GPL-2.0-or-later
// Finds lines of an event whose end is cut off: they lack the last field of the event's other lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/text/line.hpp"

namespace kmt::text {

class LastFields {
 public:
  void learn(const Line& line);
  // True if the line lacks the field that most lines of the event have last.
  bool is_cut(const Line& line) const;

 private:
  struct Last {
    std::string name;
    std::size_t fields = 0;  // number of fields in the first such line
    std::uint64_t lines = 0;
  };
  std::vector<Last> found_;
  std::size_t usual_ = 0;  // index of the most frequent last field; if tied, that of the longest line
};

}  // namespace kmt::text
