// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/copies.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/gzip.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "snapshot/archive.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/log/memory_line.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/paste.hpp"
#include "snapshot/sources.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfACopy = 16u << 20;
constexpr std::size_t kMostOfALog = 256u << 20;  // maximum number of bytes of a log, after decompression

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}  // if nothing is found, npos + 1 is 0

// True for files that may contain the kernel's log.
bool is_log(std::string_view path) {
  constexpr std::array<std::string_view, 7> kStarts = {"dmesg",  "vmcore-dmesg", "journal", "messages",
                                                       "syslog", "kern.log",     "console"};
  // Parts of names that must-gather uses, such as "node-1_logs_kubelet".
  constexpr std::array<std::string_view, 3> kParts = {"_logs_", "_dmesg", "_journal"};
  const std::string_view name = file_name(path);
  if (name.ends_with(".journal")) return false;  // a binary file of journald, which is not parsed
  return std::ranges::any_of(kStarts, [name](std::string_view start) { return name.starts_with(start); }) ||
         std::ranges::any_of(kParts, [name](std::string_view part) { return name.find(part) != name.npos; });
}

// Splits the path of a copied file into the root folder of the copied machine and the name of the text in a snapshot.
struct Place {
  std::string root;  // "" or a path that ends with "/", such as "sosreport-host/"
  std::string name;
};

// Splits a path such as "sosreport-host/proc/meminfo", "copied/meminfo" or "host/sos_commands/kernel/uname_-a". Empty
// if the file is not a copy of a file that a snapshot uses.
std::optional<Place> place_of(std::string_view path) {
  const auto root_before = [path](std::string_view end) -> std::optional<std::string> {
    if (!path.ends_with(end)) return std::nullopt;
    const std::string_view root = path.substr(0, path.size() - end.size());
    return root.empty() || root.ends_with('/') ? std::optional(std::string(root)) : std::nullopt;
  };
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"sos_commands/kernel/uname_-a", "uname"},
                                                                       {"proc/version", "version"},
                                                                       {"insights_commands/uname_-a", "uname"},
                                                                       {"uname", "uname"},
                                                                       {"proc/uptime", "uptime"},
                                                                       {"uptime", "uptime"}};
  for (const auto& [end, name] : kOthers)
    if (auto root = root_before(end)) return Place{std::move(*root), std::string(name)};
  for (const SnapshotSource& source : snapshot_sources()) {
    if (source.kind != SourceKind::file || !source.path.starts_with('/')) continue;
    for (const std::string_view end : {source.path.substr(1), source.name})  // "proc/meminfo", "meminfo"
      if (auto root = root_before(end)) return Place{std::move(*root), std::string(source.name)};
  }
  return std::nullopt;
}

