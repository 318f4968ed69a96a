// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace simulate
#include "analysis/simulation/simulation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/simulation/object_log.hpp"
#include "analysis/simulation/suggestion_trial.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/parse.hpp"
#include "snapshot/parse.hpp"
#include "views/json/simulation.hpp"
#include "views/text/simulation.hpp"

namespace kmt {

namespace {

struct SimulateArguments {
  AnalyseOptions analyse;
  std::string allocator = "slub";
  std::string classes;
  std::vector<std::string> caches;
  std::string goal = "held";
  std::size_t suggest = SuggestionRequest{}.most;
  std::string slabinfo;  // "BEFORE" or "BEFORE,AFTER": paths of copies of slabinfo
  SimulationOptions view;
  ResultOptions result;
};

constexpr const char* kSimulateFooter = R"(Examples:
  kmemtrace record --duration 1m && kmemtrace simulate    suggests new caches
  kmemtrace simulate big.kmt --goal given                 considers all allocations, even short-lived ones
  kmemtrace simulate big.kmt --cache alloc_pipe_info      adds a cache for the largest request of this function
  kmemtrace simulate big.kmt --cache 'ext4_*=200'         adds a cache for requests of up to 200 bytes
  kmemtrace simulate big.kmt --classes +640,+1280         adds two kmalloc classes
  kmemtrace simulate big.kmt --classes 8,16,32,64,128,256,512,1024,2048,4096,8192
  kmemtrace simulate big.kmt --allocator slob             simulates SLOB
  kmemtrace simulate trace.dat --slabinfo before,after    check the model against copies of /proc/slabinfo

"Held" is the memory of slabs, and of allocations above the largest class, for objects allocated in the trace. "Rounded
up" is the memory that objects take beyond their requested size (internal waste). "Unused in slabs" is the memory in
slabs without an object (external waste). Both values are from the time when most memory was held. "CPUs' lists" is the
maximum that the CPUs may keep in reserve for a cache.

Suggestions are based on replays of the trace. The first pass finds candidates by estimating the saving if
objects had exactly the requested size. The second pass replays each candidate separately, and ranks the candidates that
save held memory on average. The third pass replays all suggestions together.

Exit status:
  0    shown
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the result covers the part that was read, and states this)";

[[noreturn]] void wrong_class(std::string_view text) {
  throw Error(fmt::format("--classes: {} is not a size of a kmalloc class", printable(text)))
      .hint("Sizes are 1 to 4M. A leading + adds a size to the kernel's classes: --classes +640,+1280");
}

void parse_classes(const std::string& text, SimulationRequest& request) {
  constexpr std::uint64_t kMost = 4 << 20;  // bytes; KMALLOC_MAX_SIZE of most kernels
  constexpr std::uint64_t kAlign = 8;       // smallest ARCH_KMALLOC_MINALIGN
  for (const std::string_view word : split(text, ',')) {
    const bool added = word.starts_with('+');
    const std::uint64_t bytes = parse_size(added ? word.substr(1) : word);
    if (bytes == 0 || bytes > kMost) wrong_class(word);
    if (bytes % kAlign != 0)
      throw Error(
          fmt::format("--classes: {} is not a size of a kmalloc class: it is not a multiple of {}", bytes, kAlign))
          .hint("The kernel rounds object sizes up to a multiple of its word size");
    if (!added && !request.classes.empty() && bytes <= request.classes.back())
      throw Error(fmt::format("--classes: {} comes after {}, but sizes must ascend", bytes, request.classes.back()))
          .hint("--classes 8,16,32. A leading + adds a size to the kernel's classes: --classes +640,+1280");
    (added ? request.new_classes : request.classes).push_back(bytes);
  }
}

SiteCache parse_site_cache(const std::string& text) {
  constexpr std::uint64_t kMost = 4 << 20;
  const std::size_t equals = text.rfind('=');
  SiteCache cache;
  cache.glob = text.substr(0, equals);
  if (equals != std::string::npos) cache.most_bytes = parse_size(std::string_view(text).substr(equals + 1));
  if (cache.glob.empty() || (equals != std::string::npos && (cache.most_bytes == 0 || cache.most_bytes > kMost)))
    throw Error(fmt::format("--cache: {} is not a call site with a valid size", printable(text)))
        .hint("--cache alloc_pipe_info=640, or without a size for the largest request");
  return cache;
}

std::vector<SlabInfo> slabinfo_of(std::string_view text, std::uint64_t page_size) {
  StateSample sample;
  sample.texts.emplace_back("slabinfo", text);
  return parse_snapshot(sample, static_cast<std::uint32_t>(page_size)).slabs;
}

std::vector<SlabInfo> slabinfo_in(const std::string& path, std::uint64_t page_size) {
  const std::string text = read_file(path);
  std::vector<SlabInfo> slabs = slabinfo_of(text, page_size);
  if (slabs.empty())
    throw Error(fmt::format("{}: no slabinfo", path))
        .hint("The file must be a copy of /proc/slabinfo, which root can read");
  refuse_damage("slabinfo", text, path);
  return slabs;
}

// Uses the first and the last of those samples that have slabinfo.
void take_samples(const TraceInfo& info, SimulationRequest& request) {
  std::vector<std::string_view> texts;
  for (const StateSample& sample : info.recording.samples)
    if (const std::string_view text = text_of(sample, "slabinfo"); !text.empty()) texts.push_back(text);
  if (texts.empty()) return;
  request.slabinfo_before = slabinfo_of(texts.front(), info.machine.page_size);
  if (texts.size() > 1) request.slabinfo_after = slabinfo_of(texts.back(), info.machine.page_size);
}

std::string check_copies(const std::string& paths) {
  return split(paths, ',').size() > 2 ? "must be one file or two" : "";
}

SimulationRequest request_of(const SimulateArguments& options) {
  SimulationRequest request;
  request.allocator = options.allocator == "slab"   ? SlabAllocator::slab
                      : options.allocator == "slob" ? SlabAllocator::slob
                                                    : SlabAllocator::slub;
  if (!options.classes.empty()) parse_classes(options.classes, request);
  for (const std::string& cache : options.caches) request.site_caches.push_back(parse_site_cache(cache));
  if (request.allocator == SlabAllocator::slob && request.asks_for_what_if() &&
      !(options.classes.empty() && options.caches.empty()))
    throw Error("--classes and --cache have no effect with --allocator slob, because SLOB has no classes");
  return request;
}

// Provides the objects of the trace for one replay. Opens the trace again if the log does not contain all objects.
class ReplaySource {
 public:
  ReplaySource(const SimulateArguments& options, const OpenedTrace& trace, const SimulationRequest& request,
               const ObjectLog& log)
      : log_(log), progress_(options.analyse.trace.progress) {
    if (!log.is_whole()) again_.emplace(options.analyse, std::span<ReportRequest>());
    from_ = again_ ? &*again_ : &trace;
    CacheNames learned(trace.info());
    log.teach(learned);
    caches_.emplace(info());
    name_kmalloc_caches(info(), request, *caches_);
    caches_->take_learned(learned);
  }

