// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace profile
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/heap/profile.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/bpf/watch/heap.hpp"
#include "capture/bpf/watch/kernel_caches.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/live_kernel.hpp"
#include "cli/support/output.hpp"
#include "cli/support/say.hpp"
#include "cli/watch/live_run.hpp"
#include "cli/watch/profile_files.hpp"
#include "formats/kmt/profile.hpp"
#include "results/heap/cache_counts.hpp"
#include "views/json/heap_profile.hpp"
#include "views/text/heap/heap_profile.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};  // pause between reads of the ring buffer
constexpr std::uint64_t kFewestBytes = 1;
constexpr const char* kPprof = "pprof";
constexpr const char* kKmt = "kmt";

struct ProfileArguments {
  LiveOptions live;
  std::string rate = "512K";
  std::string by = "call-site";
  std::string of = "slab";
  std::string output;
  std::string continuous;
  std::string every = "1m";
  std::string format = kPprof;
  std::string show;
  unsigned keep = 60;
  std::size_t limit = 20;
  ResultOptions result;
};

constexpr const char* kProfileFooter = R"(Examples:
  kmemtrace profile -d 1m                        where memory was allocated in a minute, and what of it is live
  kmemtrace profile -d 1m --by stack --top 5
  kmemtrace profile -d 10m -o heap.pb.gz         then: go tool pprof -http=: heap.pb.gz
  kmemtrace profile --rate 64K -- make -j8       profiles a build with more samples
  kmemtrace profile --of pages -d 10s            profiles the page allocator
  kmemtrace profile --continuous /var/tmp/heap   writes a file per minute, and keeps the latest 60
  kmemtrace profile -d 10m -o heap.kmt           then: kmemtrace profile --show heap.kmt --by cache,stack

Allocations are sampled at random. Every allocated byte has the same chance of being sampled. On average, there is one
sample per --rate bytes. Each sample is followed until it is freed. The output shows estimates of all allocated memory
and of live memory, each with a 95 % confidence interval. Rows with few samples have wide intervals. A smaller --rate
makes the intervals narrower, but costs more CPU time. Live memory is memory that was allocated since the profile
started and is not yet freed.

Estimates are unbiased for any duration, so a profile may run all the time. An event that is not sampled costs some
nanoseconds.

This command needs root (or CAP_BPF and CAP_PERFMON), and a kernel that describes its types (/sys/kernel/btf/vmlinux,
or --btf FILE).

Exit status: the status of COMMAND, or 128 + N if signal N ended COMMAND. Otherwise:
  0  profiled
  2  wrong usage, COMMAND cannot be executed, or the profile cannot be written
  3  not permitted or not supported here)";

std::vector<HeapKey> parse_heap_keys(std::string_view text) {
  std::vector<HeapKey> keys;
  for (const std::string_view name : split(text, ',')) {
    const auto known = heap_keys();
    const auto found = std::ranges::find(known, name, &HeapKeyInfo::name);
    if (found == known.end()) {
      Error error(fmt::format("\"{}\" is not a key", printable(name)));
      std::string names;
      for (const HeapKeyInfo& info : known) names += (names.empty() ? "" : ", ") + std::string(info.name);
      error.hint("Keys are " + names + ". Separate several keys with commas");
      throw error;
    }
    if (std::ranges::find(keys, found->key) == keys.end()) keys.push_back(found->key);
  }
  return keys;
}

std::uint64_t parse_rate(const std::string& text) {
  const std::uint64_t bytes = parse_size(text);
  if (bytes < kFewestBytes || bytes > kMostMeanBytes) throw Error("--rate must be a size from 1 byte to 16G");
  return bytes;
}

// Returns the interval of --every. It is at least one second, because the names of the files contain seconds.
std::chrono::nanoseconds parse_every(const std::string& text) {
  const std::chrono::nanoseconds every(parse_duration(text));
  if (every < std::chrono::seconds(1)) throw Error("--every must be at least 1s");
  return every;
}

std::uint64_t unix_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

// True if an output shows counts of slab caches. Files for pprof do not have them.
bool wants_caches(const ProfileArguments& options) {
  if (options.of == "pages") return false;
  if (!options.continuous.empty()) return options.format == kKmt;
  return !options.output.ends_with(".pb.gz") || options.result.json;
}

