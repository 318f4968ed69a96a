// SPDX-License-Identifier: GPL-2.0-or-later
// Observations and conclusions of `investigate`: which kernel memory grows, how fast, how certain that is, and for
// which process. docs/formats/investigate-json.md has the definitions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/series/memory_series.hpp"
#include "results/series/trend.hpp"
#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Memory that one stack of one process allocated from one cache, and its live bytes at each step.
struct GrowthGroup {
  // "alloc_pipe_info+0x52", the call site first; without a known stack, only the call site.
  std::vector<std::string> stack;
  // "filp", "kmalloc-1k", "pages of order 2", "vmalloc areas". All kmalloc caches of one size have the same name here.
  // Before Linux 6.1, allocation events do not name caches: "objects of 256 B".
  std::string cache;
  std::string task;           // the process's name: "bash", or "[softirq]"
  std::string thread;         // name of the thread; empty: the same as the process's, or unknown
  std::uint32_t process = 0;  // 0: no process, or unknown
  std::string cgroup;         // empty: unknown
  bool excluded = false;      // true: the growth of this memory cannot be judged, or it is not kernel memory
  std::uint64_t seen = 0;     // number of live objects seen: the sampled objects, or all objects if all were recorded
  double objects = 0;         // allocated in the observed time and live at its end; estimated if sampled
  double bytes = 0;
  std::vector<double> live;  // live bytes at the end of each step
};

struct GrowthSeen {
  double step_seconds = 0;
  std::size_t steps = 0;
  std::uint64_t mean_bytes = 0;  // mean bytes between samples; 0: all allocations were recorded
  bool pages = false;            // true: direct allocations from the page allocator were also seen
  std::vector<GrowthGroup> groups;

  double seconds() const { return step_seconds * static_cast<double>(steps); }
};

// The last line of balance sheets. In MemorySeries it is treated like a line of meminfo.
inline constexpr std::string_view kUnaccounted = "unaccounted";

// Returns the kernel's name of the kmalloc cache of this size: "kmalloc-1k".
std::string kmalloc_name(std::uint64_t bytes);
// Returns a name for a cache if only its object size is known.
std::string objects_name(std::uint64_t bytes);
// For pages directly from the page allocator, this prefix and the order replace the cache name.
inline constexpr std::string_view kPagesOfOrder = "pages of order ";
std::string pages_name(std::uint64_t order);

// The kernel filter of an exact recording.
struct Narrowing {
  std::vector<std::string> caches;   // cache names in events of kmem_cache_alloc
  std::vector<std::uint64_t> sizes;  // bytes given in events of kmalloc
  // Object sizes in events of kmem_cache_alloc, if the events have no cache names.
  std::vector<std::uint64_t> object_sizes;
  std::vector<std::uint64_t> orders;  // orders of unmovable pages, which are not user memory
  bool pages = false;                 // true: unmovable pages of all orders

  bool empty() const { return caches.empty() && sizes.empty() && object_sizes.empty() && orders.empty() && !pages; }
  bool has(std::string_view cache) const;  // `cache` is a name as in GrowthGroup::cache
};

// The version 1 cgroups to which the memory of processes is charged. Samples and recordings contain version 2 cgroups;
// if memory is charged to version 1, all processes are in the version 2 root.
using MemoryCgroups = std::map<std::uint32_t, std::string>;

struct InvestigationEvidence {
  double seconds = 0;                 // length of the observation
  std::vector<MemorySeries> states;   // series of the kernel's counters; times are in ns
  std::optional<GrowthSeen> samples;  // cover the whole observation
  std::optional<GrowthSeen> trace;    // covers the last part of the observation
  Narrowing narrowing;                // filter of the trace
  double trace_begin_seconds = 0;     // start of the trace, since the start of the samples
  // Start and end of the set-up of the recording, since the first state. In this time the kernel allocates memory for
  // the recording.
  double setup_begin_seconds = 0;
  double setup_end_seconds = 0;  // 0: unknown
  double threshold_bytes_per_s = 0;
  bool copied = false;  // the states are from copied files
  // Cgroups of the trace's processes; empty: version 2 accounts memory, or unknown.
  std::optional<MemoryCgroups> memory_cgroups;
};

