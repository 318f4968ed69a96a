// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/collect.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/nodes.hpp"
#include "snapshot/owners/collect_owners.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/read_limited.hpp"
#include "snapshot/sources.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Maximum size of all texts together, which must fit into one chunk of a .kmt file.
constexpr std::size_t kMostBytes = 60u << 20;
constexpr std::size_t kMostOfAFile = 16u << 20;
constexpr std::chrono::seconds kMostTime(3);  // maximum time to read one source

std::string percpu_lines(std::string_view log) {
  std::string lines;
  each_line(log, [&](std::string_view line) {
    if (line.find("percpu:") != std::string_view::npos) lines.append(line).push_back('\n');
  });
  return lines;
}

Reading read_percpu_messages() {
  Reading reading;
  reading.text = percpu_lines(running_kernel_log(reading.error));
  if (reading.text.empty() && reading.error == 0) reading.error = ENOENT;
  return reading;
}

Reading read_path(const SnapshotSource& source, const std::string& path, const Limits& limits) {
  std::error_code code;
  const bool is_folder = fs::is_directory(path, code);
  switch (source.kind) {
    case SourceKind::slab_folder:
      if (is_folder) return read_attributes(path, limits);
      break;
    case SourceKind::slab_traces:
      if (is_folder) return read_traces(path, source.name, limits);
      break;
    case SourceKind::cgroups:
      if (is_folder) return read_cgroups(path, limits);
      break;
    case SourceKind::boot_messages: {
      Reading log = read_some(path, limits);
      log.text = percpu_lines(log.text);
      return log;
    }
    case SourceKind::owners:
    case SourceKind::file: break;
  }
  return read_some(path, limits);
}

// Reads the source from the path that older kernels use.
Reading read_older(const SnapshotSource& source, const std::string& root, const Limits& limits) {
  if (source.kind != SourceKind::slab_traces) return {.error = ENOENT};
  const std::string_view name = source.name == "alloc_traces" ? "alloc_calls" : "free_calls";
  Reading reading = read_traces(root + "/sys/kernel/slab", name, limits);
  // On older kernels these files exist for every cache. For a cache without slub_debug=U, they contain "No data".
  if (reading.text.find("No data") != std::string::npos && reading.text.find("age=") == std::string::npos)
    reading = {.error = ENOENT};
  return reading;
}

std::string_view way_to_read(const SnapshotSource& source) {
  return source.kind == SourceKind::boot_messages ? "run as root, or with CAP_SYSLOG"
                                                  : "run as root, or with CAP_DAC_READ_SEARCH";
}

class Collector {
 public:
  explicit Collector(std::size_t most_bytes = kMostBytes) : left_(most_bytes) {}
  // Adds the text that was read. If the text is missing or incomplete, adds the reason to the text "missing".
  void take(const SnapshotSource& source, Reading&& reading, std::string_view why_missing, std::string_view how) {
    if (reading.error != 0) return add_missing(source.name, why_missing, how);
    if (!reading.cut.empty())
      add_missing(source.name, why_cut(reading.text.size(), reading.cut),
                  reading.cut == kTooSlow ? "take the snapshot again when the machine is less busy" : "");
    if (reading.refused > 0)
      add_missing(source.name, fmt::format("no permission to read {} of its files", reading.refused),
                  way_to_read(source));
    left_ -= std::min(left_, reading.text.size());
    sample_.texts.emplace_back(source.name, std::move(reading.text));
  }
  void add_text(std::string_view name, std::string text) { sample_.texts.emplace_back(name, std::move(text)); }
  void add_missing(std::string_view name, std::string_view why, std::string_view how) {
    missing_ += fmt::format("{}\t{}\t{}\n", name, why, how);
  }
  // Adds the texts of an earlier reading.
  void add(const SourceReading& reading) {
    for (const auto& [name, text] : reading.texts) {
      if (text.size() > left_) {
        add_missing(name, "the limit of a snapshot's size was reached", "");
        continue;
      }
      left_ -= text.size();
      sample_.texts.emplace_back(name, text);
    }
    missing_ += reading.missing;
  }
  Limits limits() const { return {std::min(left_, kMostOfAFile), Clock::now() + kMostTime}; }
  std::size_t left() const { return left_; }
  SourceReading reading() && { return {std::move(sample_.texts), std::move(missing_)}; }
  StateSample finish() {
    sample_.texts.emplace_back("missing", std::move(missing_));
    return std::move(sample_);
  }

