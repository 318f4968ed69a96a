// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace profile
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include "analysis/heap_profile.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/bpf/heap.hpp"
#include "capture/bpf/poisson.h"
#include "capture/tracefs/command.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/live_kernel.hpp"
#include "cli/live_options.hpp"
#include "cli/output.hpp"
#include "cli/record_messages.hpp"
#include "cli/trace_options.hpp"
#include "views/json_heap_profile.hpp"
#include "views/pprof.hpp"
#include "views/text_heap_profile.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};  // between looks into the ring buffer
constexpr std::uint64_t kFewestBytes = 1;
constexpr std::string_view kPrefix = "kmemtrace-heap-";
constexpr std::string_view kSuffix = ".pb.gz";

struct Options {
  LiveOptions live;
  std::string rate = "512K";
  std::string by = "call-site";
  std::string of = "slab";
  std::string output;
  std::string continuous;
  std::string every = "1m";
  unsigned keep = 60;
  std::size_t limit = 20;
  ResultOptions result;
};

constexpr const char* kFooter = R"(Examples:
  kmemtrace profile -d 1m                        where allocations of a minute came from, and which still live
  kmemtrace profile -d 1m --by stack --top 5
  kmemtrace profile -d 10m -o heap.pb.gz         then: go tool pprof -http=: heap.pb.gz
  kmemtrace profile --rate 64K -- make -j8       finer, of a build
  kmemtrace profile --of pages -d 10s            of the page allocator
  kmemtrace profile --continuous /var/tmp/heap   a file each minute, the latest 60, until it is ended

Allocations are drawn at random, each allocated byte with the same chance, one sample each --rate bytes on average. A
sample is followed until it is freed. What is shown is computed back: estimates of everything that was allocated
and of what lives, each with the interval in which the true value lies in 95 of 100 profiles. Rows of few samples
have wide intervals; a smaller --rate makes them narrower and costs more. Live is what was allocated since the
profile began and not freed yet.

What can be seen by few samples is right on average however long it runs, so it may run always. An event that is not
drawn costs some nanoseconds.

It needs root (or CAP_BPF and CAP_PERFMON) and a kernel that describes its types (/sys/kernel/btf/vmlinux).

Exit status:
  0  profiled
  2  wrong usage, COMMAND cannot be executed, or the profile cannot be written
  3  not permitted or not supported here)";

std::vector<HeapKey> parse_heap_keys(std::string_view text) {
  std::vector<HeapKey> keys;
  for (const std::string_view name : split(text, ',')) {
    const auto known = heap_keys();
    const auto found = std::ranges::find(known, name, &HeapKeyInfo::name);
    if (found == known.end()) {
      Error error(fmt::format("\"{}\" is no key", printable(name)));
      error.hint("Keys are call-site, stack, process, cache and cgroup, and several with commas");
      throw error;
    }
    if (std::ranges::find(keys, found->key) == keys.end()) keys.push_back(found->key);
  }
  return keys;
}

std::uint64_t parse_rate(const std::string& text) {
  const std::uint64_t bytes = parse_size(text);
  if (bytes < kFewestBytes || bytes > KMT_MOST_MEAN_BYTES) throw Error("--rate is a size from 1 byte to 16G");
  return bytes;
}

std::uint64_t unix_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

// Beside its place first, so that nobody sees half of it.
void write_whole(const std::string& path, std::string_view bytes) {
  const std::string unfinished = path + ".unfinished";
  {
    const FileDescriptor file = open_file(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.get(), bytes, unfinished);
  }
  std::error_code code;
  fs::rename(unfinished, path, code);
  if (code) throw Error(fmt::format("Cannot rename the profile: {}", code.message())).at({path, {}, {}});
}

// The latest `keep` profiles of a folder stay. Names are times, so they are in order.
void remove_old_profiles(const std::string& folder, unsigned keep) {
  std::vector<std::string> profiles;
  for (const std::string& name : names_in(folder))
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) profiles.push_back(name);
  std::error_code code;
  for (std::size_t i = 0; i + keep < profiles.size(); ++i) fs::remove(folder + "/" + profiles[i], code);
}

// One profile that runs, with all that it needs.
class Profiler {
 public:
  Profiler(const Options& options, const BpfSelection& selection)
      : options_(options),
        by_(parse_heap_keys(options.by)),
        profile_(parse_rate(options.rate), kernel_.symbols(),
                 [this](std::uint64_t id) { return kernel_.cgroup_name(id); }),
        watcher_(request(selection), {[this](const HeapSample& sample) { profile_.add(sample); },
                                      [this](const HeapSampleEnd& end) { profile_.end(end); }}) {}

  void drain() { watcher_.drain(); }
  const SymbolNames& symbols() const { return kernel_.symbols(); }

  HeapProfileResult result() {
    watcher_.drain();
    const HeapLosses losses = watcher_.losses();
    if (losses.ends > 0) profile_.reconcile([this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
    HeapProfileResult result = profile_.result(by_);
    result.selection = selection_text(options_.live);
    result.kernel = LiveKernel::release();
    result.start_unix_ns = start_unix_ns_;
    result.duration_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start_).count());
    result.has_pages = options_.of != "slab";
    result.losses = losses;
    result.memory = watcher_.memory();
    result.own_cpu_ns = own_cpu_ns();
    for (const EventName& event : watcher_.missing()) result.missing.push_back(to_string(event));
    return result;
  }

  void begin_interval() {
    profile_.begin_interval();
    start_ = Clock::now();
    start_unix_ns_ = unix_ns();
  }