// A running profile and its resources.
class Profiler {
 public:
  Profiler(const ProfileArguments& options, const BpfSelection& selection)
      : options_(options),
        by_(parse_heap_keys(options.by)),
        profile_(parse_rate(options.rate), kernel_.symbols(),
                 [this](std::uint64_t id) { return kernel_.cgroup_name(id); }),
        watcher_(request(selection), {[this](const HeapSample& sample) { profile_.add(sample); },
                                      [this](const HeapSampleEnd& end) { profile_.end(end); }}) {
    if (wants_caches(options_) && selection_text(options_.live).empty()) slabs_.emplace();
    keep_watching();
    if (slabs_) begin_.slabs = slabs_->read();
  }

  void drain() { watcher_.drain(); }
  const Kallsyms& symbols() const { return kernel_.symbols(); }

  // Returns the data since the start of the current interval, and starts the next interval.
  HeapProfileForms end_interval() {
    watcher_.drain();
    const Moment end = now();
    if (end.losses.ends > begin_.losses.ends)
      profile_.reconcile([this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
    if (kernel_.refresh()) profile_.names_changed();
    HeapProfileForms forms{profile_.result(by_), profile_.drawn()};
    forms.result.stacks = profile_.stacks();
    HeapProfileFacts& facts = forms.result;
    facts.selection = selection_text(options_.live);
    facts.kernel = LiveKernel::release();
    facts.start_unix_ns = begin_.unix_ns;
    facts.duration_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(end.time - begin_.time).count());
    facts.has_pages = options_.of != "slab";
    facts.losses = difference(begin_.losses, end.losses);
    facts.caches = difference(begin_.caches, end.caches);
    compare_with_slabinfo(facts.caches, begin_.slabs, end.slabs);
    facts.memory = watcher_.memory();
    facts.own_cpu_ns = end.own_cpu_ns - begin_.own_cpu_ns;
    for (const EventName& event : watcher_.missing()) facts.missing.push_back(to_string(event));
    static_cast<HeapProfileFacts&>(forms.drawn) = facts;
    profile_.begin_interval();
    begin_ = end;
    return forms;
  }

 private:
  struct Moment {
    Clock::time_point time;
    std::uint64_t unix_ns;
    HeapLosses losses;  // totals since the start, as is own_cpu_ns
    std::uint64_t own_cpu_ns;
    CacheCounts caches;
    std::vector<SlabInfo> slabs;
  };

  Moment now() const {
    return {Clock::now(),           unix_ns(),
            watcher_.losses(),      own_cpu_ns(),
            watcher_.read_caches(), slabs_ ? slabs_->read() : std::vector<SlabInfo>{}};
  }

  HeapRequest request(const BpfSelection& selection) const {
    HeapRequest request;
    request.selection = selection;
    request.slab = options_.of != "pages";
    request.pages = options_.of != "slab";
    request.caches = wants_caches(options_);
    request.probes = !options_.live.no_probes;
    request.mean_bytes = parse_rate(options_.rate);
    return request;
  }

  const ProfileArguments& options_;
  std::vector<HeapKey> by_;
  LiveKernel kernel_;
  HeapProfile profile_;
  HeapWatcher watcher_;
  // starts at 0, so that the first interval includes the CPU time of loading
  Moment begin_{Clock::now(), unix_ns(), {}, 0, {}, {}};
  std::optional<KernelCaches> slabs_;  // empty if slabinfo is not comparable with the counts
};

void check_options(const ProfileArguments& options) {
  if (!options.continuous.empty() && !options.output.empty())
    throw Error("--continuous and -o cannot be combined, because --continuous chooses the names of its files");
  if (!options.output.empty()) check_profile_name(options.output);
  std::error_code code;
  if (!options.continuous.empty() && !fs::is_directory(options.continuous, code))
    throw Error("The folder of --continuous does not exist")
        .hint("Create the folder first")
        .at({options.continuous, {}, {}});
  if (options.continuous.empty() || options.keep > 0) return;
  throw Error("--keep must be at least 1");
}

// Writes the profile to the requested file, and prints it on standard output.
void give(const ProfileArguments& options, const HeapProfileForms& profile, const Kallsyms& symbols) {
  if (!options.output.empty()) {
    write_profile(options.output, profile, symbols);
    say("Wrote {}\n", printable(options.output));
  }
  if (options.result.json)
    print_result(json_heap_profile(profile.result, symbols));
  else if (options.output.empty())
    print_result(text_heap_profile(profile.result, symbols, options.limit, stdout_style(options.result.style)));
}

// Shows a saved profile. The output looks the same as at the end of a run.
void show(const Command& command, const ProfileArguments& options) {
  if (options.output.ends_with(".kmt"))
    throw Error("--show and -o FILE.kmt cannot be combined, because this would only copy the profile");
  if (!options.output.empty()) check_profile_name(options.output);
  confine_reading(command, {options.output});
  const auto mapping = std::make_shared<const MappedFile>(options.show);
  kmt_format::StoredProfile stored = kmt_format::read_profile({options.show, mapping->bytes(), mapping});
  DrawnProfile& drawn = stored.profile;
  const Kallsyms symbols(stored.kallsyms);
  HeapProfile profile(drawn.mean_bytes, symbols, [&drawn](std::uint64_t id) {
    const auto at = drawn.cgroups.find(id);
    return at == drawn.cgroups.end() ? fmt::format("cgroup {}", id) : at->second;
  });
  for (DrawnGroup& group : drawn.groups) profile.add(std::move(group));
  HeapProfileForms forms{profile.result(parse_heap_keys(options.by)), {}};
  forms.result.stacks = profile.stacks();
  static_cast<HeapProfileFacts&>(forms.result) = static_cast<const HeapProfileFacts&>(drawn);
  give(options, forms, symbols);
}

int profile(const ProfileArguments& options) {
  check_options(options);
  const std::chrono::nanoseconds every = parse_every(options.every);
  LiveRun run(options.live);
  Profiler profiler(options, run.selection());
  run.start("Profiling");
  Clock::time_point next = Clock::now() + every;
  const auto write_interval = [&] {
    write_continuous_profile(options.continuous, options.format == kKmt ? ".kmt" : ".pb.gz", options.keep,
                             profiler.end_interval(), profiler.symbols());
  };
  while (run.goes_on()) {
    std::this_thread::sleep_for(kPause);
    profiler.drain();
    if (options.continuous.empty() || Clock::now() < next) continue;
    write_interval();
    // If the machine was suspended, all intervals during the suspension count as one.
    next += every * ((Clock::now() - next) / every + 1);
  }
  if (!options.continuous.empty())
    write_interval();
  else
    give(options, profiler.end_interval(), profiler.symbols());
  return run.say_end();
}

}  // namespace