 private:
  StateSample sample_;
  std::string missing_;
  std::size_t left_;  // bytes
};

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

// Since Linux 6.8, the kernel also provides the page_owner records summed by stack. This file is much shorter than
// page_owner.
constexpr SnapshotSource kOwnerStacks = {"page_owner_stacks", "/sys/kernel/debug/page_owner_stacks/show_stacks",
                                         SourceKind::file, ""};

Reading read_live(const SnapshotSource& source, const Limits& limits) {
  if (source.kind == SourceKind::boot_messages) return read_percpu_messages();
  if (source.kind == SourceKind::cgroups) {
    const std::string root = cgroup_root();
    if (root.empty()) return {.error = ENODEV};
    Reading cgroups = read_cgroups(root, limits);
    add_removed_of_v1(root, try_read_file("/proc/cgroups").value_or(""), limits.until, cgroups);
    return cgroups;
  }
  Reading reading = read_path(source, std::string(source.path), limits);
  if (reading.error != ENOENT) return reading;
  Reading older = read_older(source, "", limits);
  return older.error == 0 ? older : reading;
}

Reading read_copy(const SnapshotSource& source, const std::string& folder, const Limits& limits) {
  Reading reading = read_path(source, fmt::format("{}/{}", folder, source.name), limits);
  if (reading.error == ENOENT && source.path.starts_with('/'))
    reading = read_path(source, folder + std::string(source.path), limits);
  if (reading.error == ENOENT) reading = read_older(source, folder, limits);
  return reading;
}

// True if the folder has two different copies of the file, such as meminfo and proc/meminfo. read_copy() returned the
// text of the first.
bool has_second_copy(const SnapshotSource& source, const std::string& folder, std::string_view text,
                     const Limits& limits) {
  const std::string first = fmt::format("{}/{}", folder, source.name), second = folder + std::string(source.path);
  std::error_code code;
  if (source.kind != SourceKind::file || !source.path.starts_with('/') || !fs::exists(first, code)) return false;
  const Reading other = read_some(second, limits);
  return other.error == 0 && other.text != text;
}

// Returns the path at which the folder may have a copy of the source.
std::string copied_path(const SnapshotSource& source, const std::string& folder) {
  std::string plain = fmt::format("{}/{}", folder, source.name);
  std::error_code code;
  return fs::exists(plain, code) || !source.path.starts_with('/') ? plain : folder + std::string(source.path);
}

bool is_in_debugfs(const SnapshotSource& source) { return source.path.starts_with("/sys/kernel/debug/"); }

bool debugfs_is_mounted() {
  constexpr unsigned long kDebugfsMagic = 0x64626720;
  struct statfs status {};
  return ::statfs("/sys/kernel/debug", &status) == 0 && static_cast<unsigned long>(status.f_type) == kDebugfsMagic;
}

struct Absence {
  std::string why;
  std::string how;  // how the user can obtain the source
};

Absence why_absent(const SnapshotSource& source, int error) {
  const std::string how(source.how);
  if (is_refusal(error)) {
    if (::geteuid() != 0) return {"not permitted", std::string(way_to_read(source))};
    return {"not permitted, even for root", "run it outside of the container, or on a kernel without lockdown"};
  }
  if (error == ENODEV && source.kind == SourceKind::cgroups)
    return {"no cgroups are mounted", "mount -t cgroup2 cgroup2 /sys/fs/cgroup"};
  if (error == ENOENT && source.kind == SourceKind::cgroups) return {"the memory controller is not switched on", how};
  if (error == ENOENT && source.kind == SourceKind::boot_messages)
    return {"the boot messages are no longer in the kernel's log", how};
  if (error == ENOENT && is_in_debugfs(source) && !debugfs_is_mounted())
    return {"debugfs is not mounted", "mount -t debugfs debugfs /sys/kernel/debug; if it is still missing: " + how};
  if (error == ENOENT) return {fmt::format("this kernel has no {}", source.path), how};
  if (error == EBUSY && source.name == "kmemleak") return {"it is switched off", how};
  return {fmt::format("cannot be read: {}", std::generic_category().message(error)), how};
}

void take_owners(CollectedOwners&& owners, Collector& collector) {
  for (const MissingSource& one : owners.missing) collector.add_missing(one.name, one.why, one.how);
  collector.add_text("owners", std::move(owners.text));
}