  const TraceInfo& info() const { return from_->info(); }
  const SymbolNames& names() const { return from_->names(); }
  CacheNames& caches() { return *caches_; }
  // Passes the objects to a Simulation or a SuggestionTrial. Returns false after Ctrl+C.
  bool pass_to(auto& replay) {
    if (!again_) {
      replay.replay(log_);
      return true;
    }
    WatchedSource source(again_->source(), progress_);
    EventBatch batch;
    while (source.read(batch)) replay.add(batch);
    return source.complete();
  }

 private:
  const ObjectLog& log_;
  bool progress_;
  std::optional<OpenedTrace> again_;
  const OpenedTrace* from_;
  std::optional<CacheNames> caches_;
};

// Replays the trace with the suggested caches. Returns false after Ctrl+C. The suggestions are then not used, because
// they would be based on a part of the trace.
bool find_suggestions(const SimulateArguments& options, const OpenedTrace& trace, const ObjectLog& log,
                      const std::vector<ProfiledKind>& profile, SimulationRequest& request,
                      std::optional<std::size_t>& candidates) {
  const KmallocModel model = kmalloc_model(trace.info(), request, profile);
  const SuggestionRequest wanted{options.suggest, options.goal == "given"};
  std::vector<CacheSuggestion> found =
      suggestion_candidates(profile, model.classes, slab_machine_of(trace.info()), wanted);
  const std::size_t replayed = found.size();
  if (replayed == 0) {
    candidates = 0;
    return true;
  }
  ReplaySource source(options, trace, request, log);
  SuggestionTrial trial(source.info(), source.names(), source.caches(), model.random_caches, std::move(found));
  if (!source.pass_to(trial)) return false;
  candidates = replayed;
  request.suggestions = best_suggestions(trial.finish(), wanted);
  return true;
}

SimulationResult simulated(const SimulateArguments& options, SimulationRequest request) {
  OpenedTrace trace(options.analyse, {});
  // Takes the samples of slabinfo first. They show which caches belong to control groups, and this affects the names of
  // caches.
  take_samples(trace.info(), request);
  const std::vector<std::string> copies = split_commas({options.slabinfo});
  if (!copies.empty()) request.slabinfo_before = slabinfo_in(copies.front(), trace.info().machine.page_size);
  ObjectLog log(!request.slabinfo_before.empty());
  KmallocProfile profile(trace.info(), trace.names(), log);
  name_kmalloc_caches(trace.info(), request, profile.cache_names());
  WatchedSource first(trace.source(), options.analyse.trace.progress);
  EventBatch batch;
  while (first.read(batch)) profile.add(batch);
  // The last sample is known only after the whole trace has been read.
  if (copies.empty()) take_samples(trace.info(), request);
  if (copies.size() > 1) request.slabinfo_after = slabinfo_in(copies[1], trace.info().machine.page_size);
  if (copies.size() == 1) request.slabinfo_after.clear();
  const std::vector<ProfiledKind> kinds = profile.finish();
  bool complete = first.complete();
  std::optional<std::size_t> candidates;
  if (complete && options.suggest > 0 && !request.asks_for_what_if())
    complete = find_suggestions(options, trace, log, kinds, request, candidates);
  ReplaySource source(options, trace, request, log);
  Simulation simulation(source.info(), source.names(), source.caches(), std::move(request), kinds);
  if (complete || log.is_whole()) complete = source.pass_to(simulation) && complete;
  SimulationResult result = simulation.finish(complete);
  result.suggests_traffic = options.goal == "given";
  result.candidates = candidates;
  return result;
}

int simulate(const Command& command, const SimulateArguments& options) {
  SimulationRequest request = request_of(options);
  for (const char* const option : {"--suggest", "--goal"})
    if (request.asks_for_what_if() && command.has(option))
      throw Error(fmt::format("{} has no effect together with --allocator, --classes or --cache", option))
          .hint("Without these options, `kmemtrace simulate` suggests caches");
  const SimulationResult result = simulated(options, std::move(request));
  print_result(options.result.json ? json_simulation(result, options.view)
                                   : text_simulation(result, options.view, stdout_style(options.result.style)));
  return result.trace.complete ? 0 : kInterruptedExitCode;
}

}  // namespace

