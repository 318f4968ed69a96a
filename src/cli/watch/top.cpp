// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace top
#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/sideband/process_facts.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "cli/watch/heap_watch.hpp"
#include "cli/watch/live_run.hpp"
#include "cli/watch/top_screen.hpp"
#include "views/json/top.hpp"
#include "views/text/heap/top.hpp"

namespace kmt {

namespace {

constexpr int kLookMs = 100;  // in ms, between two reads of the keyboard and the ring buffer

struct TopArguments {
  LiveOptions live;
  std::string backend = "auto";
  std::string interval = "1s";
  std::string view = "call-sites";
  std::string sort = "bytes";
  std::string filter;
  unsigned frames = 0;
  std::size_t limit = 20;
  bool batch = false;
  ResultOptions result;
};

constexpr const char* kTopFooter = R"(Examples:
  kmemtrace top                                shows a screen until q is pressed
  kmemtrace top --view processes --sort live
  kmemtrace top --view net                     shows which slab caches grow, counted exactly
  kmemtrace top --batch -n 3 --interval 5s     prints three frames as text, one every five seconds
  kmemtrace top --json -n 1                    prints one frame for a script
  kmemtrace top -- make -j8                    shows a build until it ends

Keys: ? lists the keys. 1 to 9, 0 or Tab change the view. s and S change the sort column, and r reverses the order. /
filters by a part of the name. Arrows, PageUp, PageDown, Home and End select a row, and Enter shows its stacks. p
pauses the display. f writes the frame to a file. q ends the program.

The first line names the back end that counts (--backend). Only BPF programs, the default if they can be used, provide
live bytes, stacks, cgroups and the view net.

Counts and bytes are exact, because the kernel adds them up. Live bytes and stacks are estimates for the memory
allocated since top started. The estimates are from samples, one per 256 KiB of allocated memory, which are followed
until they are freed. "Live, 95%" is the confidence interval of the live bytes. A process is one row with all its
threads. User memory and the page cache are not counted.

The fourth line shows the cost of top: the share of a CPU that the program uses, and its memory in the kernel. After
"missed", the line counts events that top did not see. "Untraced frees" are samples that were freed without an event;
top detects them when their addresses are allocated again.

Processes and cgroups have slab objects and pages in one row. Bytes/s, Live and Allocated count a slab object once: the
pages of slabs are left out. The share of slab pages is estimated from samples, so the bytes of pages in these two views
are estimates too. The first lines show slab objects and all pages separately; do not add them.

The view net shows the slab objects that were allocated and freed in each cache since the start, on Linux 6.13 and
later. It is always sorted by net bytes: allocated minus freed. Slabinfo is the change of active_objs in /proc/slabinfo
during the same time, as in `kmemtrace stat`.

This command needs root. BPF programs need a kernel that describes its types (/sys/kernel/btf/vmlinux, or --btf FILE);
then CAP_BPF and CAP_PERFMON are enough. The other back ends need tracefs.

Exit status: the status of COMMAND, or 128 + N if signal N ended COMMAND. Otherwise:
  0  watched
  2  wrong usage, or COMMAND cannot be executed
  3  not permitted or not supported here)";

template <typename Infos>
auto parse_name(const char* option, const std::string& name, const Infos& infos) {
  const auto found = std::ranges::find_if(infos, [&](const auto& info) { return info.name == name; });
  if (found != infos.end()) return *found;
  std::string names;
  for (const auto& info : infos) names += (names.empty() ? "" : ", ") + std::string(info.name);
  throw Error(fmt::format("{} cannot be \"{}\"", option, printable(name))).hint("Use one of " + names);
}

std::vector<TopView> all_views() {
  std::vector<TopView> views;
  for (const TopViewInfo& info : top_views()) views.push_back(info.view);
  return views;
}

// Adds the names of the threads of each process. The names are read from /proc, so only running processes have them.
void add_threads(TopResult& result) {
  constexpr std::size_t kMostThreads = 256;  // maximum number of threads of a process whose names are read
  if (result.view != TopView::processes) return;
  for (TopRow& row : result.rows)
    if (row.process != 0) row.threads = thread_names_of(row.process, kMostThreads);
}

// Saves the frame to a file and returns the path of the file.
std::string freeze(const TopResult& frame, const SymbolNames& symbols, TopOptions options) {
  std::string path = fmt::format("kmemtrace-top-{:%Y%m%dT%H%M%S}.txt", fmt::localtime(std::time(nullptr)));
  TextStyle style;
  style.raw = true;
  options.first = options.rows = 0;
  write_new_file(path, text_top(frame, symbols, options, style));
  return path;
}

// The content of one view at one moment.
struct Frame {
  TopResult result;
  std::unordered_map<std::string, std::vector<TopRow>> stacks;  // key: name of a row; value: the stacks of this row
};

// The state of the display, which keys change.
class Browser {
 public:
  Browser(HeapWatch& watch, TopView view, TopOptions options)
      : watch_(watch), view_(view), options_(std::move(options)) {
    refresh();
  }

