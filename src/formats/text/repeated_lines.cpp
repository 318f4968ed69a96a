// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/repeated_lines.hpp"

#include <functional>
#include <utility>

#include "formats/ftrace/record_decoder.hpp"
#include "formats/text/memory_line.hpp"
#include "formats/text/pointer.hpp"

namespace kmt::text {

bool RepeatedLines::jumps_back(const Line& line) { return line.time < std::exchange(previous_, line.time); }

bool RepeatedLines::is_back(const Line& line) {
  Cpu& cpu = cpus_[line.cpu];
  if (line.time != cpu.latest) cpu.is_in_the_past = line.time < cpu.latest;
  if (!cpu.is_in_the_past) cpu.latest = line.time;
  return cpu.is_in_the_past;
}

bool RepeatedLines::is_twin(const Line& line, bool is_call, std::string_view text) {
  const std::string_view last = std::exchange(last_, text);
  if (is_call || text != last || text.data() == last.data()) return false;
  const EventKind kind = event_kind(system_of(line), line.event);
  const bool is_page = kind == EventKind::page_alloc || kind == EventKind::page_free;
  if (!is_page && !is_slab_alloc(kind) && !is_slab_free(kind)) return false;
  const std::string_view pointer = value_of(line.fields, is_page ? "pfn" : "ptr");
  return !pointer.empty() && !is_nothing(pointer) && !is_hidden(pointer) &&
         pointer.find_first_not_of("0x") != pointer.npos;
}

void RepeatedLines::learn(const Line& line, bool is_call, std::string_view text) {
  if (!line.has_time) return;
  goes_back_ = jumps_back(line) || goes_back_;
  has_twins_ = is_twin(line, is_call, text) || has_twins_;
  has_frees_ = has_frees_ || line.event == "kfree" || line.event == "kmem_cache_free" || line.event == "mm_page_free";
  has_allocations_ = has_allocations_ || line.event.find("alloc") != line.event.npos;
}

bool RepeatedLines::is_repeated(const Lines::Item& item, std::string_view text) {
  const Line* line = std::get_if<Line>(&item);
  const CallLine* const call = std::get_if<CallLine>(&item);
  if (call != nullptr && call->has_time) line = &call->line;
  // A loss belongs to the event before it: if an overlapping copy repeats the event, it also repeats the loss.
  if (line == nullptr) return std::holds_alternative<LostLine>(item) && was_repeated_;
  if (!line->has_time) return false;
  if (text.data() == last_.data()) return was_repeated_;  // the second event of a line that lacks a line break
  const bool is_new = seen_.insert(std::hash<std::string_view>{}(text)).second;
  const bool twin = is_twin(*line, call != nullptr, text);
  const bool jumps = jumps_back(*line);
  is_in_copy_ = !is_new && (jumps || is_in_copy_);
  was_repeated_ = (is_back(*line) && !is_new) || is_in_copy_ || (twin && counts_twins_);
  return was_repeated_;
}

}  // namespace kmt::text