Command simulate_command() {
  const auto options = std::make_shared<SimulateArguments>();
  Command command{"simulate",
                  "Replay a trace with a model of the slab allocator, and show how much memory other allocators or "
                  "caches would use.",
                  kSimulateFooter, [options](const Command& given) { return simulate(given, *options); }};
  add_file_option(command, options->analyse.trace);
  command.option("--allocator", &options->allocator, "ALLOCATOR",
                 "Also replay with the model of ALLOCATOR: slub, slab or slob (default: slub)\nThe recorded kernel is "
                 "always assumed to use SLUB.",
                 {.words = {"slub", "slab", "slob"}});
  command.option("--classes", &options->classes, "LIST",
                 "Use the sizes in LIST for kmalloc caches, instead of the kernel's sizes\nSizes with a leading + are "
                 "added to the kernel's sizes.");
  command.option("--cache", &options->caches, "SITE[=SIZE]",
                 "Use a separate cache for the kmalloc allocations of SITE\nThe cache is for requests of up to SIZE "
                 "bytes (default: the largest request). Requests that fit into a smaller class stay in that class. "
                 "SITE is a glob for functions or call sites. May be given more than once.",
                 {.repeats = true});
  command.option(
      "--suggest", &options->suggest, "N",
      "Suggest N new caches or classes (default: 5)\nThis cannot be combined with --allocator, --classes or --cache.",
      {.range = OptionRange{0, 50}});
  command.option("--goal", &options->goal, "GOAL",
                 "Suggest caches that save held or given memory (default: held)\n"
                 "Held memory is the average over time. Given memory is the sum of all allocations.",
                 {.words = {"held", "given"}});
  command.option(
      "--slabinfo", &options->slabinfo, "BEFORE[,AFTER]",
      "Compare with copies of /proc/slabinfo from before and after the trace (default: the samples in the trace)",
      {.check = check_copies});
  add_limit_option(command, options->view.limit, "caches");
  add_analyse_options(command, options->analyse,
                      "Accepted as in other commands, but without effect\nA replay uses one thread.");
  add_result_options(command, options->result, "kmemtrace.simulate/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
