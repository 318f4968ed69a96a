// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/read_limited.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/words.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOfANumber = 64;
constexpr std::size_t kMostFiles = 100'000;  // maximum number of files in the folder of a source
constexpr std::string_view kTooManyFiles = "the limit of files was reached";

// Files of /sys/kernel/slab/CACHE that are not read. Some of them only start an action when they are written. Others
// show settings of the cache, which do not describe its memory. alloc_calls and free_calls are read elsewhere, as the
// sources alloc_traces and free_traces.
constexpr std::string_view kNoAttributes[] = {
    "validate",        "shrink",       "alloc_calls",    "free_calls",    "trace",
    "sanity_checks",   "poison",       "red_zone",       "failslab",      "skip_kfence",
    "min_partial",     "cpu_partial",  "ctor",           "hwcache_align", "aliases",
    "usersize",        "cache_dma",    "destroy_by_rcu", "store_user",    "remote_node_defrag_ratio",
    "objects_partial", "objs_per_slab"};

// Returns true if a limit is reached and reading of the source must end. In that case, stores the reason in `all`.
bool has_enough(Reading& all, const Limits& limits, std::size_t files = 0) {
  if (all.text.size() >= limits.bytes)
    all.cut = kTooLarge;
  else if (files >= kMostFiles)
    all.cut = kTooManyFiles;
  else if (Clock::now() > limits.until)
    all.cut = kTooSlow;
  else
    return false;
  return true;
}

// Reads a file of sysfs with one call, which returns its whole content (fs/kernfs/file.c).
Reading read_attribute(const std::string& path) {
  Reading reading;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  reading.text.resize(kMostOfAnAttribute);
  const ssize_t size = file ? ::read(file.get(), reading.text.data(), reading.text.size()) : -1;
  if (size < 0) reading.error = errno;
  reading.text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  // A longer file is cut after its last complete line.
  if (reading.text.size() == kMostOfAnAttribute) reading.text.resize(reading.text.rfind('\n') + 1);
  return reading;
}

}  // namespace

void append_lines(std::string_view prefix, std::string_view text, std::string& out) {
  each_line(text, [&](std::string_view line) { out.append(prefix).append(line).push_back('\n'); });
}

Reading read_some(const std::string& path, const Limits& limits) {
  Reading reading;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    reading.error = file ? EINVAL : errno;
    return reading;
  }
  std::size_t used = 0;
  std::size_t room = 1 << 12;
  for (;;) {
    if (used >= limits.bytes || Clock::now() > limits.until) {
      reading.cut = used >= limits.bytes ? kTooLarge : kTooSlow;
      break;
    }
    if (reading.text.size() - used < room) reading.text.resize(used + room);
    const ssize_t count = ::read(file.get(), reading.text.data() + used, room);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) reading.error = errno;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
    room = std::min<std::size_t>(room * 2, 1 << 20);
  }
  reading.text.resize(std::min(used, limits.bytes));
  if (!reading.cut.empty())
    reading.text.resize(reading.text.rfind('\n') + 1);  // removes an incomplete last line; npos + 1 is 0
  if (reading.error != 0) reading.text.clear();
  return reading;
}

Reading read_attributes(const std::string& folder, const Limits& limits) {
  Reading all;
  std::size_t files = 0;
  for (const std::string& cache : names_in(folder)) {
    if (has_enough(all, limits, files)) break;
    const std::string path = fmt::format("{}/{}", folder, cache);
    std::error_code code;
    if (fs::is_symlink(path, code)) {
      all.text += fmt::format("{} -> {}\n", cache, fs::read_symlink(path, code).filename().string());
      continue;
    }
    for (const std::string& name : names_in(path)) {
      if (++files > kMostFiles || std::ranges::find(kNoAttributes, name) != std::end(kNoAttributes)) continue;
      const Reading one = read_attribute(fmt::format("{}/{}", path, name));
      if (one.error == 0) ++all.read;
      if (is_refusal(one.error)) ++all.refused;
      append_lines(fmt::format("{}/{}:", cache, name), one.text, all.text);
    }
  }
  // If no file could be read, the source is missing. Symlinks of merged caches do not count as files, because they
  // contain no numbers.
  if (all.read == 0) all.error = all.refused > 0 || fs::exists(folder) ? EACCES : ENOENT;
  return all;
}