// Reads a source of the running kernel. Returns 0, or the errno value of the failure.
int take_live(const SnapshotSource& source, Collector& collector) {
  if (source.kind == SourceKind::owners) {
    take_owners(collect_owners(), collector);
    return 0;
  }
  if (source.name == "page_owner")
    if (Reading stacks = read_live(kOwnerStacks, collector.limits()); stacks.error == 0) {
      collector.take(kOwnerStacks, std::move(stacks), "", "");
      return 0;
    }
  Reading reading = read_live(source, collector.limits());
  const int error = reading.error;
  const Absence absence = error == 0 ? Absence() : why_absent(source, error);
  collector.take(source, std::move(reading), absence.why, absence.how);
  return error;
}

// Reads the meminfo of each node. `root` is "" for the running kernel.
void take_nodes(const std::string& root, Collector& collector) {
  std::vector<std::string> texts;
  for (const std::string& path : node_files_in(root)) {
    Reading one = read_some(path, {kMostOfAnAttribute * 4, Clock::now() + kMostTime});
    if (one.error == 0) texts.push_back(std::move(one.text));
  }
  if (std::string text = node_meminfo_of(texts); !text.empty()) collector.add_text("node_meminfo", std::move(text));
}

// Sources that are not read while recording. They do not describe the objects of a trace, and can be large.
constexpr std::string_view kNotWhileRecording[] = {"pagetypeinfo", "cgroups", "free_traces", "kmemleak", "owners"};

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_copy_in(const std::string& folder, std::string_view name) {
  const auto source = std::ranges::find(snapshot_sources(), name, &SnapshotSource::name);
  std::error_code code;
  return fs::is_regular_file(copied_path(*source, folder), code);
}

}  // namespace

std::string cgroup_root() {
  std::string root;
  for (const Mount& mount : own_mounts()) {
    const auto options = split(mount.options, ',');
    if (mount.type == "cgroup" && std::ranges::find(options, "memory") != options.end()) root = mount.place;
    if (mount.type == "cgroup2" && root.empty()) root = mount.place;
  }
  return root;
}

std::string why_cut(std::size_t bytes, std::string_view limit) {
  return fmt::format("only the first {} were read: {}", humane_bytes(bytes), limit);
}

namespace {

// Reads a source of the running kernel. Throws Error if it is meminfo and cannot be read.
void take_or_refuse(const SnapshotSource& source, Collector& collector) {
  const int error = take_live(source, collector);
  if (error == 0 || source.name != "meminfo") return;
  errno = error;
  throw system_error("Cannot take a snapshot", std::string(source.path));
}

// Sources that collect_counters() reads.
constexpr std::string_view kCounterSources[] = {"meminfo",     "vmstat",   "zoneinfo",  "slabinfo",
                                                "vmallocinfo", "sockstat", "buddyinfo", "dmesg"};
constexpr SnapshotSource kPressure = {"pressure", "/proc/pressure/memory", SourceKind::file,
                                      "a kernel with CONFIG_PSI, booted with psi=1"};

}  // namespace

namespace {

constexpr std::chrono::milliseconds kMostForCgroups{20};  // to count the cgroups of version 1 for each scrape

}  // namespace

StateSample collect_counters() {
  Collector collector;
  const std::uint64_t time = wall_clock_ns();
  for (const SnapshotSource& source : snapshot_sources())
    if (is_in(kCounterSources, source.name)) take_or_refuse(source, collector);
  take_live(kPressure, collector);
  if (const std::string root = cgroup_root(); !root.empty())
    if (Reading topmost = read_cgroups(root, collector.limits(), 0); topmost.error == 0) {
      add_removed_of_v1(root, try_read_file("/proc/cgroups").value_or(""),
                        std::chrono::steady_clock::now() + kMostForCgroups, topmost);
      collector.add_text("cgroups", std::move(topmost.text));
    }
  StateSample sample = collector.finish();
  sample.unix_ns = time;
  return sample;
}

