// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/units.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

constexpr double kTerminalInterval = 1;  // seconds
constexpr double kLogInterval = 30;

std::optional<std::int64_t> unreclaimable_bytes(const StateSample& state) {
  const auto meminfo = std::ranges::find(state.texts, "meminfo", [](const auto& text) { return text.first; });
  if (meminfo == state.texts.end()) return std::nullopt;
  constexpr std::string_view kLine = "SUnreclaim:";
  const std::size_t at = meminfo->second.find(kLine);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoll(meminfo->second.c_str() + at + kLine.size(), nullptr, 10) * 1024;
}

// Returns text such as ", SUnreclaim +2.1 MiB". Empty if meminfo could not be read.
std::string change_since_start(const std::vector<StateSample>& states) {
  if (states.empty()) return {};
  const auto first = unreclaimable_bytes(states.front());
  const auto last = unreclaimable_bytes(states.back());
  if (!first || !last) return {};
  return fmt::format(", SUnreclaim {}{}", *last < *first ? "-" : "+",
                     humane_bytes(static_cast<std::uint64_t>(std::abs(*last - *first))));
}

}  // namespace

WatchProgress::WatchProgress()
    : is_terminal_(::isatty(STDERR_FILENO) == 1), next_seconds_(is_terminal_ ? kTerminalInterval : kLogInterval) {}

void WatchProgress::update(double seconds, double of_seconds, const std::vector<StateSample>& states) {
  if (seconds < next_seconds_ || seconds >= of_seconds) return;
  next_seconds_ = seconds + (is_terminal_ ? kTerminalInterval : kLogInterval);
  say("{}Watching: {:.0f} of {:.0f} s{}{}", is_terminal_ ? "\r\x1b[K" : "", seconds, of_seconds,
      change_since_start(states), is_terminal_ ? "" : "\n");
  is_shown_ = is_terminal_;
}

void WatchProgress::clear() {
  if (is_shown_) say("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace kmt