// A rise in the last part of a state that does not certainly rise all the time.
struct LateRise {
  double since_seconds = 0;  // approximate start, since the first state
  double bytes_per_s = 0;
  bool sure = false;  // true: far steadier than chance allows; false: only steadier
};

// Growth in the kernel's own counters: of a slab cache or a line of meminfo.
struct StateGrowth {
  std::string name;
  bool cache = false;
  double first = 0;  // bytes
  double last = 0;
  Trend trend;
  bool sure = false;                 // confirmed growth
  bool reclaimable = false;          // reclaimable memory
  double explained_bytes_per_s = 0;  // growth that findings explain
  std::vector<double> values;        // bytes at equal time steps
  double step_seconds = 0;
  std::optional<LateRise> late;
  bool rose_unfollowed = false;  // true: rose strongly after allocations were no longer followed
  // The only rising cache of a kmalloc size; empty: several caches rise, or the size has only one cache.
  std::string kind;

  bool above = false;                    // grows faster than the threshold, perhaps by chance
  bool slow = false;                     // certainly grows, but slower than the threshold
  bool is_recorders = false;             // the kernel uses this memory for the recording of `investigate`
  std::vector<std::string> merged_with;  // other caches that SLUB has merged with this cache

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
  // Returns the mean rate from the first to the last value, which is the only rate if there are few values.
  double mean_bytes_per_s() const {
    return values.size() < 2 ? 0 : (last - first) / (static_cast<double>(values.size() - 1) * step_seconds);
  }
  double bytes_per_s() const { return trend.growth == Growth::too_few_points ? mean_bytes_per_s() : trend.bytes_per_s; }
};

enum class Certainty : std::uint8_t {
  sure,
  likely,  // grows, but one of the sources does not confirm the growth
  weak,    // may be chance, or the start of growth that ends soon
};
std::string_view name_of(Certainty certainty);

// The data on which a reason is based.
enum class Ground : std::uint8_t {
  recording,  // live bytes of the finding over time
  samples,    // likewise
  account,    // the kernel's counters of the finding's caches over time
  sites,      // call sites of the finding
};
std::string_view id_of(Ground ground);

enum class ReasonKind : std::uint8_t {
  rises_evenly,
  rises_unevenly,
  seen_before_recording,
  hardly_seen_before_recording,
  account_confirms,
  account_grows,
  account_does_not_grow,
  unknown_cache,
  too_slow_or_short,
  not_all_recorded,
  holds_most,  // the finding is `percent` of the live memory seen in a cache with confirmed growth
  too_little_seen,
};

// A reason for or against a finding.
struct Reason {
  ReasonKind kind = ReasonKind::rises_evenly;
  Ground ground = Ground::samples;
  double percent = 0;
};

// The reason why the kernel's counters do not show the growth of a cache.
enum class NoAccount : std::uint8_t {
  not_kept,
  not_copied,
  no_such_cache,  // slabinfo does not have the cache
  slabinfo_not_read,
  slabinfo_not_copied,
};

struct FindingSite {
  std::string call_site;
  std::vector<std::string> stack;
  std::string cache;
  double objects = 0;
  double bytes = 0;
  bool estimated = false;  // estimated from samples, in addition to recorded memory
};

struct FindingProcess {
  std::string task;
  std::uint32_t process = 0;
  std::string cgroup;
  double objects = 0;
  double bytes = 0;
  std::vector<std::string> threads = {};  // names of threads that differ from `task`, sorted
};

struct FindingCache {
  std::string name;
  std::string account;                       // name of the StateGrowth that covers the cache; may be empty
  double bytes_per_s = 0;                    // growth of this finding in the cache
  std::optional<double> kernel_bytes_per_s;  // growth of the whole cache in slabinfo; with few states, computed from
                                             // the first and the last
  std::optional<NoAccount> no_account;       // reason why kernel_bytes_per_s is unknown
  std::string kind;                          // for a kmalloc size, the cache that rises in slabinfo; may be empty
  std::vector<std::string> merged_with;      // like StateGrowth::merged_with

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
};