Reading read_traces(const std::string& folder, std::string_view name, const Limits& limits) {
  Reading all;
  all.error = ENOENT;
  for (const std::string& cache : names_in(folder)) {
    if (has_enough(all, limits)) break;
    std::error_code code;
    const std::string path = fmt::format("{}/{}", folder, cache);
    if (fs::is_symlink(path, code)) continue;
    const Reading one = read_some(fmt::format("{}/{}", path, name), {limits.bytes - all.text.size(), limits.until});
    if (one.error != 0) {
      if (is_refusal(one.error)) all.error = one.error;
      continue;
    }
    if (all.cut.empty()) all.cut = one.cut;
    append_lines(fmt::format("{}/{}:", cache, name), one.text, all.text);
  }
  if (!all.text.empty()) all.error = 0;
  return all;
}

Reading read_cgroups(const std::string& root, const Limits& limits, std::size_t most_depth) {
  Reading all;
  all.error = ENOENT;
  struct Place {
    std::string path;
    std::size_t depth;
  };
  std::vector<Place> left = {{"", 0}};
  std::size_t files = 0;
  while (!left.empty()) {
    if (has_enough(all, limits, files++)) break;
    const Place place = std::move(left.back());
    left.pop_back();
    const Reading one = read_some(root + place.path + "/memory.stat", {kMostOfAnAttribute * 4, limits.until});
    append_lines(place.path + "/memory.stat:", one.text, all.text);
    if (is_refusal(one.error)) ++all.refused;
    if (one.error == 0) {
      const Reading counts = read_some(root + place.path + "/cgroup.stat", {kMostOfAnAttribute, limits.until});
      append_lines(place.path + "/cgroup.stat:", counts.text, all.text);
    }
    // cgroup v1 counts the kernel's memory in a separate file.
    const Reading kernel = read_some(root + place.path + "/memory.kmem.usage_in_bytes", {kMostOfANumber, limits.until});
    append_lines(place.path + "/memory.kmem.usage_in_bytes:", kernel.text, all.text);
    if (one.error == EACCES) all.error = one.error;
    if (place.depth >= most_depth) continue;
    std::error_code code;
    for (fs::directory_iterator entry(root + place.path, code); !code && entry != fs::directory_iterator();
         entry.increment(code))
      if (std::error_code ignored; entry->is_directory(ignored) && !entry->is_symlink(ignored))
        left.push_back({place.path + '/' + entry->path().filename().string(), place.depth + 1});
  }
  if (!all.text.empty()) all.error = 0;
  return all;
}

namespace {

// Returns the number of cgroups: `root` and all below it. Empty if some cannot be read, or if it takes too long.
std::optional<std::uint64_t> count_cgroups(const std::string& root, std::chrono::steady_clock::time_point until) {
  std::uint64_t count = 0;
  std::vector<std::string> left = {root};
  while (!left.empty()) {
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    const std::string folder = std::move(left.back());
    left.pop_back();
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    if (code == std::errc::no_such_file_or_directory) continue;  // it was removed in the meantime
    ++count;
    for (; !code && entry != fs::directory_iterator(); entry.increment(code))
      if (std::error_code ignored; entry->is_directory(ignored) && !entry->is_symlink(ignored))
        left.push_back(entry->path());
    if (code) return std::nullopt;
  }
  return count;
}

}  // namespace

void add_removed_of_v1(const std::string& root, std::string_view proc_cgroups,
                       std::chrono::steady_clock::time_point until, Reading& cgroups) {
  std::error_code code;
  // Only the topmost cgroup of version 1 has this file. A container sees only some of the cgroups.
  if (!fs::exists(root + "/release_agent", code) || !cgroups.cut.empty() || cgroups.refused > 0) return;
  each_line(proc_cgroups, [&](std::string_view line) {
    Words words(line);
    if (words.next() != "memory") return;
    words.next();  // number of the hierarchy
    const auto all = whole_number(words.next());
    if (!all) return;
    const auto existing = count_cgroups(root, until);
    if (!existing) return;
    const std::uint64_t removed = *all - std::min(*all, *existing);
    cgroups.text += fmt::format("/cgroup.stat:nr_dying_descendants {}\n", removed);
  });
}

}  // namespace kmt