namespace {

struct Step {
  std::string_view name;
  std::function<void(Collector&)> take;
};

// Returns the steps of a snapshot, in their order.
std::vector<Step> steps_of_snapshot() {
  std::vector<Step> steps = {{"node_meminfo", [](Collector& collector) { take_nodes("", collector); }}};
  for (const SnapshotSource& source : snapshot_sources())
    steps.push_back({source.name, [&source](Collector& collector) { take_or_refuse(source, collector); }});
  // Many kernels lack this file, so it is not reported as missing.
  steps.push_back({kPressure.name, [](Collector& collector) {
                     if (Reading pressure = read_live(kPressure, collector.limits()); pressure.error == 0)
                       collector.take(kPressure, std::move(pressure), "", "");
                   }});
  steps.push_back({"pods", [](Collector& collector) {
                     if (std::string pods = list_pod_names(); !pods.empty())
                       collector.add_text("pods", std::move(pods));
                   }});
  return steps;
}

// Small files that the balance sheet compares with each other.
constexpr std::string_view kReadForEachSample[] = {"node_meminfo", "meminfo",  "vmstat",      "zoneinfo",
                                                   "buddyinfo",    "sockstat", kPressure.name};
// A source that takes more CPU time is slow.
constexpr std::uint64_t kMostOfFast = 1'000'000;  // ns

bool is_slow(std::string_view name, const SourceReading& last) {
  return last.cpu_ns > kMostOfFast && !is_in(kReadForEachSample, name);
}

// Later in a long series, slow sources are read even less often, so that their changes do not make the file large. The
// time between two readings is at least the time since the start, divided by this number.
constexpr std::uint64_t kReadings = 512;
// But whatever it costs, a source is read again if its last text is older than this, and older than a quarter of the
// series.
constexpr std::uint64_t kOldText = 900'000'000'000;  // ns
constexpr std::uint64_t kPartOfSeries = 4;

// Returns the CPU time that the fast sources must take before a slow source is read again, divided by the CPU time of
// the slow source. If this ratio is the number of slow sources, they take at most as much CPU time as the fast sources,
// and each of them takes the same share.
std::uint64_t pause_of(const SeriesReadings& readings) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(readings.sources, [](const auto& source) { return is_slow(source.first, source.second); }));
}

std::uint64_t cpu_time_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

StateSample collect_snapshot() {
  Collector collector;
  const std::uint64_t time = wall_clock_ns();
  for (const Step& step : steps_of_snapshot()) step.take(collector);
  StateSample sample = collector.finish();
  sample.unix_ns = time;
  return sample;
}

StateSample collect_snapshot(SeriesReadings& readings, std::uint64_t elapsed_ns) {
  Collector collector;
  std::string older;
  const std::uint64_t time = wall_clock_ns();
  const std::uint64_t pause = pause_of(readings);
  for (const Step& step : steps_of_snapshot()) {
    const auto [found, is_new] = readings.sources.try_emplace(std::string(step.name));
    SourceReading& last = found->second;
    const std::uint64_t age_ns = elapsed_ns - last.read_ns;
    const bool may_read =
        readings.fast_cpu_ns - last.fast_cpu_ns >= pause * last.cpu_ns && age_ns >= elapsed_ns / kReadings;
    const bool must_read = age_ns >= std::max(kOldText, elapsed_ns / kPartOfSeries);
    if (is_new || may_read || must_read || !is_slow(step.name, last)) {
      const std::uint64_t start = cpu_time_ns();
      Collector of_source(collector.left());
      step.take(of_source);
      last = std::move(of_source).reading();
      last.cpu_ns = cpu_time_ns() - start;
      if (!is_slow(step.name, last)) readings.fast_cpu_ns += last.cpu_ns;
      last.fast_cpu_ns = readings.fast_cpu_ns;
      last.read_ns = elapsed_ns;
    } else {
      for (const auto& [name, text] : last.texts) older += fmt::format("{}\t{}\n", name, age_ns / 1'000'000'000);
    }
    collector.add(last);
  }
  if (!older.empty()) collector.add_text("older", std::move(older));
  StateSample sample = collector.finish();
  sample.unix_ns = time;
  sample.ticks = elapsed_ns;
  return sample;
}

void complete_sample(StateSample& sample, bool with_page_owner) {
  Collector collector;
  take_nodes("", collector);
  for (const SnapshotSource& source : snapshot_sources()) {
    if (!text_of(sample, source.name).empty()) continue;
    if (source.name == "page_owner" ? with_page_owner : !is_in(kNotWhileRecording, source.name))
      take_live(source, collector);
    else
      collector.add_missing(source.name, "not taken while recording",
                            source.name == "page_owner" ? "kmemtrace record --page-owner" : "kmemtrace snapshot");
  }
  StateSample more = collector.finish();
  std::ranges::move(more.texts, std::back_inserter(sample.texts));
}

bool has_meminfo_copy(const std::string& folder) { return has_copy_in(folder, "meminfo"); }

bool lacks_meminfo(const std::string& folder) {
  return !has_meminfo_copy(folder) && std::ranges::any_of(snapshot_sources(), [&folder](const SnapshotSource& source) {
    return has_copy_in(folder, source.name);
  });
}

bool has_slabinfo_copy(const std::string& folder) { return has_copy_in(folder, "slabinfo"); }

namespace {

// Returns the name of the file that has the release of the kernel. Empty if there is none.
std::string uname_file_of(const std::string& folder) {
  std::error_code code;
  for (const char* const name : {"uname", "proc/version"})
    if (fs::is_regular_file(folder + "/" + name, code)) return name;
  return {};
}

}  // namespace

std::vector<std::string> copied_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (const SnapshotSource& source : snapshot_sources())
    if (const std::string path = copied_path(source, folder); fs::exists(path, code))
      files.push_back(fs::path(path).lexically_relative(folder));
  for (const std::string& path : node_files_in(folder)) files.push_back(fs::path(path).lexically_relative(folder));
  if (std::string uname = uname_file_of(folder); !uname.empty()) files.push_back(std::move(uname));
  return files;
}

