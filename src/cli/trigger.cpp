// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trigger.hpp"

#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

// The number behind "Key:" of meminfo, in bytes, or behind "key " of vmstat.
std::optional<std::uint64_t> find_value(const std::string& path, const std::string& key, bool& in_bytes) {
  const std::string text = try_read_file(path).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size()) continue;
    const char next = line[key.size()];
    if (next != ':' && next != ' ') continue;
    const std::string_view rest = trim(line.substr(key.size() + 1));
    std::uint64_t value = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc{}) continue;
    in_bytes = rest.ends_with(" kB");
    return in_bytes ? value * 1024 : value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> value_of(const std::string& key, bool& in_bytes) {
  if (const auto value = find_value("/proc/meminfo", key, in_bytes)) return value;
  return find_value("/proc/vmstat", key, in_bytes);
}

}  // namespace

Trigger::Trigger(const std::string& condition) : condition_(condition) {
  if (condition == "failure") return;
  const std::size_t at = condition.find_first_of("<>+");
  if (at == std::string::npos || at == 0) {
    Error error(fmt::format("\"{}\" is no condition", printable(condition)));
    error.hint(
        "Write failure, or NAME>SIZE, NAME<SIZE, NAME+SIZE with a name of /proc/meminfo or /proc/vmstat: "
        "SUnreclaim>2G, MemFree<200M, SUnreclaim+500M");
    throw error;
  }
  key_ = trim(condition.substr(0, at));
  comparison_ = condition[at];
  limit_ = parse_size(trim(condition.substr(at + 1)));
  if (!value_of(key_, in_bytes_)) {
    Error error(fmt::format("Neither /proc/meminfo nor /proc/vmstat has \"{}\"", printable(key_)));
    error.hint("Their names are case sensitive: SUnreclaim, MemFree, oom_kill");
    throw error;
  }
}

void Trigger::start() {
  if (key_.empty()) return;
  if (comparison_ == '+') at_start_ = value().value_or(0);
  if (comparison_ == '+' || !holds()) return;
  Error error(fmt::format("The condition of --trigger holds already: {}", what_happened()));
  error.hint("NAME+N asks for growth");
  throw error;
}

std::optional<std::uint64_t> Trigger::value() const {
  bool in_bytes = false;
  return value_of(key_, in_bytes);
}

bool Trigger::holds() {
  if (key_.empty()) return false;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto now_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  if (now_ns < next_look_ns_) return false;
  next_look_ns_ = now_ns + 100'000'000;
  const auto value_now = value();
  if (!value_now) return false;
  last_ = *value_now;
  return comparison_ == '<' ? last_ < limit_ : last_ >= at_start_ && last_ - at_start_ > limit_;
}

std::string Trigger::what_happened() const {
  if (key_.empty()) return "an allocation failed";
  return fmt::format("{} is {} ({})", key_, in_bytes_ ? humane_bytes(last_) : humane_count(last_), condition_);
}

}  // namespace kmt
