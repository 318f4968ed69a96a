// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a long series of snapshots, every 10 s, by repeating the snapshots of a shorter series. The counters of vmstat
// continue to rise, so a new round does not look like a reboot. All other texts start again with the first snapshot.
//   long_series SERIES.kmt LONG.kmt SNAPSHOTS
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/words.hpp"
#include "formats/kmt/snapshot.hpp"

namespace {

using namespace kmt;

constexpr std::uint64_t kInterval = 10'000'000'000;  // ns

using Counters = std::map<std::string, std::uint64_t, std::less<>>;

// Calls take(name, value) for each line of vmstat.
template <typename Take>
void each_number(std::string_view vmstat, Take&& take) {
  each_line(vmstat, [&](std::string_view line) {
    Words words(line);
    const std::string_view name = words.next();
    if (const auto value = whole_number(words.next(), UINT64_MAX)) take(name, *value);
  });
}

// Returns vmstat as it would be in a later round.
std::string continued(std::string_view vmstat, const Counters& rises, std::uint64_t round) {
  std::string text;
  each_number(vmstat, [&](std::string_view name, std::uint64_t value) {
    const auto rise = rises.find(name);
    text += fmt::format("{} {}\n", name, value + (rise == rises.end() ? 0 : rise->second * round));
  });
  return text;
}

// Returns how much each counter of vmstat rises in the series. Numbers that fall are not counters.
Counters rises_of(const std::vector<StateSample>& samples) {
  Counters rises, last;
  for (const StateSample& sample : samples) {
    Counters now;
    each_number(text_of(sample, "vmstat"),
                [&](std::string_view name, std::uint64_t value) { now.emplace(name, value); });
    if (last.empty()) rises = now;
    for (const auto& [name, value] : now)
      if (value < last[name]) rises.erase(name);
    last = std::move(now);
  }
  for (auto& [name, first] : rises) first = last[name] - first;
  return rises;
}

void write(const std::string& from, const std::string& to, std::size_t count) {
  const auto mapping = std::make_shared<const MappedFile>(from);
  kmt_format::SnapshotReader reader({.path = from, .bytes = mapping->bytes(), .mapping = mapping});
  std::vector<StateSample> samples;
  for (std::size_t i = 0; i < reader.size(); ++i) samples.push_back(reader.at(i));
  const Counters rises = rises_of(samples);
  kmt_format::SnapshotWriter writer(to, reader.kernel());
  for (std::size_t i = 0; i < count; ++i) {
    StateSample sample = samples[i % samples.size()];
    for (auto& [name, text] : sample.texts)
      if (name == "vmstat") text = continued(text, rises, i / samples.size());
    sample.ticks = i * kInterval;
    sample.unix_ns = samples.front().unix_ns + i * kInterval;
    writer.add(sample);
  }
  writer.finish();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "long_series SERIES.kmt LONG.kmt SNAPSHOTS\n");
    return 2;
  }
  try {
    write(arguments[1], arguments[2], std::strtoull(arguments[3], nullptr, 10));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