  void refresh();
  void draw(TopScreen& screen);
  // Handles a key. Returns false if the key ends the program.
  bool press(int key);

 private:
  void change_view(TopView view);
  void change_sort(std::size_t columns);
  void move(std::ptrdiff_t rows);
  void edit_filter(int key);
  void pause();
  std::vector<TopRow> stacks_of(const std::string& row) const;
  void freeze_frame();
  std::string footer() const;

  HeapWatch& watch_;
  TopView view_;
  TopOptions options_;
  TopResult frame_;
  std::map<TopView, Frame> paused_;  // the frames of all views that can be shown while the display is paused
  std::vector<TopRow> rows_;
  std::size_t selected_ = 0;
  std::size_t first_ = 0;
  std::size_t page_ = 1;
  std::optional<std::string> expanded_;  // name of the row whose stacks are shown
  std::vector<TopLine> stacks_;
  bool editing_ = false;
  bool shows_keys_ = false;  // true: show the list of keys until the next key is pressed
  std::string message_;
};

void Browser::refresh() { frame_ = options_.paused ? paused_.at(view_).result : watch_.result(view_); }

void Browser::pause() {
  options_.paused = !options_.paused;
  paused_.clear();
  if (!options_.paused) return;
  for (const TopView view : all_views())
    paused_[view] = {view == view_ ? frame_ : watch_.result(view), watch_.account().stacks(view)};
}

std::vector<TopRow> Browser::stacks_of(const std::string& row) const {
  if (!options_.paused) return watch_.account().stacks(view_)[row];
  const auto& stacks = paused_.at(view_).stacks;
  const auto found = stacks.find(row);
  return found == stacks.end() ? std::vector<TopRow>{} : found->second;
}

void Browser::freeze_frame() {
  try {
    message_ = "wrote " + freeze(frame_, watch_.symbols(), options_);
  } catch (const Error& error) {
    message_ = error.what();
  }
}

std::string Browser::footer() const {
  if (editing_) return "filter: " + options_.filter + "_   (Enter: done, Escape: none)";
  if (!message_.empty()) return message_;
  if (shows_keys_) return "any key back";
  if (expanded_) return "Enter back  arrows scroll  p pause  q end";
  std::string keys =
      fmt::format("{}  0-9 view  s sort  / filter  Enter stacks  p pause  ? keys  q end", info_of(view_).name);
  return options_.filter.empty() ? keys : fmt::format("[{}] {}", options_.filter, keys);
}

void Browser::draw(TopScreen& screen) {
  TextStyle style = stdout_style({});
  style.width = std::clamp(screen.width(), TextStyle::kMinWidth, TextStyle::kMaxWidth);
  std::vector<TopLine> lines = top_heading(frame_, options_, style);
  lines.push_back({});
  if (shows_keys_) {
    const std::vector<TopLine> keys = top_keys();
    lines.insert(lines.end(), keys.begin(), keys.end());
    screen.show(lines, footer());
    return;
  }
  const std::size_t room = screen.height() > lines.size() + 2 ? screen.height() - lines.size() - 2 : 1;
  page_ = room;
  if (expanded_) {
    stacks_ = top_stacks(*expanded_, stacks_of(*expanded_), watch_.symbols(), style);
    first_ = std::min(first_, stacks_.size() - 1);
    lines.insert(lines.end(), stacks_.begin() + static_cast<std::ptrdiff_t>(first_), stacks_.end());
  } else {
    rows_ = rows_shown(frame_, options_);
    selected_ = rows_.empty() ? 0 : std::min(selected_, rows_.size() - 1);
    first_ = std::clamp(first_, selected_ < room ? 0 : selected_ - room + 1, selected_);
    TopOptions shown = options_;
    shown.first = first_;
    shown.rows = room;
    shown.selected = selected_;
    const std::vector<TopLine> table = top_table(frame_, rows_, shown, style);
    lines.insert(lines.end(), table.begin(), table.end());
  }
  screen.show(lines, footer());
}

void Browser::change_view(TopView view) {
  view_ = view;
  refresh();
  selected_ = first_ = 0;
  expanded_.reset();
}

void Browser::change_sort(std::size_t columns) {
  const auto all = top_columns();
  options_.sort = all[(static_cast<std::size_t>(options_.sort) + columns) % all.size()].column;
}

void Browser::move(std::ptrdiff_t rows) {
  std::size_t& place = expanded_ ? first_ : selected_;
  const auto to = static_cast<std::ptrdiff_t>(place) + rows;
  place = static_cast<std::size_t>(std::max<std::ptrdiff_t>(to, 0));
}

void Browser::edit_filter(int key) {
  if (key == kKeyEnter) editing_ = false;
  if (key == kKeyEscape) {
    options_.filter.clear();
    editing_ = false;
  }
  if (key == kKeyBackspace && !options_.filter.empty()) options_.filter.pop_back();
  if (key >= ' ' && key < 127) options_.filter += static_cast<char>(key);
}

bool Browser::press(int key) {
  if (key == kNoKey || key == kKeyResize) return true;
  message_.clear();
  if (editing_) {
    edit_filter(key);
    return true;
  }
  if (std::exchange(shows_keys_, false)) return key != 'q';
  const auto page = static_cast<std::ptrdiff_t>(page_);
  const auto views = top_views();
  switch (key) {
    case 'q': return false;
    case '\t': change_view(views[(static_cast<std::size_t>(view_) + 1) % views.size()].view); break;
    case '?': shows_keys_ = true; break;
    case 's': change_sort(1); break;
    case 'S': change_sort(top_columns().size() - 1); break;
    case 'r': options_.reversed = !options_.reversed; break;
    case '/': editing_ = true; break;
    case 'p':
    case ' ': pause(); break;
    case 'f': freeze_frame(); break;
    case kKeyUp: move(-1); break;
    case kKeyDown: move(1); break;
    case kKeyPageUp: move(-page); break;
    case kKeyPageDown: move(page); break;
    case kKeyHome: move(-static_cast<std::ptrdiff_t>(std::max(selected_, first_))); break;
    case kKeyEnd: move(static_cast<std::ptrdiff_t>(rows_.size() + stacks_.size())); break;
    case kKeyEscape:
      if (!expanded_) options_.filter.clear();
      expanded_.reset();
      break;
    case kKeyEnter:
      if (expanded_)
        expanded_.reset();
      else if (selected_ < rows_.size())
        expanded_ = rows_[selected_].name;
      stacks_.clear();
      first_ = 0;
      break;
    default:
      // The key 0 shows the tenth view.
      if (key >= '0' && key <= '9')
        change_view(views[static_cast<std::size_t>(key == '0' ? 9 : key - '1') % views.size()].view);
  }
  return true;
}

int top(const TopArguments& options) {
  const TopView view = parse_name("--view", options.view, top_views()).view;
  TopOptions shown;
  shown.sort = parse_name("--sort", options.sort, top_columns()).column;
  shown.filter = options.filter;
  const std::chrono::nanoseconds interval = parse_watch_interval(options.interval);
  const bool frames_only = options.batch || options.result.json || options.frames > 0;
  LiveRun run(options.live);
  // A view that only BPF programs provide needs them from the start.
  const bool only_bpf = frames_only && needs_bpf(view);
  if (only_bpf && options.backend != "auto" && options.backend != "bpf")
    throw Error(fmt::format("--view {} needs --backend bpf", info_of(view).name));
  HeapWatch watch({.backend = only_bpf ? "bpf" : options.backend,
                   .selection = run.selection(),
                   .selection_text = selection_text(options.live),
                   .interval = interval,
                   .views = frames_only ? std::vector{view} : all_views(),
                   .probes = !options.live.no_probes});
  std::optional<TopScreen> screen;
  if (!frames_only) screen.emplace();
  run.start(frames_only ? "Watching" : nullptr);

  std::optional<Browser> browser;
  if (screen) browser.emplace(watch, view, shown);
  bool has_key = true;  // initially true, so that the first screen is drawn
  unsigned frames = 0;
  const auto print_frame = [&] {
    TopResult result = watch.result(view);
    if (options.result.json) add_threads(result);
    TopOptions all = shown;
    all.rows = options.limit;
    sort_rows(result.rows, sorted_by(view, shown.sort));
    print_result(options.result.json ? json_top(result, watch.symbols())
                                     : text_top(result, watch.symbols(), all, stdout_style(options.result.style)));
    ++frames;
  };
  while (!(frames_only && stdout_has_no_reader()) && run.goes_on()) {
    const bool has_frame = watch.turn();
    if (browser) {
      if (has_frame) browser->refresh();
      if (has_frame || has_key) browser->draw(*screen);
      const int key = screen->key(kLookMs);
      if (!browser->press(key)) break;
      has_key = key != kNoKey;
      continue;
    }
    if (!has_frame) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs / 2));
      continue;
    }
    print_frame();
    if (frames == options.frames) return 0;
  }
  browser.reset();
  screen.reset();
  const int status = run.say_end();
  if (!frames_only) return status;
  // also prints the data that came after the last complete interval
  watch.turn(true);
  print_frame();
  return status;
}

}  // namespace

