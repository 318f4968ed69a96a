// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/copy_finder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/log/memory_line.hpp"
#include "snapshot/nodes.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/paste.hpp"
#include "snapshot/sources.hpp"

namespace kmt {

namespace {

constexpr std::string_view kOfANode = "meminfo of node ";  // start of Place::name for a node; its number follows

// The parts of a copied file's path: the root folder of the copied machine, and the name of the text in a snapshot.
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
  if (auto file = node_file_of(path)) return Place{std::move(file->root), fmt::format("{}{:05}", kOfANode, file->node)};
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

void add_word(std::string& list, std::string_view separator, std::string_view word) {
  if (!list.empty()) list += separator;
  list += word;
}

}  // namespace

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // if nothing is found, npos + 1 is 0
}

bool is_copy_path(std::string_view path) { return place_of(path).has_value(); }

bool is_log_path(std::string_view path) {
  constexpr std::array<std::string_view, 7> kStarts = {"dmesg",  "vmcore-dmesg", "journal", "messages",
                                                       "syslog", "kern.log",     "console"};
  // Parts of names that must-gather uses, such as "node-1_logs_kubelet".
  constexpr std::array<std::string_view, 3> kParts = {"_logs_", "_dmesg", "_journal"};
  const std::string_view name = file_name(path);
  if (name.ends_with(".journal")) return false;  // a binary file of journald, which is not parsed
  return std::ranges::any_of(kStarts, [name](std::string_view start) { return name.starts_with(start); }) ||
         std::ranges::any_of(kParts, [name](std::string_view part) { return name.find(part) != name.npos; });
}

void CopyFinder::take(std::string_view path, std::string&& text) {
  const auto place = place_of(path);
  if (!place) return take_text(path, text);
  const bool is_cut = text.size() > kMostOfACopy;
  // Removes an incomplete last line. If there is no line break, npos + 1 is 0.
  if (is_cut) text.resize(text.rfind('\n', kMostOfACopy - 1) + 1);
  for (const std::string& why : undo_changes(place->name, text)) add_note(why);
  const bool is_usable = place->name == "uptime" ? uptime_ns_of(text) != 0 : !text.empty();
  if (is_usable) add(place->root, place->name, CopiedFile{std::string(path), std::move(text), is_cut});
}

// tar appends newer versions of a file to an archive, so the last of several copies of one path is kept. If the paths
// differ, the copy with the shorter path is kept, as in collect_copies().
void CopyFinder::add(const std::string& root, const std::string& name, CopiedFile&& file) {
  const auto [place, is_new] = roots_[root].try_emplace(name, std::move(file));
  const bool is_about_machine = name == "uname" || name == "version" || name == "uptime";
  if (is_new || is_about_machine || place->second.text == file.text) return;
  const bool is_same_path = place->second.path == file.path;
  const std::string other = place->second.path;
  const bool is_better = is_same_path || file.path.size() < other.size();
  add_note(is_same_path ? fmt::format("{} is there more than once; the last one is used", other)
                        : fmt::format("{} and {} differ; {} is used", other, file.path, is_better ? file.path : other));
  if (is_better) place->second = std::move(file);
}

void CopyFinder::add_note(std::string_view note) { notes_ += fmt::format("copies\t{}\t\n", note); }
void CopyFinder::add_damage(std::string_view damage) {
  constexpr std::size_t kMost = 10;
  if (++damages_ <= kMost)
    add_word(damage_, "; ", damage);
  else if (damages_ == kMost + 1)
    add_word(damage_, "; ", "and more");
}

void CopyFinder::take_text(std::string_view path, std::string_view text) {
  const bool has_any = text.find("MemTotal") != text.npos;
  if (has_any && has_title(text) && has_meminfo(text))
    add_damage("the text has a report and a copy of meminfo: only the report is used");
  if (!has_any || has_title(text)) return take_log(path, text);
  std::string plain(text.substr(0, kMostOfALog));
  remove_editors_changes(plain);
  if (has_prefixes(plain)) plain = without_prefixes(plain);
  if (has_meminfo(plain))
    take_paste(std::move(plain));
  else
    take_log(path, text);
}