// Returns the time since boot from a copy of /proc/uptime. Returns 0 for other texts, such as the output of the command
// `uptime`.
std::uint64_t uptime_ns_of(const std::string& text) {
  constexpr double kMost = 1e10;
  Words words(std::string_view(text).substr(0, text.find('\n')));
  const std::string_view number = words.next();
  if (words.empty() || number.find_first_not_of("0123456789.") != std::string_view::npos) return 0;
  const double seconds = std::strtod(text.c_str(), nullptr);
  return seconds > 0 && seconds < kMost ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

// The reports in one log.
struct LogReports {
  std::vector<OomReport> usable;      // reports of one boot that show the total of memory
  std::vector<OomReport> unusable;    // reports that do not show the total of memory, or whose first lines are lost
  std::vector<OomReport> of_cgroups;  // reports about a cgroup that reached its limit
  std::size_t unused_of_cgroups = 0;
  std::size_t mixed = 0;
  std::size_t dropped = 0;  // number of the oldest reports that were dropped because the log has too many
  std::size_t earlier = 0;  // number of reports from earlier boots
  std::size_t foreign = 0;  // number of reports of other machines or kernels
  std::size_t repeated = 0;

  bool last_is_unusable() const {
    return !unusable.empty() && (usable.empty() || unusable.back().position > usable.back().position);
  }
};

// True if two reports may be of one machine and kernel. A machine may gain or lose some memory while it runs.
bool may_be_of_one_machine(const OomReport& a, const OomReport& b) {
  const auto differ = [](const std::string& one, const std::string& other) {
    return !one.empty() && !other.empty() && one != other;
  };
  constexpr double kMuch = 1.5;
  const auto few = static_cast<double>(std::min(total_bytes_of(a), total_bytes_of(b)).value_or(0));
  const auto many = static_cast<double>(std::max(total_bytes_of(a), total_bytes_of(b)).value_or(0));
  return !differ(a.host, b.host) && !differ(a.release, b.release) && a.page_size == b.page_size && many <= few * kMuch;
}

// True if both are copies of the same report. Two different reports never have the same numbers.
bool is_same_report(const OomReport& a, const OomReport& b) {
  const auto differ = [](const auto& one, const auto& other) { return one && other && *one != *other; };
  const bool is_of_another = !a.host.empty() && !b.host.empty() && a.host != b.host;
  if (is_of_another || a.totals != b.totals || differ(a.boot_ns, b.boot_ns) || differ(a.wall_ns, b.wall_ns))
    return false;
  const auto numbers_of = [](const OomReport& report) {
    std::vector<LogNumbers> numbers = {report.lines};
    if (report.kill.cgroup) {
      LogNumbers& of_cgroup = numbers.emplace_back();
      of_cgroup[report.kill.cgroup->memory.path] = report.kill.cgroup->usage_bytes.value_or(0);
      for (const NamedAmount& value : report.kill.cgroup->memory.values) of_cgroup.emplace(value.name, value.value);
    }
    for (const auto& [node, of_node] : report.nodes) numbers.push_back(of_node);
    for (const auto& [name, zone] : report.zones) numbers.push_back(zone.numbers);
    return numbers;
  };
  return a.kill.victim_pid == b.kill.victim_pid && numbers_of(a) == numbers_of(b);
}

// True if the report has its first lines and shows the total of memory. Other reports are used only if the log has no
// usable report.
bool is_usable(const OomReport& report) { return !report.starts_late && total_bytes_of(report).value_or(0) != 0; }

LogReports log_reports(std::string_view text) {
  LogReports log;
  std::vector<OomReport> reports;
  for (OomReport& report : oom_reports(text, &log.dropped)) {
    const bool is_repeated = !report.is_mixed && std::ranges::any_of(reports, [&](const OomReport& one) {
      return is_same_report(one, report);
    });
    if (is_repeated)
      ++log.repeated;
    else
      reports.push_back(std::move(report));
  }
  for (OomReport& report : reports) {
    if (report.is_mixed)
      ++log.mixed;
    else if (report.is_of_cgroup())
      log.of_cgroups.push_back(std::move(report));
    else
      (is_usable(report) ? log.usable : log.unusable).push_back(std::move(report));
  }
  if (log.usable.empty()) return log;
  // Keep only the reports of the last boot. Times of different boots cannot be compared, because each boot starts the
  // clock at 0. The memory of different boots or machines cannot be compared either.
  OomReport last = std::move(log.usable.back());
  log.usable.pop_back();
  log.earlier = std::erase_if(log.usable, [&](const OomReport& report) { return report.boot != last.boot; });
  log.foreign =
      std::erase_if(log.usable, [&](const OomReport& report) { return !may_be_of_one_machine(report, last); });
  log.usable.push_back(std::move(last));
  return log;
}

struct CopiedFile {
  std::string path;
  std::string text;
  bool is_cut = false;  // the file was longer than kMostOfACopy
};

// Collects the copies of a folder or an archive. The caller passes the files one by one.
class Finder {
 public:
  static bool wants(std::string_view path) { return path.empty() || is_log(path) || place_of(path).has_value(); }

  void take(std::string_view path, std::string&& text) {
    if (const auto place = place_of(path)) {
      const bool is_cut = text.size() > kMostOfACopy;
      // Removes an incomplete last line. If there is no line break, npos + 1 is 0.
      if (is_cut) text.resize(text.rfind('\n', kMostOfACopy - 1) + 1);
      for (const std::string& why : undo_changes(place->name, text)) repeated_ += fmt::format("copies\t{}\t\n", why);
      const bool is_usable = place->name == "uptime" ? uptime_ns_of(text) != 0 : !text.empty();
      if (is_usable) roots_[place->root].emplace(place->name, CopiedFile{std::string(path), std::move(text), is_cut});
    } else {
      take_text(path, text);
    }
  }

  // Takes a log, or a text with copies of files.
  void take_text(std::string_view path, std::string_view text) {
    if (text.find("MemTotal") == text.npos || has_title(text)) return take_log(path, text);
    std::string plain(text.substr(0, kMostOfALog));
    remove_editors_changes(plain);
    if (has_meminfo(plain))
      take_paste(std::move(plain));
    else
      take_log(path, text);
  }

  // Takes a text with copies of one or more files. If it shows several states, each file must be part of each state.
  void take_paste(std::string text) {
    if (const std::string why = keep_second_state(text); !why.empty()) repeated_ += fmt::format("copies\t{}\t\n", why);
    auto files = files_in_paste(text);
    std::size_t states = 0;
    for (const auto& [name, whole] : files)
      if (name == "meminfo") states = last_copy(name, whole).copies;
    for (auto& [name, whole] : files) {
      if (const std::size_t copies = last_copy(name, whole).copies; name != "uname" && copies != states)
        repeated_ += fmt::format("copies\tthe text has {} copies of meminfo, but {} of {}, which is not used\t\n",
                                 states, copies, name);
      else
        take(name, std::move(whole));
    }
  }

  void take_log(std::string_view path, std::string_view text) {
    LogReports found = log_reports(text);
    if (text.find("emory cgroup out of memory") != text.npos) has_cgroup_kills_ = true;
    // Several logs may contain the same reports, so keep only the log with the most reports.
    const auto rank = [](const LogReports& log) {
      return std::tuple(log.usable.size(), log.unusable.size(), log.of_cgroups.size(), log.mixed);
    };
    if (rank(found) < rank(log_reports_) || rank(found) == rank(LogReports())) return;
    if (!log_.empty() && !log_reports_.usable.empty() && !found.usable.empty() &&
        !is_same_report(log_reports_.usable.back(), found.usable.back()))
      other_logs_ += (other_logs_.empty() ? "" : ", ") + log_;
    log_reports_ = std::move(found);
    log_ = path;
  }

  void take_damage(std::string&& damage) { damage_ = std::move(damage); }

  // True if a file with a machine's memory was found, or a log with a report.
  bool has_found() const {
    const auto has_meminfo = [](const auto& root) { return root.second.contains("meminfo"); };
    return !log_.empty() || std::ranges::any_of(roots_, has_meminfo);
  }

  Copies finish(const std::string& path, const char* noun) {
    Copies copies;
    copies.damage = damage_;
    std::erase_if(roots_, [](const auto& root) { return !root.second.contains("meminfo"); });
    // Support tools may also copy the files of containers into subfolders of the machine's folder. Ignore these copies.
    if (!roots_.empty()) {
      const std::string first = roots_.begin()->first;
      std::erase_if(roots_, [&](const auto& root) { return root.first != first && root.first.starts_with(first); });
    }
    if (roots_.size() > 1) throw several_machines(path);
    if (!roots_.empty()) take_state(roots_.begin()->second, copies);
    take_reports(copies);
    if (!copies.state && copies.reports.empty())
      throw Error(why_nothing(noun))
          .hint(
              "It must have a copy of /proc/meminfo, or a kernel log with the whole report of an OOM kill: from "
              "\"Mem-Info:\" to \"pages reserved\", or from \"memory: usage\" to \"Memory cgroup out of memory\"")
          .at({path, {}, {}});
    return copies;
  }

 private:
  using Root = std::map<std::string, CopiedFile, std::less<>>;

  std::string why_nothing(const char* noun) const {
    if (!damage_.empty()) return fmt::format("The {} has no intact meminfo or kernel log: {}", noun, damage_);
    if (log_reports_.mixed > 0)
      return "The lines of several reports are mixed in the kernel's log, and cannot be told apart";
    if (has_cgroup_kills_)
      return "The kernel killed tasks only inside a memory cgroup, and the log lacks the memory of this cgroup";
    return fmt::format("The {} has no readable meminfo, and no kernel log with a report of memory", noun);
  }

  Error several_machines(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& [root, files] : roots_) names.push_back(root.empty() ? "." : root);
    return Error(fmt::format("There are copies of {} machines: {}", names.size(), first_of(names)))
        .hint("Name the folder of one machine. Unpack an archive first")
        .at({path, {}, {}});
  }

  void take_state(Root& root, Copies& copies) {
    StateSample& state = copies.state.emplace();
    std::string missing = std::move(repeated_);
    for (const SnapshotSource& source : snapshot_sources()) {
      const auto found = root.find(source.name);
      if (found == root.end()) {
        missing += fmt::format("{}\tnot among the copies\tcopy {} too\n", source.name, source.path);
        continue;
      }
      refuse_damage(source.name, found->second.text, found->second.path);
      copies.files.push_back(found->second.path);
      if (found->second.is_cut)
        missing += fmt::format("{}\t{}\t\n", source.name, why_cut(found->second.text.size(), kTooLarge));
      state.texts.emplace_back(source.name, std::move(found->second.text));
    }
    for (const char* const name : {"uname", "version"}) {
      const auto uname = root.find(name);
      if (uname == root.end()) continue;
      copies.files.push_back(uname->second.path);
      state.texts.emplace_back("uname", std::move(uname->second.text));
      break;
    }
    if (const auto uptime = root.find("uptime"); uptime != root.end())
      copies.uptime_ns = uptime_ns_of(uptime->second.text);
    state.texts.emplace_back("missing", std::move(missing));
  }

  void take_reports(Copies& copies) {
    LogReports& log = log_reports_;
    take_cgroup_reports(log);
    copies.last_is_unusable = log.last_is_unusable();
    // If no report is complete, a part of the balance sheet is better than none.
    if (log.usable.empty() && !log.unusable.empty()) {
      const auto has_free = [](const OomReport& report) { return report.totals.contains("free"); };
      const auto has_zones = [](const OomReport& report) { return !report.zones.empty(); };
      auto best = std::find_if(log.unusable.rbegin(), log.unusable.rend(), has_free);
      if (best == log.unusable.rend()) best = std::find_if(log.unusable.rbegin(), log.unusable.rend(), has_zones);
      if (best == log.unusable.rend()) best = log.unusable.rbegin();
      copies.last_is_unusable = best != log.unusable.rbegin();
      log.usable.push_back(std::move(*best));
      log.unusable.erase(std::next(best).base());
    }
    copies.unusable_reports = log.unusable.size();
    copies.cgroup_reports = log.of_cgroups.size() + log.unused_of_cgroups;
    copies.mixed_reports = log.mixed;
    copies.dropped_reports = log.dropped;
    copies.earlier_reports = log.earlier;
    copies.foreign_reports = log.foreign;
    copies.repeated_reports = log.repeated;
    copies.other_logs = other_logs_;
    if (log.usable.empty()) return;
    copies.log = log_;
    if (log.usable.back().is_of_cgroup()) copies.cgroup = log.usable.back().kill.cgroup->memory.path;
    copies.files.push_back(log_);
    const auto times = times_of(log.usable);
    copies.reports_have_times = !times.empty();
    for (std::size_t i = 0; i < log.usable.size(); ++i) {
      StateSample& sample = copies.reports.emplace_back(sample_of(log.usable[i]));
      if (!times.empty()) sample.ticks = times[i] - times.front();
    }
  }

  // Without a report about the machine, uses the reports about the cgroup of the last kill. Prefers reports that show
  // how the cgroup used its memory.
  static void take_cgroup_reports(LogReports& log) {
    if (!log.usable.empty() || !log.unusable.empty() || log.of_cgroups.empty()) return;
    const auto has_values = [](const OomReport& report) { return !report.kill.cgroup->memory.values.empty(); };
    if (std::ranges::any_of(log.of_cgroups, has_values))
      log.unused_of_cgroups = std::erase_if(log.of_cgroups, std::not_fn(has_values));
    const OomReport& last = log.of_cgroups.back();
    const auto is_other = [boot = last.boot, host = last.host, path = last.kill.cgroup->memory.path](const auto& one) {
      return one.boot != boot || one.host != host || one.kill.cgroup->memory.path != path;
    };
    log.unused_of_cgroups += std::erase_if(log.of_cgroups, is_other);
    log.usable = std::exchange(log.of_cgroups, {});
  }

  // Returns the times of all reports on one clock: time since boot if every report has it, otherwise wall-clock time.
  // Empty if reports lack a time, or if times go backwards.
  static std::vector<std::uint64_t> times_of(const std::vector<OomReport>& reports) {
    for (const auto clock : {&OomReport::boot_ns, &OomReport::wall_ns}) {
      std::vector<std::uint64_t> times;
      for (const OomReport& report : reports)
        if (report.*clock) times.push_back(*(report.*clock));
      if (times.size() == reports.size() && std::ranges::is_sorted(times)) return times;
    }
    return {};
  }

  std::map<std::string, Root> roots_;
  LogReports log_reports_;
  bool has_cgroup_kills_ = false;
  std::string log_;
  std::string other_logs_;
  std::string repeated_;  // lines of the text "missing" about files with several copies
  std::string damage_;    // why the archive could be read only partly
};

