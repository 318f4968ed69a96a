// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/oom_cgroup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::string_view kStatistics = "Memory cgroup stats";
constexpr std::string_view kUsage = "memory: usage ";
constexpr std::string_view kTask = "Task in ";
constexpr std::string_view kKilledByLimit = " killed as a result of limit of ";

// Parses "12kB" as bytes.
std::optional<std::uint64_t> bytes_of(std::string_view word) {
  if (word.ends_with(',')) word.remove_suffix(1);
  if (!word.ends_with("kB") && !word.ends_with("KB")) return std::nullopt;
  const auto kb = whole_number(word.substr(0, word.size() - 2), kMostNumber >> 10);
  return kb ? std::optional(*kb << 10) : std::nullopt;
}

// Returns the amount after these words, such as " limit ".
std::optional<std::uint64_t> bytes_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == text.npos ? std::nullopt : bytes_of(Words(text.substr(at + words.size())).next());
}

bool is_name(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  return !word.empty() && word.size() <= kLongest && word.front() >= 'a' && word.front() <= 'z' &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == word.npos;
}

// Adds a value. If `values` already has the name, adds up the two values: before Linux 5.3, the kernel prints the
// values of each child cgroup separately.
// Since Linux 6.4, version 1 also prints sums over the child cgroups, such as "total_rss". They replace the cgroup's
// own values, because the usage includes the children.
void add(NamedAmounts& values, std::string_view name, std::uint64_t value) {
  constexpr std::size_t kMost = 256;
  constexpr std::string_view kTotal = "total_";
  if (name.starts_with(kTotal)) {
    name.remove_prefix(kTotal.size());
    std::erase_if(values, [name](const NamedAmount& one) { return one.name == name; });
  }
  const auto found = std::ranges::find(values, name, &NamedAmount::name);
  if (found != values.end())
    found->value = std::min(found->value + value, kMostNumber);
  else if (values.size() < kMost)
    values.push_back({std::string(name), value, false});
}

}  // namespace

bool begins_cgroup(std::string_view text) {
  return (text.starts_with(kUsage) && bytes_after(text, kUsage)) ||
         (text.starts_with(kTask) && text.find(kKilledByLimit) != text.npos);
}

bool CgroupLines::take(std::string_view text) {
  return take_path(text) || take_usage(text) || take_statistics(text) || (in_statistics_ && take_values(text));
}

// Parses the lines that name the cgroup whose limit was reached: "Task in /a/b killed as a result of limit of /a", and
// since Linux 4.19 "oom-kill:constraint=CONSTRAINT_MEMCG,…,oom_memcg=/a,task_memcg=/a/b,…".
bool CgroupLines::take_path(std::string_view text) {
  constexpr std::string_view kLimited = "oom_memcg=";
  std::string_view path;
  if (const std::size_t at = text.find(kKilledByLimit); text.starts_with(kTask) && at != text.npos) {
    path = trim(text.substr(at + kKilledByLimit.size()));
  } else if (const std::size_t begin = text.find(kLimited); text.starts_with("oom-kill:") && begin != text.npos) {
    const std::size_t end = text.find(",task_memcg=", begin);
    path = text.substr(begin + kLimited.size(), end == text.npos ? end : end - begin - kLimited.size());
    in_statistics_ = false;
  }
  if (path.empty()) return false;
  // The path may be cut at the end of a line. The line with the statistics then has the whole path.
  std::string& known = cgroup().memory.path;
  if (!known.starts_with(path)) known = path;
  return true;
}

// Parses "memory: usage 204800kB, limit 204800kB, failcnt 1". Version 1 has the same line for "kmem", which counts the
// kernel's part of this memory.
bool CgroupLines::take_usage(std::string_view text) {
  if (const auto usage = text.starts_with(kUsage) ? bytes_after(text, kUsage) : std::nullopt) {
    cgroup().usage_bytes = usage;
    cgroup().limit_bytes = bytes_after(text, " limit ");
    return true;
  }
  constexpr std::string_view kKernel = "kmem: usage ";
  const auto kernel = text.starts_with(kKernel) ? bytes_after(text, kKernel) : std::nullopt;
  if (kernel) add(cgroup().memory.values, "kmem.usage_in_bytes", *kernel);
  return kernel.has_value();
}

// Parses "Memory cgroup stats for /a:". Before Linux 5.3, the values follow on the same line.
bool CgroupLines::take_statistics(std::string_view text) {
  constexpr std::string_view kFor = " for ";
  if (!text.starts_with(kStatistics)) return false;
  in_statistics_ = true;
  text.remove_prefix(kStatistics.size());
  const std::size_t end = std::min(text.find(": "), text.ends_with(':') ? text.size() - 1 : text.size());
  std::string& path = cgroup().memory.path;
  if (text.starts_with(kFor)) {
    const std::string_view found = trim(text.substr(kFor.size(), end - std::min(end, kFor.size())));
    const bool was_cut = found.size() > path.size() && found.starts_with(path) && found[path.size()] != '/';
    if (path.empty() || was_cut) path = found;
  }
  take_values(text.substr(std::min(end + 1, text.size())));
  return true;
}

// Parses values such as "anon 4096" in bytes, and before Linux 5.3 "cache:4KB".
bool CgroupLines::take_values(std::string_view text) {
  bool is_used = false;
  std::string_view name;
  for (Words words(text); !words.empty();) {
    const std::string_view word = words.next();
    const std::size_t colon = word.find(':');
    if (const auto value = whole_number(word); !name.empty() && value) {
      add(cgroup().memory.values, name, *value);
      name = {};
    } else if (const auto bytes = colon == word.npos ? std::nullopt : bytes_of(word.substr(colon + 1));
               bytes && name.empty() && is_name(word.substr(0, colon))) {
      add(cgroup().memory.values, word.substr(0, colon), *bytes);
    } else if (name.empty() && is_name(word)) {
      name = word;
      continue;
    } else {
      return is_used;  // another message
    }
    is_used = true;
  }
  return is_used;
}

}  // namespace kmt