Command top_command() {
  const auto options = std::make_shared<TopArguments>();
  Command command{"top", "Show current allocations of kernel memory on a screen that is updated regularly.", kTopFooter,
                  [options](const Command&) { return top(*options); }};
  add_live_options(command, options->live);
  add_counting_backend_option(command, options->backend);
  command.option("--interval", &options->interval, "T", "Update the screen every T (default: 1s)");
  command.option(
      "--view", &options->view, "VIEW",
      "Start with VIEW (default: call-sites)\nVIEW is call-sites, stacks, processes, cgroups, caches, orders, modules, "
      "net, subsystems or directories (docs/modules.md).");
  command.option("--sort", &options->sort, "COLUMN",
                 "Sort by COLUMN (default: bytes)\nCOLUMN is bytes or events (of the last interval), live, allocated, "
                 "total, wasted or failed (since the start).");
  command.option("--filter", &options->filter, "TEXT", "Show only rows whose names contain TEXT");
  command.flag("--batch", &options->batch, "Print each frame as text, for use in pipes");
  command.option("-n,--frames", &options->frames, "N", "Print N frames as text and exit",
                 {.range = OptionRange{1, 1'000'000'000}});
  add_limit_option(command, options->limit, "rows in each printed frame");
  add_result_options(command, options->result, "kmemtrace.top/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