// Reads a regular file, at most its first `most` bytes.
std::string text_of_file(const std::string& path, std::size_t most) {
  const MappedFile file(path);
  return std::string(as_text(file.bytes()).substr(0, most));
}

// Reads a log in a folder. The log may be compressed, as old logs often are.
void take_log_file(const std::string& path, const std::string& whole, Finder& finder) {
  const MappedFile file(whole);
  if (is_gzip(file.bytes()))
    finder.take_log(path, intact_part_of_gzip(file.bytes(), kMostOfALog));
  else
    finder.take_log(path, as_text(file.bytes()));
}

// Reads an archive, and also the archives and compressed logs in it, which support tools often include.
class ArchiveReader {
 public:
  explicit ArchiveReader(Finder& finder) : finder_(finder) {}

  void take(const std::string& path, Bytes bytes) {
    std::string damage = read(path, "", bytes, 0);
    finder_.take_damage(damage.empty() ? std::move(note_) : std::move(damage));
  }

  // Reads an archive in a folder. `path` is relative to the folder. Does nothing if the file is no archive.
  void take_of_folder(const std::string& path, Bytes bytes) {
    if (is_archive(bytes)) read_inner(path, bytes, 0);
    if (!note_.empty()) finder_.take_damage(std::string(note_));
  }

