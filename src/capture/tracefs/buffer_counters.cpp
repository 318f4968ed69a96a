// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/buffer_counters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// Returns a number of a field's line, such as "field: char data;  offset:16;      size:4080;      signed:1;". Returns 0
// if there is no such line.
std::uint32_t number_of_field(std::string_view text, std::string_view declared, std::string_view key) {
  const std::size_t line = text.find(declared);
  const std::size_t at = line == std::string_view::npos ? line : text.find(key, line);
  return at == std::string_view::npos ? 0 : parse_leading<std::uint32_t>(text.substr(at + key.size())).value_or(0);
}

}  // namespace

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
    std::string_view rest = trim(line.substr(colon + 2));
    const std::uint64_t value = take_number<std::uint64_t>(rest).value_or(0);
    if (key == "read events") counters.read += value;
    if (key == "entries") counters.unread += value;
    if (key == "bytes") counters.unread_bytes += value;
    if (key == "overrun" || key == "commit overrun" || key == "dropped events" || key == "full rings")
      counters.lost += value;
    if (key != "now ts") continue;
    counters.now_ticks = value;
    if (!rest.starts_with('.')) continue;  // the time is in seconds with six digits after the decimal point
    const std::uint64_t micros = parse_leading<std::uint64_t>(rest.substr(1)).value_or(0);
    counters.now_ticks = value * 1'000'000'000 + micros * 1000;
  }
  return counters;
}

std::string without_overrun(const std::string& statistics) {
  std::string text;
  for (const std::string_view line : split(statistics, '\n')) {
    if (line.empty()) continue;
    text += line.starts_with("overrun:") ? std::string("overrun: 0\n") : fmt::format("{}\n", line);
  }
  return text;
}

std::string without_time(const std::string& statistics) {
  std::string text;
  for (const std::string_view line : split(statistics, '\n'))
    if (!line.empty() && !line.starts_with("now ts:")) text += fmt::format("{}\n", line);
  return text;
}

std::string read_buffer_statistics(const std::string& buffer, unsigned cpu) {
  return try_read_file(fmt::format("{}/per_cpu/cpu{}/stats", buffer, cpu)).value_or("");
}

std::uint64_t read_buffer_size(const std::string& buffer, unsigned cpu) {
  const std::string text = try_read_file(fmt::format("{}/per_cpu/cpu{}/buffer_size_kb", buffer, cpu)).value_or("");
  return parse_leading<std::uint64_t>(text).value_or(0) * 1024;
}

std::vector<unsigned> ring_buffer_cpus(const std::string& instance) {
  std::vector<unsigned> cpus;
  for (const std::string& name : all_names_in(instance + "/per_cpu")) {
    if (!name.starts_with("cpu")) continue;
    if (const auto cpu = parse_leading<unsigned>(name.substr(3))) cpus.push_back(*cpu);
  }
  if (cpus.empty()) throw Error("The ring buffer has no CPUs").at({instance, {}, {}});
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::uint32_t sub_buffer_bytes(const std::string& text) {
  return number_of_field(text, "char data;", "offset:") + number_of_field(text, "char data;", "size:");
}

std::uint32_t kernel_long_bytes(const std::string& text) { return number_of_field(text, "local_t commit;", "size:"); }

}  // namespace kmt
