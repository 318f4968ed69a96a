// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/trigger.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace kmt {

std::optional<ProcValue> current_value(const std::string& name) {
  for (const char* const path : {"/proc/meminfo", "/proc/vmstat"})
    if (const auto found = find_proc_value(try_read_file(path).value_or(""), name)) return found;
  return std::nullopt;
}

Trigger::Trigger(const std::string& given, ValueReader value_of) : value_of_(std::move(value_of)), condition_(given) {
  if (given == "failure") return;
  is_oom_ = given == "oom";
  const std::string condition = is_oom_ ? "oom_kill+0" : given;
  const std::size_t at = condition.find_first_of("<>+");
  if (at == std::string::npos || at == 0)
    throw Error(fmt::format("Not a valid condition: \"{}\"", printable(condition)))
        .hint(
            "Write oom, failure, NAME>SIZE, NAME<SIZE, NAME+SIZE or NAME+SIZE/TIME, where NAME is a name in "
            "/proc/meminfo or /proc/vmstat: SUnreclaim>2G, MemFree<200M, SUnreclaim+500M, SUnreclaim+500M/10m");
  key_ = trim(condition.substr(0, at));
  comparison_ = condition[at];
  std::string limit = condition.substr(at + 1);
  if (const std::size_t slash = limit.find('/'); comparison_ == '+' && slash != std::string::npos) {
    constexpr std::uint64_t kReadings = 1000;
    window_ns_ = parse_duration(trim(limit.substr(slash + 1)));
    if (window_ns_ == 0)
      throw Error("The time of a condition must not be 0").hint("Write a time such as 10m: SUnreclaim+500M/10m");
    pause_ns_ = std::max(pause_ns_, window_ns_ / kReadings);
    limit.resize(slash);
  }
  limit_ = parse_size(trim(limit));
  if (!value_of_(key_))
    throw Error(fmt::format("Neither /proc/meminfo nor /proc/vmstat has \"{}\"", printable(key_)))
        .hint("Names in these files are case sensitive: SUnreclaim, MemFree, oom_kill");
}

void Trigger::start() {
  if (key_.empty()) return;
  if (comparison_ == '+') at_start_ = value_of_(key_).value_or(ProcValue{}).value;
  if (comparison_ == '+' || !holds(monotonic_ns())) return;
  throw Error(fmt::format("The condition of --trigger is already true: {}", what_happened()))
      .hint("Use NAME+N to wait for growth");
}

void Trigger::start_again() {
  lowest_.clear();
  had_kill_ = false;
  if (!key_.empty() && comparison_ == '+') at_start_ = value_of_(key_).value_or(ProcValue{}).value;
}

// Adds a reading, and sets `at_start_` to the lowest value of the window.
void Trigger::keep_lowest(Reading now) {
  while (!lowest_.empty() && lowest_.back().value >= now.value) lowest_.pop_back();
  lowest_.push_back(now);
  while (lowest_.front().ns + window_ns_ < now.ns) lowest_.pop_front();
  at_start_ = lowest_.front().value;
}

bool Trigger::holds(std::uint64_t now_ns) {
  if (key_.empty()) return false;
  if (now_ns < next_look_ns_) return false;
  next_look_ns_ = now_ns + pause_ns_;
  const auto found = value_of_(key_);
  if (!found) return false;
  last_ = *found;
  if (window_ns_ != 0) keep_lowest({now_ns, last_.value});
  const bool is_true =
      comparison_ == '<' ? last_.value < limit_ : last_.value >= at_start_ && last_.value - at_start_ > limit_;
  // the kernel counts an OOM kill before the event oom:mark_victim, so the recording goes on until the next look
  return is_oom_ ? std::exchange(had_kill_, is_true) : is_true;
}

std::string Trigger::what_happened() const {
  if (key_.empty()) return "an allocation failed";
  if (is_oom_) return "the OOM killer killed a process";
  return fmt::format("{} is {} ({})", key_, last_.in_bytes ? humane_bytes(last_.value) : humane_count(last_.value),
                     condition_);
}

}  // namespace kmt