  static bool is_archive_name(std::string_view path) {
    constexpr std::array<std::string_view, 6> kEnds = {".tgz", ".txz", ".tbz", ".tbz2", ".zip", ".cpio"};
    const std::string_view name = file_name(path);
    return name.find(".tar") != name.npos ||
           std::ranges::any_of(kEnds, [name](std::string_view end) { return name.ends_with(end); });
  }

 private:
  static constexpr unsigned kMostDepth = 2;
  static constexpr unsigned kMostArchives = 32;

  static bool wants(std::string_view path) { return Finder::wants(path) || is_archive_name(path); }

  // Reads the members of an archive. `prefix` is the path of the archive in the outer one, with "/" at its end. If a
  // compressed log is cut off, reads the part before the cut. If the archive could be read only partly, returns the
  // reason.
  std::string read(const std::string& path, const std::string& prefix, Bytes bytes, unsigned depth) {
    constexpr std::size_t kMostOfAnInner = std::size_t{1} << 30;
    ArchiveLimits limits;
    if (depth > 0) limits.bytes = limits.unpacked_bytes = kMostOfAnInner;
    std::string damage;
    bool has_member = false;
    const auto take = [&](std::string_view member, std::string&& text) {
      has_member = true;
      const std::string whole =
          member.empty() ? prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1) : prefix + std::string(member);
      if (text.size() == limits.bytes_of_a_member && (member.empty() || is_log(member)))
        add_note(
            fmt::format("only the first {} of {} were read", humane_bytes(text.size()), whole.empty() ? path : whole));
      take_member(whole, std::move(text), depth);
    };
    try {
      damage = each_member(path, bytes, limits, wants, take);
    } catch (const Error& error) {
      if (!is_gzip(bytes)) throw;
      damage = error.what();
    }
    if (!damage.empty() && !has_member && is_gzip(bytes)) {
      const std::string text = intact_part_of_gzip(bytes, kMostOfALog);
      const Bytes unpacked(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      if (!is_archive(unpacked)) finder_.take_log(path, text);
    }
    return damage;
  }