struct GrowthFinding {
  Certainty certainty = Certainty::weak;
  std::string function;   // the innermost function that is in all stacks of the finding
  std::string entry;      // entry point into the kernel: "__x64_sys_pipe2"
  std::string call_site;  // the most informative call site
  std::string task;
  bool exact = false;  // true: rates are from the recording; false: from samples
  Trend trend;
  double bytes = 0;  // bytes allocated within `seconds` and still live at the end
  double objects = 0;
  double seconds = 0;
  std::vector<FindingSite> sites;         // largest first
  std::vector<FindingProcess> processes;  // likewise
  std::vector<FindingCache> caches;       // likewise
  std::vector<Reason> reasons;            // reasons for and against the finding
  std::vector<double> series;             // live bytes
  double step_seconds = 0;
  std::optional<double> since_seconds;  // if set, the rate is the growth of the kernel's counters since this time and
                                        // has no confidence interval
  // Estimated growth in caches that were not recorded, in addition to the recorded growth.
  double unrecorded_bytes_per_s = 0;
};

struct Judgement {
  std::vector<GrowthFinding> findings;  // most certain first, then fastest first
  std::vector<StateGrowth> states;      // largest growth first
  double threshold_bytes_per_s = 0;     // slower growth is ignored
  std::size_t judged = 0;               // number of groups (one task and one kernel entry point each)
  std::size_t followed = 0;             // number of kernel counters with enough values to be judged
  double excluded_bytes = 0;            // live bytes of groups that are not judged
  bool saw_allocations = false;         // samples or a recording covered enough time
  double seen_seconds = 0;        // length of the samples or the recording, whichever is longer; 0: neither exists
  double seen_until_seconds = 0;  // end of that time, since the start of the observation
  double covered_seconds = 0;     // time covered by samples or the recording; time between them does not count
  bool sampled = false;           // allocations were sampled
  bool saw_caches = false;        // slabinfo was read often enough

  bool found() const;                                        // growth of something is confirmed
  bool may_grow() const;                                     // any finding is likely or sure
  bool has_trends() const { return judged + followed > 0; }  // otherwise only differences are known
};

enum class GrowthVerdict : std::uint8_t { grows, no_growth, cannot_tell };
std::string_view id_of(GrowthVerdict verdict);

// Returns "sigqueue (merged with inotify_inode_mark, dnotify_mark)". Long lists are shortened.
std::string with_merged(const std::string& name, const std::vector<std::string>& merged_with);

// The reason why the verdict is cannot_tell.
enum class Unclear : std::uint8_t {
  order,            // the order of the copies is not certain
  short_trace,      // too few states, and the trace is shorter than `least_seconds`
  lossy_trace,      // too few states, and the trace lost events
  empty_trace,      // too few states, and nothing in the trace can be judged
  no_times,         // the times of the copies are unknown
  few_states,       // too few states, and no trace
  short_watch,      // the observation was shorter than `least_seconds`
  unconfirmed,      // something may grow, but there are too few states to confirm growth
  rarely_read,      // too few states were read, for example on a busy machine
  late_rise,        // `state` rises at the end
  rise_unfollowed,  // `state` rose after allocations were no longer followed
  rise_by_account,  // `state` never falls, and allocations were not traced
  cut_short,
  only_sums,     // neither allocations nor slab caches could be read
  half_covered,  // less than half of the time was covered
  mostly_lost,   // the trace lost more events than it has
};

// The part of the time that the evidence covers.
struct Coverage {
  double asked_seconds = 0;     // the whole time: requested, or between the copies
  double covered_seconds = 0;   // the time in which allocations were followed, or else counters were read
  bool by_allocations = false;  // false: only the kernel's counters were read