StateSample collect_snapshot_from(const std::string& folder) {
  if (has_meminfo_copy(folder))
    if (StateSample sample = collect_copies(folder); !text_of(sample, "meminfo").empty()) return sample;
  throw Error("The folder has no readable meminfo")
      .at({folder, {}, {}})
      .hint("Copy files of /proc there: cp /proc/meminfo /proc/slabinfo /proc/zoneinfo FOLDER");
}

StateSample collect_copies(const std::string& folder) {
  Collector collector;
  take_nodes(folder, collector);
  for (const SnapshotSource& source : snapshot_sources()) {
    if (source.name == "page_owner")
      if (Reading stacks = read_copy(kOwnerStacks, folder, collector.limits()); stacks.error == 0) {
        collector.take(kOwnerStacks, std::move(stacks), "", "");
        continue;
      }
    Reading reading = read_copy(source, folder, collector.limits());
    if (source.kind == SourceKind::owners && reading.error == ENOENT) {
      if (CollectedOwners owners = collect_owners_from(folder); !owners.text.empty())
        take_owners(std::move(owners), collector);
      continue;  // a missing file is no gap: most copies are of other tools, which do not have it
    }
    if (reading.error == 0 && has_second_copy(source, folder, reading.text, collector.limits()))
      collector.add_missing("copies",
                            fmt::format("{0} and {1} differ; {0} is used", source.name, source.path.substr(1)), "");
    for (const std::string& why : undo_changes(source.name, reading.text)) collector.add_missing("copies", why, "");
    if (reading.error == 0 && reading.cut.empty())
      refuse_damage(source.name, reading.text, copied_path(source, folder));
    const bool gone = reading.error == ENOENT;
    collector.take(source, std::move(reading), gone ? "not in the folder" : "cannot be read",
                   source.kind == SourceKind::boot_messages ? std::string("dmesg > FOLDER/dmesg")
                                                            : fmt::format("copy {} there", source.path));
  }
  if (const std::string name = uname_file_of(folder); !name.empty()) {
    Reading uname = read_some(folder + "/" + name, {kMostOfAnAttribute, Clock::now() + kMostTime});
    if (uname.error == 0) collector.add_text("uname", std::move(uname.text));
  }
  return collector.finish();
}

std::string running_kernel_log(int& error) {
  constexpr int kReadAll = 3;     // SYSLOG_ACTION_READ_ALL
  constexpr int kSizeOfLog = 10;  // SYSLOG_ACTION_SIZE_BUFFER
  const int size = ::klogctl(kSizeOfLog, nullptr, 0);
  std::string log(static_cast<std::size_t>(std::clamp(size, 0, static_cast<int>(kMostOfAFile))), '\0');
  const int count = size < 0 ? size : ::klogctl(kReadAll, log.data(), static_cast<int>(log.size()));
  error = count < 0 ? errno : 0;
  log.resize(static_cast<std::size_t>(std::max(count, 0)));
  return log;
}

}  // namespace kmt
