// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/buffer_statistics.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/text/line.hpp"

namespace kmt::text {

namespace {

// The lines of per_cpu/cpuN/stats (tracing_stats_read() in kernel/trace/trace.c, Linux 6.18).
constexpr std::array<std::string_view, 8> kKeys = {"entries",         "overrun", "commit overrun", "bytes",
                                                   "oldest event ts", "now ts",  "dropped events", "read events"};
constexpr unsigned kOverrun = 1, kCommitOverrun = 2, kDropped = 6;

}  // namespace

void BufferStatisticsLines::start(std::optional<unsigned> cpu) {
  cpu_ = cpu && *cpu < kMostCpus ? cpu : std::nullopt;
  starts_block_ = true;
}

// Reads the name of a file such as "…/per_cpu/cpu3/stats". head and tail print it as "==> FILE <==", and grep prints
// "FILE:" before each line. Returns true if nothing else is in the line.
bool BufferStatisticsLines::add_file(std::string_view& line) {
  constexpr std::string_view kFolder = "per_cpu/cpu", kFile = "/stats";
  const std::size_t at = line.find(kFolder);
  if (at == line.npos) return false;
  std::string_view rest = line.substr(at + kFolder.size());
  const auto cpu = take_number<unsigned>(rest);
  if (!cpu || !rest.starts_with(kFile)) return false;
  rest.remove_prefix(kFile.size());
  if (cpu != cpu_) start(cpu);
  if (!rest.starts_with(':')) return true;
  line = trim(rest.substr(1));
  return false;
}

bool BufferStatisticsLines::add(std::string_view line) {
  constexpr std::string_view kCpu = "CPU: ";
  line = trim(line);
  if (add_file(line)) return true;
  if (line.starts_with(kCpu)) {
    const auto cpu = parse_number<unsigned>(trim(line.substr(kCpu.size())));
    if (cpu) start(cpu);
    return cpu.has_value();
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return false;
  const auto* const found = std::ranges::find(kKeys, line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (found == kKeys.end() || value.empty() || value.find_first_not_of("0123456789.") != value.npos) return false;
  const auto key = static_cast<unsigned>(found - kKeys.begin());
  // A second line of the same key belongs to another CPU, whose number is unknown.
  if (!starts_block_ && (blocks_.back().keys & 1u << key) != 0) start({});
  if (starts_block_) blocks_.push_back({cpu_, {}, 0, 0, 0});
  starts_block_ = false;
  Block& block = blocks_.back();
  block.keys |= 1u << key;
  block.lines += fmt::format("{}: {}\n", *found, value);
  const std::uint64_t count = parse_number<std::uint64_t>(value).value_or(0);
  if (key == kOverrun) block.overwritten = count;
  if (key == kCommitOverrun || key == kDropped) block.refused = sum_of_counts(block.refused, count);
  return true;
}

unsigned BufferStatisticsLines::cpus() const {
  unsigned cpus = 0;
  for (const Block& block : blocks_)
    if (block.cpu) cpus = std::max(cpus, *block.cpu + 1);
  return cpus;
}

std::uint64_t BufferStatisticsLines::overwritten() const {
  std::uint64_t sum = 0;
  for (const Block& block : blocks_) sum = sum_of_counts(sum, block.overwritten);
  return sum;
}

std::vector<std::string> BufferStatisticsLines::cpu_stats() const {
  std::vector<std::string> stats;
  for (const Block& block : blocks_)
    stats.push_back(block.cpu ? fmt::format("CPU: {}\n{}", *block.cpu, block.lines)
                              : fmt::format("dropped events: {}\n", sum_of_counts(block.overwritten, block.refused)));
  return stats;
}

}  // namespace kmt::text
