// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/buffer_stats.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

std::uint64_t number_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string_view digits = trim(line.substr(key.size()));
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  return 0;
}

}  // namespace

CpuStats read_cpu_stats(const Instance& instance, unsigned cpu) {
  CpuStats stats;
  stats.text = try_read_file(instance.file(fmt::format("per_cpu/cpu{}/stats", cpu))).value_or("");
  stats.numbers.cpu = cpu;
  stats.numbers.entries = number_of(stats.text, "entries:");
  stats.numbers.overrun = number_of(stats.text, "overrun:");
  stats.numbers.commit_overrun = number_of(stats.text, "commit overrun:");
  stats.numbers.dropped = number_of(stats.text, "dropped events:");
  stats.numbers.read = number_of(stats.text, "read events:");
  return stats;
}

std::vector<unsigned> buffer_cpus(const Instance& instance) {
  std::vector<unsigned> cpus;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(instance.file("per_cpu"), code)) {
    const std::string name = entry.path().filename();
    unsigned cpu = 0;
    const auto [end, number_code] = std::from_chars(name.data() + 3, name.data() + name.size(), cpu);
    if (name.starts_with("cpu") && number_code == std::errc{} && end == name.data() + name.size()) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

}  // namespace kmt
