// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/cpu_streams.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace kmt {

std::string lost_events_text(std::optional<std::uint64_t> count) {
  if (!count) return "an unknown number of events";
  return fmt::format("{} {}", *count, *count == 1 ? "event" : "events");
}

void CpuStreams::open(std::vector<CpuPart> parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const CpuPart& a, const CpuPart& b) { return a.cpu < b.cpu; });
  std::vector<std::unique_ptr<CpuStream>> streams;
  for (CpuPart& part : parts) {
    total_ += part.bytes;
    streams.push_back(std::move(part.stream));
  }
  merge_ = std::make_unique<TimeMerge>(std::move(streams));
}

Error no_such_buffer(const std::string& wanted, const std::vector<std::string>& names) {
  return Error(fmt::format("The trace has no buffer \"{}\"", printable(wanted)))
      .hint(fmt::format("It has: \"{}\" (\"\" is the top buffer)", fmt::join(names, "\", \"")));
}

}  // namespace kmt
