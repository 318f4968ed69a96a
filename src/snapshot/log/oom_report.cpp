// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/oom_report.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/kernel_log.hpp"
#include "snapshot/log/memory_line.hpp"
#include "snapshot/log/memory_words.hpp"
#include "snapshot/log/oom_cgroup.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostReports = 4096;
constexpr std::size_t kMostOfAReport = 16 << 20;
// Maximum number of nodes, zones, tasks and slab caches in all reports together.
constexpr std::size_t kMostRows = 1 << 20;

bool has(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

// True for the first message after a boot, and for the line that journalctl prints between two boots.
bool is_mark_of_boot(std::string_view text) {
  return text.starts_with("Linux version ") || text.starts_with("-- Boot ") || text == "-- Reboot --";
}

// Data shared by the readers. Each reader reads the lines of one caller, such as [T100].
struct LogState {
  std::deque<OomReport> reports;
  std::size_t dropped = 0;
  std::size_t rows_left = kMostRows;
  std::size_t boot = 0;
  std::string release;
  std::size_t begun = 0;  // number of reports that have begun
};

// Determines to which report in a quoted mail a line belongs, by the number of ">" before the line. Mail programs may
// omit ">" before the rest of a wrapped line. So a line belongs to another report only if it has as many ">" as the
// start of that report.
struct QuotedReports {
  unsigned current = 0;
  std::set<unsigned> known;

  void take(const LogMessage& message) {
    if (message.quotes == current) return;
    constexpr std::size_t kMost = 16;
    const bool begins = has_title(message.text) || has(message.text, " invoked oom-killer:");
    if (begins && known.size() < kMost) known.insert(message.quotes), known.insert(current);
    if (begins || known.contains(message.quotes)) current = std::min(message.quotes, 64u);
  }
};

// Splits the messages of one caller into reports.
class ReportReader {
 public:
  explicit ReportReader(LogState& log) : log_(log) {}

  void take(const LogMessage& message) {
    const std::string joined = with_joined_units(message.text);
    const std::string_view text = joined;
    if (text.empty() || is_repeated(message)) return;
    remember_release(text);
    const bool lacks_start =
        (!in_report_ && is_line_of_report(text)) || ((!in_report_ || report_.has_memory()) && begins_cgroup(text));
    const bool starts_late = lacks_start && !begins_report(text);
    if (starts_late || begins_report(text)) begin(starts_late);
    // A report of a kill inside a cgroup is dropped here if it lacks the cgroup's memory. Otherwise, the lines of the
    // next report would be added to it if the first line of that report is lost.
    const bool is_cgroup_kill = has(text, "emory cgroup out of memory");
    if (is_cgroup_kill && in_report_ && !report_.has_memory() && !report_.is_of_cgroup()) end();
    if (!in_report_) return;
    if (!report_.boot_ns && !report_.wall_ns) {
      report_.boot_ns = message.boot_ns;
      report_.wall_ns = message.wall_ns;
      report_.has_year = message.has_year;
      report_.has_zone = message.has_zone;
    }
    if (report_.host.empty()) report_.host = message.host;
    append(text);
    if (take_any(text)) {
      report_.lost_messages += std::exchange(lost_, 0);
      used_text_ = report_.text.size();
      report_.is_cut = report_.is_cut || is_full_;
    }
    if (number_after(text, "Killed process ")) end();  // this is the last line of a report
  }

  // Notes that messages were lost. They count for the report only if more lines of the report follow.
  void lose(std::uint64_t count) {
    constexpr std::uint64_t kMost = 1 << 20;
    lost_ = std::min(lost_ + std::min(count, kMost), kMost);
  }

  // Ends the current report. Keeps the report only if it has numbers of memory, or if only its end is left in the log.
  void end() {
    const bool has_end = report_.starts_late && report_.lines.contains("pages RAM");
    if (in_report_ && (report_.has_memory() || report_.is_of_cgroup() || has_end)) {
      if (report_.release.empty()) report_.release = log_.release;
      // A report about the machine may also have lines about a cgroup, which are dropped.
      if (!report_.is_of_cgroup()) report_.kill.cgroup.reset();
      report_.text.resize(used_text_);  // other messages may follow the report
      report_.text.shrink_to_fit();
      if (log_.reports.size() == kMostReports) drop_oldest();
      log_.reports.push_back(std::move(report_));
    } else if (in_report_) {
      log_.rows_left += rows_of(report_);
    }
    in_report_ = false;
    task_columns_.clear();
    in_slabs_ = in_allocations_ = false;
  }

 private:
  // True if the line repeats the previous line, as in logs that two programs wrote.
  bool is_repeated(const LogMessage& message) {
    const bool is_same = message.boot_ns && message.boot_ns == last_boot_ns_ && message.text == last_text_;
    last_boot_ns_ = message.boot_ns;
    last_text_ = message.text;
    return is_same;
  }

  // Parses a line of any kind. Returns false if the line is not part of a report.
  bool take_any(std::string_view text) {
    if (take_task(text) || take_slab(text) || take_allocation(text) || cgroup_->take(text)) return true;
    const bool is_header = take_header(text);
    const bool is_line = take_line(text);
    return words_->take(text) || is_header || is_line;
  }

  void append(std::string_view text) {
    if (is_frame(text)) return;
    is_full_ = is_full_ || report_.text.size() + text.size() >= kMostOfAReport;
    if (!is_full_) report_.text.append(text).append("\n");
  }

  // Makes room for one more node, zone, task or slab cache. If necessary, drops the oldest reports, because the last
  // reports of a log matter most.
  bool take_row() {
    while (log_.rows_left == 0 && !log_.reports.empty()) drop_oldest();
    if (log_.rows_left == 0) {
      report_.is_cut = true;
      return false;
    }
    --log_.rows_left;
    return true;
  }

  void drop_oldest() {
    log_.rows_left += rows_of(log_.reports.front());
    log_.reports.pop_front();
    ++log_.dropped;
  }

  static std::size_t rows_of(const OomReport& report) {
    return report.nodes.size() + report.zones.size() + report.kill.tasks.size() + report.slabs.size();
  }

  // True for lines of a call trace, which contain nothing about memory.
  static bool is_frame(std::string_view text) {
    return text.starts_with("[<") || (has(text, "+0x") && has(text, "/0x"));
  }

  bool begins_report(std::string_view text) const {
    if (has(text, " invoked oom-killer:") || has(text, "page allocation failure")) return true;
    const bool is_title = has_title(text);
    if (!is_title && !is_totals(text)) return false;
    return !in_report_ || report_.kill.cgroup || report_.totals.contains("active_anon") ||
           report_.totals.contains("active") || (is_title && report_.has_memory());
  }

  // True for the first line of the machine's totals. Its numbers are in pages, unlike those of nodes and zones, which
  // are in kB.
  static bool is_totals(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return false;
    const std::string name = counter_name(text.substr(0, colon));
    return (name == "active_anon" || name == "active") && whole_number(Words(text.substr(colon + 1)).next());
  }

  void begin(bool starts_late) {
    end();
    in_report_ = true;
    report_ = OomReport();
    report_.starts_late = starts_late;
    report_.boot = log_.boot;
    report_.position = log_.begun++;
    used_text_ = 0;
    lost_ = 0;
    is_full_ = false;
    words_.emplace(report_, [this] { return take_row(); });
    cgroup_.emplace(report_.kill.cgroup);
  }

  // Stores the kernel release in a line such as "Linux version 5.4.0 (…" or "CPU: 1 PID: 2 Comm: x Not tainted
  // 5.4.0-42-generic #46". The second line may be wrapped.
  void remember_release(std::string_view text) {
    constexpr std::string_view kVersion = "Linux version ";
    std::string joined = std::exchange(wrapped_, {});
    const std::string_view line = joined.empty() ? text : std::string_view(joined.append(" ").append(text));
    if (text.starts_with(kVersion)) {
      log_.release = Words(text.substr(kVersion.size())).next();
    } else if (line.starts_with("CPU:") || line.starts_with("Pid:")) {
      const std::string_view release = release_in(line);
      constexpr std::size_t kLongest = 200;
      if (release.empty() && has(line, "omm: ") && line.size() < kLongest) wrapped_ = line;
      if (release.empty()) return;
      log_.release = release;
    } else {
      return;
    }
    if (in_report_ && report_.release.empty()) report_.release = log_.release;
  }

  // Returns the word before "#46" in the line of a CPU.
  static std::string_view release_in(std::string_view line) {
    if (!has(line, "ainted")) return {};
    std::string_view before;
    for (Words words(line); !words.empty();) {
      const std::string_view word = words.next();
      if (word.starts_with('#') && !before.empty() && is_digit(before.front())) return before;
      before = word;
    }
    return {};
  }

  // Parses "PROCESS invoked oom-killer: gfp_mask=0x…, order=0, oom_score_adj=0", and the lines about the killed
  // process.
  bool take_header(std::string_view text) {
    bool is_header = false;
    if (const std::size_t at = text.find(" invoked oom-killer:"); at != text.npos) {
      is_header = true;
      report_.kill.invoked_by = text.substr(0, at);
    }
    // The first line may be split into several lines.
    if (is_header || (!report_.kill.invoked_by.empty() && !report_.has_memory())) {
      constexpr std::string_view kMask = "gfp_mask=";
      if (!report_.kill.order) report_.kill.order = number_after(text, " order=");
      if (const std::size_t mask = text.find(kMask); mask != text.npos)
        report_.kill.gfp_flags = text.substr(mask + kMask.size(), text.find(", ", mask) - mask - kMask.size());
    }
    // "CPU: 1 PID: 2 Comm: x …", or before Linux 3.11 "Pid: 2, comm: x …"
    if (!report_.pid && !report_.has_memory())
      report_.pid = number_after(text, text.starts_with("CPU:") ? " PID: " : "Pid: ");
    // for example "PROCESS: page allocation failure: order:4, mode:0x…"
    if (const std::size_t at = text.find(": page allocation failure"); at != text.npos) {
      is_header = true;
      report_.kill.invoked_by = text.substr(0, at);
      report_.kill.order = number_after(text, "order:");
      report_.is_failed_allocation = true;
    }
    for (const std::string_view word : {"Killed process ", "Kill process "}) {
      const std::size_t at = text.find(word);
      const auto process = at == text.npos ? std::nullopt : process_at(text.substr(at + word.size()));
      if (!process || (has(text, "emory cgroup") && !report_.kill.cgroup)) continue;
      is_header = true;
      report_.kill.victim_pid = *process;
      // The name of a process may contain parentheses, as in "Killed process 1999 ((sd-pam)) total-vm:…".
      const std::size_t begin = text.find('(', at);
      const std::size_t end = text.rfind(')', text.rfind(" total-vm:"));
      if (begin != text.npos && end != text.npos && end > begin)
        report_.kill.victim = text.substr(begin + 1, end - begin - 1);
    }
    return is_header;
  }

  // Parses the number in "1999 (name) …" or "1999, UID 0, (name) …".
  static std::optional<std::uint64_t> process_at(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(" ,("), text.size());
    const std::string_view rest = trim(text.substr(end));
    return rest.empty() || rest.starts_with('(') || rest.starts_with(',') ? whole_number(text.substr(0, end))
                                                                          : std::nullopt;
  }

  // Parses lines such as "524178 pages RAM", "130048 pages of RAM" (Arm), "338595 total pagecache pages" and "Total
  // swap = 4194300kB".
  bool take_line(std::string_view text) {
    for (const char* const name : {"Free swap", "Total swap"}) {
      if (!text.starts_with(name)) continue;
      const std::size_t sign = text.find_first_of("=:");
      const std::string_view value = sign == text.npos ? "" : trim(text.substr(sign + 1));
      const auto number = value.ends_with("kB") ? whole_amount(value) : std::nullopt;
      if (number) report_.lines.try_emplace(name, *number);
      return number.has_value();
    }
    constexpr std::size_t kMost = 40;
    Words words(text);
    const auto number = whole_amount(words.next());
    const std::string_view what = trim(words.rest());
    const bool is_count = what.starts_with("pages ") || what.starts_with("total pagecache pages") ||
                          what == "pagecache pages" || what == "reserved pages" || what == "free pages" ||
                          what == "slab pages";
    if (!number || !is_count || what.size() > kMost) return false;
    report_.lines.try_emplace(what == "pagecache pages" ? "total pagecache pages" : std::string(what), *number);
    return true;
  }

  // Parses a line of the task table. The header of the table names the columns: "[  pid  ]   uid  tgid total_vm rss …
  // name".
  bool take_task(std::string_view text) {
    const std::size_t end = text.find(']');
    if (!text.starts_with('[') || end == text.npos) return false;
    const std::string_view inside = trim(text.substr(1, end - 1));
    Words words(text.substr(end + 1));
    if (inside == "pid") {
      constexpr std::size_t kMostColumns = 32;
      in_slabs_ = false;
      task_columns_.clear();
      while (!words.empty() && task_columns_.size() < kMostColumns) task_columns_.emplace_back(words.next());
      return true;
    }
    const auto process = whole_number(inside);
    if (!process && !task_columns_.empty() && !inside.empty() && is_split_number(inside)) ++report_.damaged_tasks;
    if (!process || task_columns_.empty()) return false;
    auto task = task_of(*process, words);
    if (!task) {
      // If a number follows the bracket, it is the user ID of a damaged row. Otherwise, this is another message with
      // brackets.
      if (whole_number(Words(text.substr(end + 1)).next())) ++report_.damaged_tasks;
      return false;
    }
    if (take_row()) report_.kill.tasks.push_back(std::move(*task));
    return true;
  }

  // True for "12 34": a number that was cut at the end of a line.
  static bool is_split_number(std::string_view text) { return text.find_first_not_of("0123456789 ") == text.npos; }

  std::optional<OomTask> task_of(std::uint64_t pid, Words& words) const {
    OomTask task{.pid = pid};
    for (const std::string& column : task_columns_) {
      if (column == "name") {
        task.name = trim(words.rest());
        // If the name starts with a further number, the row was cut inside a number, and all columns after the cut are
        // shifted.
        if (Words after(task.name); whole_number(after.next()) && !after.empty()) return std::nullopt;
        break;
      }
      const auto value = whole_number(words.next());
      if (!value && (column == "tgid" || column == "total_vm" || column == "rss")) return std::nullopt;
      if (column == "rss") task.rss_pages = *value;
      if (column == "swapents") task.swap_pages = value.value_or(0);
      if (column == "pgtables_bytes") task.page_table_bytes = value;
    }
    return task.name.empty() ? std::nullopt : std::optional(std::move(task));
  }

  // Parses lines such as "kmalloc-96  480KB  512KB" after "Unreclaimable slab info:".
  bool take_slab(std::string_view text) {
    if (has(text, "Unreclaimable slab info:")) {
      in_slabs_ = true;
      return true;
    }
    if (has(text, "Tasks state")) in_slabs_ = false;
    if (!in_slabs_) return false;
    const auto take_kb = [](std::string_view& left) -> std::optional<std::uint64_t> {
      left = trim(left);
      const std::size_t begin = left.find_last_of(" \t") + 1;
      const std::string_view word = left.substr(begin);
      if (!word.ends_with("KB") && !word.ends_with("kB")) return std::nullopt;
      left = left.substr(0, begin);
      return whole_number(word.substr(0, word.size() - 2));
    };
    std::string_view left = text;
    const auto total = take_kb(left);
    const auto used = total ? take_kb(left) : std::nullopt;
    constexpr std::size_t kLongestName = 32;
    const std::string_view name = trim(left);
    if (whole_number(name.substr(name.find_last_of(" \t") + 1))) return false;  // the first amount was cut
    const bool is_name = !name.empty() && name.size() <= kLongestName && name.find_first_of(":[") == name.npos;
    if (!used || !is_name) return false;
    if (take_row()) report_.slabs.push_back({std::string(name), std::min(*used, *total) << 10, *total << 10});
    return true;
  }

  // Parses the largest call sites. Linux 6.10 and later print them if memory allocation profiling is on.
  bool take_allocation(std::string_view text) {
    constexpr std::size_t kMost = 64;
    // Linux 6.18 and later also state whether profiling is on: "Memory allocations (profiling is currently turned
    // on):".
    if (has(text, "Memory allocations:") || has(text, "Memory allocations (")) {
      in_allocations_ = true;
      allocation_.clear();
      return true;
    }
    if (!in_allocations_ || report_.allocations.size() >= kMost) return false;
    // A row starts with a size, such as "38.4 MiB", and may be wrapped.
    Words words(text);
    const bool begins = is_digit(words.next().front()) && words.next().ends_with('B');
    if (!begins && allocation_.empty()) return false;
    allocation_ = begins ? std::string(text) : allocation_ + " " + std::string(text);
    if (!has(allocation_, " func:")) return true;
    report_.allocations.push_back(std::exchange(allocation_, {}));
    return true;
  }

  LogState& log_;
  OomReport report_;
  std::size_t used_text_ = 0;  // length of report_.text up to the last line that belongs to the report, in bytes
  std::uint64_t lost_ = 0;     // number of messages that were lost since the last line of the report
  bool is_full_ = false;       // report_.text has reached the size limit
  std::optional<MemoryWords> words_;
  std::optional<CgroupLines> cgroup_;
  std::vector<std::string> task_columns_;
  std::string last_text_;
  std::string wrapped_;  // the start of a line about a CPU, which was wrapped before the kernel release
  std::optional<std::uint64_t> last_boot_ns_;
  bool in_report_ = false;
  bool in_slabs_ = false;
  bool in_allocations_ = false;
  std::string allocation_;  // the first part of a wrapped row of the call sites
};

}  // namespace