 private:
  HeapRequest request(const BpfSelection& selection) const {
    HeapRequest request;
    request.selection = selection;
    request.slab = options_.of != "pages";
    request.pages = options_.of != "slab";
    request.mean_bytes = parse_rate(options_.rate);
    return request;
  }

  const Options& options_;
  std::vector<HeapKey> by_;
  LiveKernel kernel_;
  HeapProfile profile_;
  HeapWatcher watcher_;
  Clock::time_point start_ = Clock::now();
  std::uint64_t start_unix_ns_ = unix_ns();
};

void write_continuous(const Options& options, Profiler& profiler) {
  const HeapProfileResult result = profiler.result();
  const auto seconds = static_cast<std::time_t>(result.start_unix_ns / 1'000'000'000);
  const std::string name = fmt::format("{}{:%Y%m%dT%H%M%SZ}{}", kPrefix, fmt::gmtime(seconds), kSuffix);
  write_whole(options.continuous + "/" + name, pprof_profile(result, profiler.symbols()));
  remove_old_profiles(options.continuous, options.keep);
  profiler.begin_interval();
}

void check_options(const Options& options) {
  if (!options.continuous.empty() && !options.output.empty())
    throw Error("--continuous names its files itself: -o cannot be given with it");
  if (!options.output.empty() && !options.output.ends_with(".pb.gz") && !options.output.ends_with(".json")) {
    Error error("What a profile is written as is told by its name");
    error.hint("Name it *.pb.gz for pprof, or *.json");
    throw error.at({options.output, {}, {}});
  }
  std::error_code code;
  if (!options.continuous.empty() && !fs::is_directory(options.continuous, code))
    throw Error("--continuous needs a folder that exists").at({options.continuous, {}, {}});
  if (options.continuous.empty() || options.keep > 0) return;
  throw Error("--keep 0 would keep nothing");
}

void profile(const Options& options) {
  check_options(options);
  const std::optional<std::uint64_t> duration = duration_of(options.live);
  const std::chrono::nanoseconds every(parse_duration(options.every));
  const InterruptGuard interrupt;
  std::optional<HeldCommand> command;
  if (!options.live.command.empty()) command.emplace(options.live.command);
  Profiler profiler(options, selection_of(options.live, command ? std::optional(command->pid()) : std::nullopt));
  if (command) command->release();
  if (!command && !duration && ::isatty(STDERR_FILENO) == 1) say("Profiling; Ctrl+C ends it\n");
  const Clock::time_point start = Clock::now();
  Clock::time_point next = start + every;
  while (!interrupt.interrupted() && !(command && command->poll()) &&
         !(duration && Clock::now() - start >= std::chrono::nanoseconds(*duration))) {
    std::this_thread::sleep_for(kPause);
    profiler.drain();
    if (options.continuous.empty() || Clock::now() < next) continue;
    write_continuous(options, profiler);
    next += every;
  }
  if (!options.continuous.empty()) {
    write_continuous(options, profiler);
    return;
  }
  const HeapProfileResult result = profiler.result();
  const SymbolNames& symbols = profiler.symbols();
  if (options.output.ends_with(".json"))
    write_whole(options.output, json_heap_profile(result, symbols));
  else if (!options.output.empty())
    write_whole(options.output, pprof_profile(result, symbols));
  if (!options.output.empty()) say("Wrote {}\n", printable(options.output));
  if (options.result.json)
    print_result(json_heap_profile(result, symbols));
  else if (options.output.empty())
    print_result(text_heap_profile(result, symbols, options.limit, stdout_style(options.result.raw)));
}

}  // namespace

CLI::App* add_profile_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("profile", "Profile the kernel's heap by samples, cheaply enough for production.");
  const auto options = std::make_shared<Options>();
  add_live_options(*command, options->live);
  command->add_option("--rate", options->rate, "Draw one sample each SIZE allocated bytes on average (default: 512K)")
      ->type_name("SIZE");
  command
      ->add_option("--of", options->of,
                   "Profile slab, pages or both (default: slab)\nBytes of slab pages are pages too: the sums of both "
                   "are never added.")
      ->option_text("WHAT")
      ->check(CLI::IsMember({"slab", "pages", "both"}));
  command
      ->add_option(
          "--by", options->by,
          "Group by KEYS (default: call-site)\nKeys are call-site, caller, stack, process, cache and cgroup; several "
          "with commas. A caller is the first function that is no allocator (docs/wrappers.md).")
      ->option_text("KEYS");
  command->add_option("-o,--output", options->output, "Write the profile to FILE: *.pb.gz for pprof, or *.json")
      ->type_name("FILE");
  command
      ->add_option("--continuous", options->continuous,
                   "Write a profile for pprof into FOLDER after each time T, until it is ended\nEach holds what was "
                   "allocated in its time, and what lived at its end of all that was since the begin.")
      ->type_name("FOLDER");
  command->add_option("--every", options->every, "With --continuous: a file each T (default: 1m)")->type_name("T");
  command->add_option("--keep", options->keep, "With --continuous: keep the latest N files (default: 60)")
      ->type_name("N");
  add_limit_option(*command, options->limit, "rows in the table");
  add_result_options(*command, options->result, "kmemtrace.profile/1", "plain digits and full names");
  command->footer(kFooter);
  command->callback([options, &exit_code] {
    profile(*options);
    exit_code = 0;
  });
  return command;
}

}  // namespace kmt
