// SPDX-License-Identifier: GPL-2.0-or-later
// Finds lines that a text has twice, for example because two copies of a trace overlap. Such lines are identical,
// including their time and CPU, and they are out of order or follow each other immediately.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "formats/text/lines.hpp"

namespace kmt::text {

class RepeatedLines {
 public:
  // If `counts_twins` is false, identical lines that follow each other are different events.
  explicit RepeatedLines(bool counts_twins = true) : counts_twins_(counts_twins) {}

  // Looks for signs of repeated lines in an event. `text` must be a part of the file.
  void learn(const Line& line, bool is_call, std::string_view text);
  // True if lines may be repeated, so another pass should call is_repeated() of a new object.
  bool may_have_any() const { return goes_back_ || has_twins(); }
  bool has_twins() const { return has_twins_ && has_allocations_ && has_frees_; }
  // Returns true if an item of the text repeats an earlier one. Must be called for all items in order.
  bool is_repeated(const Lines::Item& item, std::string_view text);

 private:
  struct Cpu {
    std::uint64_t latest = 0;     // time of the latest event so far
    bool is_in_the_past = false;  // the text has gone back to an earlier time, and has not passed the latest one yet
  };
  // True if the event is earlier than the previous event, which may be of another CPU.
  bool jumps_back(const Line& line);
  // Notes the event's time. Returns true from where the CPU's time goes back until it passes the latest time.
  bool is_back(const Line& line);
  // True if the event has the same text as the previous event, and both are about memory at a known address.
  bool is_twin(const Line& line, bool is_call, std::string_view text);

  bool counts_twins_;
  std::map<unsigned, Cpu> cpus_;
  std::uint64_t previous_ = 0;  // time of the previous event, of any CPU
  bool is_in_copy_ = false;     // all events since the time jumped back repeat earlier ones
  std::string_view last_;
  bool goes_back_ = false;
  bool has_twins_ = false;
  // If a trace has no frees, identical allocations in succession may be different events.
  bool has_allocations_ = false, has_frees_ = false;
  bool was_repeated_ = false;
  FlatMap<std::uint8_t> seen_;  // hashes of lines
};

}  // namespace kmt::text