Command profile_command() {
  const auto options = std::make_shared<ProfileArguments>();
  Command command{"profile", "Profile the kernel's heap with samples, at a cost low enough for production.",
                  kProfileFooter, [options](const Command& self) {
                    if (options->show.empty()) return profile(*options);
                    show(self, *options);
                    return 0;
                  }};
  add_live_options(command, options->live);
  command.option("--rate", &options->rate, "SIZE",
                 "Take one sample per SIZE allocated bytes on average (default: 512K)");
  command.option("--of", &options->of, "WHAT",
                 "Profile slab, pages or both (default: slab)\nSlabs consist of pages, so do not add the two sums.",
                 {.words = {"slab", "pages", "both"}});
  command.option(
      "--by", &options->by, "KEYS",
      "Group by KEYS (default: call-site)\nKeys are call-site, caller, stack, process, cache, cgroup, module, "
      "subsystem and directory (docs/modules.md). Separate several keys with commas. A caller is the first function "
      "that is not an allocator (docs/wrappers.md).");
  command.option("-o,--output", &options->output, "FILE",
                 "Write the profile to FILE: *.pb.gz for pprof, *.json, or *.kmt for --show");
  command.option("--show", &options->show, "FILE", "Show the profile in FILE.kmt, grouped by the keys of --by",
                 {.excludes = {"--all", "--pid", "--cgroup", "--duration", "--no-probes", "COMMAND", "--rate", "--of",
                               "--continuous", "--every", "--keep", "--format"}});
  command.option("--continuous", &options->continuous, "FOLDER",
                 "Write a profile into FOLDER after each interval T, until interrupted\n"
                 "Each profile shows the allocations in its interval, and the memory that was allocated since the "
                 "start and is live at the end of the interval.");
  command.option("--every", &options->every, "T", "With --continuous: write a file every T (default: 1m)",
                 {.needs = {"--continuous"}});
  command.option("--keep", &options->keep, "N", "With --continuous: keep the latest N files (default: 60)",
                 {.needs = {"--continuous"}});
  command.option("--format", &options->format, "FORMAT",
                 "With --continuous: write files for pprof, or .kmt (default: pprof)",
                 {.words = {kPprof, kKmt}, .needs = {"--continuous"}});
  add_limit_option(command, options->limit, "rows in the table");
  add_result_options(command, options->result, "kmemtrace.profile/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