  double share() const { return asked_seconds > 0 ? covered_seconds / asked_seconds : 1; }
};

// States are indices into Judgement::states.
struct Conclusion {
  using State = std::optional<std::size_t>;

  GrowthVerdict verdict = GrowthVerdict::cannot_tell;
  Unclear unclear = Unclear::few_states;
  Coverage coverage;
  double least_seconds = 0;
  std::size_t sure_findings = 0;
  State state;                    // subject of the verdict if no finding is sure; its growth may be below the threshold
  bool followed_briefly = false;  // allocations were followed only for a part of the time
  State stacks;                   // KernelStack, if it grows with the tasks of a finding
  State unexplained;              // a state that grows faster than the sure findings explain
  std::vector<std::size_t> others;     // states with confirmed growth that findings explain only in small part
  State late_other;                    // a state with unexplained growth in the last part of the time
  std::vector<std::size_t> rose_most;  // states with the largest rise; set if it is unknown whether the rise continues
};

struct UnseenSource {
  std::string what;  // the source that could not be read
  std::string why;
  std::string how;  // how to make the source readable; may be empty
};

// The planned steps of an investigation and their cost.
struct InvestigationPlan {
  double seconds = 0;
  bool samples = false;
  bool trace = false;
  bool trace_stacks = false;
  bool calls = false;               // `kmemtrace graph` can record calls of kernel functions
  std::vector<std::string> states;  // readable files of /proc
  double state_interval = 0;        // seconds
  double most_cpu_seconds = 0;      // CPU budget: samples and recording end before they exceed it
  double least_cpu_seconds = 0;     // minimum cost
  double cpu_share = 0;             // requested share of all `cpus`
  unsigned cpus = 1;
  std::uint64_t kernel_bytes = 0;
  std::vector<UnseenSource> unseen;
};

struct InvestigationCost {
  double cpu_seconds = 0;  // CPU time of kmemtrace
  // CPU time in the kernel, measured at intervals or estimated from the number of events.
  double kernel_cpu_seconds = 0;
  bool is_measured = false;
  double most_cpu_seconds = 0;  // CPU budget
  double cpu_share = 0;         // requested share of all `cpus`
  unsigned cpus = 1;
};

struct InvestigationFile {
  std::string name;  // name in the folder
  std::string what;
};

// The files given as options, for the suggested commands; empty: not given.
struct CopiedFiles {
  std::string before;
  std::string after;
  std::string trace;
};

struct InvestigationResult {
  std::string kernel;
  std::string machine;
  std::string host;                 // empty: unknown
  std::uint64_t start_unix_ns = 0;  // 0: unknown
  double seconds = 0;
  double requested_seconds = 0;  // 0: unknown, or copies
  bool watched = false;   // true: `investigate` watched the machine, now or earlier; false: only copied files exist
  bool complete = true;   // false: interrupted by Ctrl+C
  std::string cut_short;  // reason if not complete
  Judgement judgement;
  Conclusion conclusion;
  std::optional<SnapshotDiff> diff;
  Narrowing narrowing;
  double trace_seconds = 0;  // 0: nothing was recorded
  std::uint64_t lost_events = 0;
  std::uint64_t trace_events = 0;   // events that the trace still has
  std::size_t timeless_states = 0;  // number of copied states without times, which cannot show growth
  bool unsure_order = false;        // the order of the copies is uncertain and may be reversed
  std::vector<UnseenSource> unseen;
  std::optional<InvestigationCost> cost;  // empty for copied files
  std::vector<InvestigationFile> files;   // files that contain the numbers
  std::string folder;                     // folder of `files`; empty: no files are kept
  CopiedFiles copies;                     // files given with --from
  bool no_calls = false;                  // calls of kernel functions cannot be recorded on this machine
  bool by_root = true;                    // root runs the suggested commands; false: they need sudo
  bool all_permitted = true;              // may use samples, recordings and slabinfo; false: other users may read more
  std::vector<std::string> next;          // suggested commands
};

}  // namespace kmt