  void take_member(const std::string& path, std::string&& text, unsigned depth) {
    const Bytes bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    if (!is_archive(bytes)) return finder_.take(path, std::move(text));
    read_inner(path, bytes, depth);
  }

  void read_inner(const std::string& path, Bytes bytes, unsigned depth) {
    if (depth == kMostDepth || archives_ == kMostArchives)
      return add_note(fmt::format("{} inside it was not read: unpack it, and name the folder", path));
    ++archives_;
    std::string damage;
    try {
      damage = read(path, path + "/", bytes, depth + 1);
    } catch (const Error& error) {
      damage = error.what();
    }
    if (!damage.empty()) add_note(fmt::format("{} inside it: {}", path, damage));
  }

  void add_note(const std::string& note) { note_ += (note_.empty() ? "" : "; ") + note; }

  Finder& finder_;
  std::string note_;       // the reason why parts of the archive were not read
  unsigned archives_ = 0;  // number of archives in the archive
};

}  // namespace

Copies copies_in_file(const std::string& path, Bytes bytes) {
  Finder finder;
  if (is_archive(bytes)) {
    ArchiveReader(finder).take(path, bytes);
    Copies copies = finder.finish(path, "archive");
    for (std::string& file : copies.files)
      if (file.empty()) file = path;
    if (copies.log.empty() && !copies.reports.empty()) copies.log = path;
    return copies;
  }
  std::string_view text = as_text(bytes);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string plain;
  if (is_utf16(text)) {
    plain = text.substr(0, kMostOfALog);
    remove_editors_changes(plain);
    text = plain;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  finder.take_text(path, text);
  Copies copies = finder.finish(path, "file");
  copies.files = {path};
  return copies;
}

Copies copies_in_folder(const std::string& folder) {
  constexpr int kDeepestFolder = 12;
  constexpr std::size_t kMostListed = 1'000'000;
  Finder finder;
  std::vector<std::string> wanted;
  std::error_code code;
  std::size_t files = 0;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator() && ++files < kMostListed; entry.increment(code)) {
    std::error_code ignored;
    if (entry.depth() >= kDeepestFolder) entry.disable_recursion_pending();
    const std::string path = entry->path().lexically_relative(folder).string();
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored) &&
        (Finder::wants(path) || ArchiveReader::is_archive_name(path)))
      wanted.push_back(path);
  }
  std::ranges::sort(wanted);
  ArchiveReader archives(finder);
  const auto is_archive_file = [](const std::string& path) {
    return !place_of(path) && ArchiveReader::is_archive_name(path);
  };
  const auto take = [&](const std::string& path) {
    const std::string whole = fmt::format("{}/{}", folder, path);
    try {
      if (place_of(path))
        finder.take(path, text_of_file(whole, kMostOfACopy + 1));
      else if (is_archive_file(path))
        archives.take_of_folder(path, MappedFile(whole).bytes());
      else
        take_log_file(path, whole, finder);
    } catch (const Error& error) {
      if (fs::exists(whole, code)) throw;  // otherwise, the file was removed meanwhile
    }
  };
  // A folder often has an archive beside its unpacked files. So archives are read only if no other file is of use.
  for (const std::string& path : wanted)
    if (!is_archive_file(path)) take(path);
  if (!finder.has_found())
    for (const std::string& path : wanted)
      if (is_archive_file(path)) take(path);
  return finder.finish(folder, "folder");
}

bool has_report(Bytes bytes) {
  constexpr std::size_t kBegin = 4096;
  const std::string_view text = as_text(bytes);
  if (text.substr(0, kBegin).find('\0') != std::string_view::npos || text.starts_with("# tracer:")) return false;
  const auto has = [text](std::string_view words) { return text.find(words) != text.npos; };
  return (has_title(text) && (has("active_anon:") || has("present:"))) ||
         (has("Memory cgroup stats") && has("memory: usage "));
}

}  // namespace kmt
