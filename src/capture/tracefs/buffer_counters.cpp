// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/buffer_counters.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

BufferCounters& BufferCounters::operator+=(const BufferCounters& other) {
  read += other.read;
  unread += other.unread;
  unread_bytes += other.unread_bytes;
  lost += other.lost;
  return *this;
}

BufferCounters parse_buffer_counters(const std::string& statistics) {
  BufferCounters counters;
  for (const std::string_view line : split(statistics, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view digits = trim(line.substr(colon + 2));
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const char* const rest = std::from_chars(digits.data(), end, value).ptr;
    if (key == "read events") counters.read += value;
    if (key == "entries") counters.unread += value;
    if (key == "bytes") counters.unread_bytes += value;
    if (key == "overrun" || key == "commit overrun" || key == "dropped events" || key == "full rings")
      counters.lost += value;
    if (key != "now ts") continue;
    counters.now_ticks = value;
    if (rest == end || *rest != '.') continue;  // seconds, with six digits behind the point
    std::uint64_t micros = 0;
    std::from_chars(rest + 1, end, micros);
    counters.now_ticks = value * 1'000'000'000 + micros * 1000;
  }
  return counters;
}

std::string read_buffer_statistics(const std::string& buffer, unsigned cpu) {
  return try_read_file(fmt::format("{}/per_cpu/cpu{}/stats", buffer, cpu)).value_or("");
}

std::uint64_t read_buffer_size(const std::string& buffer, unsigned cpu) {
  const std::string text = try_read_file(fmt::format("{}/per_cpu/cpu{}/buffer_size_kb", buffer, cpu)).value_or("");
  std::uint64_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes * 1024;
}

}  // namespace kmt