std::vector<OomReport> oom_reports(std::string_view log, std::size_t* dropped) {
  // Maximum number of callers. Two CPUs or machines may print reports at the same time. The callers and hosts of the
  // messages distinguish these reports. A mail may also have a report between the lines of a quoted report.
  constexpr std::size_t kMostCallers = 64;
  LogState state;
  std::map<std::string, ReportReader, std::less<>> readers;
  QuotedReports quotes;
  const auto end_all = [&] {
    for (auto& [caller, reader] : readers) reader.end();
  };
  each_log_message(log, [&](const LogMessage& message) {
    if (is_mark_of_boot(message.text)) end_all(), ++state.boot;
    if (const auto count = lost_messages(message.text))
      for (auto& [caller, reader] : readers) reader.lose(*count);
    std::string from = std::string(message.host).append(" ").append(message.caller);
    quotes.take(message);
    from += std::string(quotes.current, '>');
    auto found = readers.find(from);
    if (found == readers.end()) {
      if (readers.size() == kMostCallers) end_all(), readers.clear();
      found = readers.try_emplace(from, state).first;
    }
    found->second.take(message);
  });
  end_all();
  if (dropped != nullptr) *dropped = state.dropped;
  std::vector<OomReport> reports(std::make_move_iterator(state.reports.begin()),
                                 std::make_move_iterator(state.reports.end()));
  std::ranges::sort(reports, {}, &OomReport::position);
  for (OomReport& report : reports) {
    derive_page_size(report);
    correct_shifted_counters(report);
    drop_damaged_totals(report);
  }
  return reports;
}

}  // namespace kmt