// Takes a text with copies of one or more files. If it shows several states, each file must be part of each state.
void CopyFinder::take_paste(std::string text) {
  if (const std::string why = keep_second_state(text); !why.empty()) add_note(why);
  auto files = files_in_paste(text);
  std::size_t states = 0;
  for (const auto& [name, whole] : files)
    if (name == "meminfo") states = last_copy(name, whole).copies;
  for (auto& [name, whole] : files) {
    if (const std::size_t copies = last_copy(name, whole).copies; name != "uname" && copies != states)
      add_note(fmt::format("the text has {} copies of meminfo, but {} of {}, which is not used", states, copies, name));
    else
      take(name, std::move(whole));
  }
}

// Several logs may contain the same reports, so keeps only the log with the latest report, or with the most reports if
// they have no times.
void CopyFinder::take_log(std::string_view path, std::string_view text) {
  constexpr std::size_t kMostToClean = 64u << 20;
  std::string plain;
  if (text.size() <= kMostToClean && has_prefixes(text)) {
    plain = without_prefixes(text);
    text = plain;
  }
  LogReports found = log_reports(text);
  std::string found_path(path);
  if (text.find("emory cgroup out of memory") != text.npos) has_cgroup_kills_ = true;
  if (!found.has_any()) return;
  if (is_preferred(found, log_reports_)) {
    std::swap(found, log_reports_);
    std::swap(found_path, log_);
  }
  if (found.has_any()) others_.emplace_back(std::move(found_path), std::move(found));
}

bool CopyFinder::has_found() const {
  const auto has_meminfo = [](const auto& root) { return root.second.contains("meminfo"); };
  return !log_.empty() || std::ranges::any_of(roots_, has_meminfo);
}

Copies CopyFinder::finish(const std::string& path, const char* noun) {
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

std::string CopyFinder::why_nothing(const char* noun) const {
  if (!damage_.empty()) return fmt::format("The {} has no intact meminfo or kernel log: {}", noun, damage_);
  if (log_reports_.mixed > 0)
    return "The lines of several reports are mixed in the kernel's log, and cannot be distinguished";
  if (has_cgroup_kills_)
    return "The kernel killed tasks only inside a memory cgroup, and the log lacks the memory of this cgroup";
  return fmt::format("The {} has no readable meminfo, and no kernel log with a report of memory", noun);
}

Error CopyFinder::several_machines(const std::string& path) const {
  std::vector<std::string> names;
  for (const auto& [root, files] : roots_) names.push_back(root.empty() ? "." : root);
  return Error(fmt::format("There are copies of {} machines: {}", names.size(), first_of(names)))
      .hint("Name the folder of one machine. Unpack an archive first")
      .at({path, {}, {}});
}

void CopyFinder::take_state(Root& root, Copies& copies) {
  StateSample& state = copies.state.emplace();
  std::string missing = std::move(notes_);
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
  std::vector<std::string> nodes;
  for (auto file = root.lower_bound(kOfANode); file != root.end() && file->first.starts_with(kOfANode); ++file) {
    copies.files.push_back(file->second.path);
    nodes.push_back(std::move(file->second.text));
  }
  if (std::string text = node_meminfo_of(nodes); !text.empty())
    state.texts.emplace_back("node_meminfo", std::move(text));
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

void CopyFinder::take_reports(Copies& copies) {
  LogReports& log = log_reports_;
  for (const auto& [path, reports] : others_)
    if (lacks_reports_of(log, reports)) add_word(copies.other_logs, ", ", path);
  copies.last_is_unusable = choose_reports(log);
  copies.unusable_reports = log.unusable.size();
  copies.cgroup_reports = log.of_cgroups.size() + log.unused_of_cgroups;
  copies.mixed_reports = log.mixed;
  copies.dropped_reports = log.dropped;
  copies.earlier_reports = log.earlier;
  copies.foreign_reports = log.foreign;
  copies.repeated_reports = log.repeated;
  copies.reports_of_killed = log.of_killed;
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

}  // namespace kmt
