// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the numbers of a memory report word by word, because lines may be wrapped, split or mixed with other messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "snapshot/log/oom_report.hpp"

namespace kmt {

// Parses "12", "12kB", "12KB" and "1,234". Returns nothing for words such as "12k", whose number was cut.
std::optional<std::uint64_t> whole_amount(std::string_view word);

class MemoryWords {
 public:
  // has_room() is called before a node or zone is added. If it returns false, the node or zone is not added.
  MemoryWords(OomReport& report, std::function<bool()> has_room);

  // Returns false if the line has nothing about memory.
  bool take(std::string_view line);

 private:
  enum class Place : std::uint8_t { none, totals, node, zone, free_blocks, sum_of_blocks, cpu_lists };

  void take_word(std::string_view word);
  void take_named(std::string_view written, std::string_view value, std::string_view before);
  void take_counter(std::string_view name, std::string_view value, std::string_view before);
  void take_blocks(std::string_view word, std::size_t star, std::string_view before);
  void take_sum_of_blocks(std::string_view word);
  void take_huge_pages(std::string_view name, std::string_view value);
  void enter_zone(std::string_view name, Place place);
  void store(LogNumbers& numbers, std::string_view name, std::uint64_t value);

  OomReport& report_;
  std::function<bool()> has_room_;
  bool is_used_ = false;
  Place place_;
  unsigned node_ = 0;
  LogZone* zone_ = nullptr;
  std::uint64_t huge_pages_ = 0;
  std::string last_;     // the previous word of the line
  std::string pending_;  // name of a counter whose number is the next word
  // The numbers to which the previous word was added. Null if the previous word is no counter.
  LogNumbers* stored_in_ = nullptr;
  std::string stored_;
};

}  // namespace kmt
