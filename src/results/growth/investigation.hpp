// SPDX-License-Identifier: GPL-2.0-or-later
// Observations and conclusions of `investigate`: which kernel memory grows, how fast, how certain, and for whom.
// The definitions are those of docs/formats/investigate-json.md.
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

// Memory that one stack of one process took from one cache, and the part still live, step by step.
struct GrowthGroup {
  std::vector<std::string> stack;  // "alloc_pipe_info+0x52", the call site first; where no stack is known it alone
  // "filp", "kmalloc-1k", "pages of order 2", "vmalloc areas"; all kinds of a kmalloc size are one. Where the kernel
  // does not name caches when it allocates (before 6.1): "objects of 256 B".
  std::string cache;
  std::string task;           // "bash", "[softirq]"
  std::uint32_t process = 0;  // 0: none, or not known
  std::string cgroup;         // empty: not known
  bool excluded = false;      // it cannot be judged, or is no kernel memory
  std::uint64_t seen = 0;     // live objects that were seen: samples, or all of them
  double objects = 0;         // live at the end, of what was allocated in the time; estimates of samples
  double bytes = 0;
  std::vector<double> live;  // bytes at the end of each step
};

struct GrowthSeen {
  double step_seconds = 0;
  std::size_t steps = 0;
  std::uint64_t mean_bytes = 0;  // between samples; 0: everything was seen
  bool pages = false;            // straight from the page allocator were seen too
  std::vector<GrowthGroup> groups;

  double seconds() const { return step_seconds * static_cast<double>(steps); }
};

// The last line of balance sheets; in MemorySeries it is a line like those of meminfo.
inline constexpr std::string_view kUnaccounted = "unaccounted";

// The kernel's name of the cache of that size: "kmalloc-1k".
std::string kmalloc_name(std::uint64_t bytes);
// The name of a cache that is known only by the bytes of its objects.
std::string objects_name(std::uint64_t bytes);
// Replaces the cache's name for pages directly from the page allocator.
inline constexpr std::string_view kPagesOfOrder = "pages of order ";
std::string pages_name(std::uint64_t order);

// The kernel's filter of an exact recording.
struct Narrowing {
  std::vector<std::string> caches;   // of kmem_cache_alloc
  std::vector<std::uint64_t> sizes;  // of kmalloc, bytes given
  // Bytes of an object of kmem_cache_alloc, if the event has no cache name.
  std::vector<std::uint64_t> object_sizes;
  std::vector<std::uint64_t> orders;  // of pages that no user has: not movable
  bool pages = false;                 // those of all orders

  bool empty() const { return caches.empty() && sizes.empty() && object_sizes.empty() && orders.empty() && !pages; }
  bool has(std::string_view cache) const;  // as GrowthGroup has it
};

// The cgroups of version 1 to which processes' memory is charged. In that case version 2, which samples and recordings
// use, has all processes in its root.
using MemoryCgroups = std::map<std::uint32_t, std::string>;

struct InvestigationEvidence {
  double seconds = 0;                 // of watching
  std::vector<MemorySeries> states;   // times in ns
  std::optional<GrowthSeen> samples;  // from the start to the end
  std::optional<GrowthSeen> trace;    // of the last part
  Narrowing narrowing;                // of the trace
  double trace_begin_seconds = 0;     // since the start of the samples
  // Since the first state: when the set-up of the recording began and ended. The kernel's memory for it came meanwhile.
  double setup_begin_seconds = 0;
  double setup_end_seconds = 0;  // 0: it is not known
  double threshold_bytes_per_s = 0;
  bool copied = false;                          // states are of copies
  std::optional<MemoryCgroups> memory_cgroups;  // of processes of the trace; empty: version 2 has them, or not known
};

// The last part of a state that does not certainly rise all the time.
struct LateRise {
  double since_seconds = 0;  // from the first state on, about
  double bytes_per_s = 0;
  bool sure = false;  // far steadier than chance, else just steadier
};

// By the kernel's own account: a slab cache, or a line of meminfo.
struct StateGrowth {
  std::string name;
  bool cache = false;
  double first = 0;  // bytes
  double last = 0;
  Trend trend;
  bool sure = false;                 // it certainly grows
  bool reclaimable = false;          // the kernel takes it back
  double explained_bytes_per_s = 0;  // by findings
  std::vector<double> values;        // bytes, at equal distances
  double step_seconds = 0;
  std::optional<LateRise> late;
  bool rose_unfollowed = false;  // by much, when allocations were no longer followed
  std::string kind;              // the one cache of a kmalloc size that rises; empty: several do, or it has one alone

  bool above = false;                    // it grows above the threshold, be it by chance
  bool slow = false;                     // it certainly grows, but not above the threshold
  bool is_recorders = false;             // the kernel keeps it for the recording of `investigate`
  std::vector<std::string> merged_with;  // caches whose objects are there too, since SLUB merges caches that are alike

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
  // From the first to the last; of few values there is no other rate.
  double mean_bytes_per_s() const {
    return values.size() < 2 ? 0 : (last - first) / (static_cast<double>(values.size() - 1) * step_seconds);
  }
  double bytes_per_s() const { return trend.growth == Growth::too_few_points ? mean_bytes_per_s() : trend.bytes_per_s; }
};

enum class Certainty : std::uint8_t {
  sure,
  likely,  // it grows, but one of the sources does not confirm it
  weak,    // it may be chance, or the start of something that ends
};
std::string_view name_of(Certainty certainty);

// The basis of a reason.
enum class Ground : std::uint8_t {
  recording,  // how the bytes of a finding went
  samples,    // likewise
  account,    // how the kernel's account of its caches went
  sites,      // its call sites
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
  holds_most,  // `percent` of the memory seen live in a cache that certainly grows
  too_little_seen,
};

// For or against a finding.
struct Reason {
  ReasonKind kind = ReasonKind::rises_evenly;
  Ground ground = Ground::samples;
  double percent = 0;
};

// Why the kernel's account does not show how a cache grows.
enum class NoAccount : std::uint8_t {
  not_kept,
  not_copied,
  no_such_cache,  // in slabinfo
  slabinfo_not_read,
  slabinfo_not_copied,
};

struct FindingSite {
  std::string call_site;
  std::vector<std::string> stack;
  std::string cache;
  double objects = 0;
  double bytes = 0;
  bool estimated = false;  // from samples, beside what was recorded
};

struct FindingProcess {
  std::string task;
  std::uint32_t process = 0;
  std::string cgroup;
  double objects = 0;
  double bytes = 0;
};

struct FindingCache {
  std::string name;
  std::string account;                       // the line of the kernel's account that covers it, if any
  double bytes_per_s = 0;                    // of this finding
  std::optional<double> kernel_bytes_per_s;  // of the whole cache, by slabinfo; of few states their difference
  std::optional<NoAccount> no_account;       // why that is not known
  std::string kind;                          // of a kmalloc size, the cache that rises by that account; may be empty
  std::vector<std::string> merged_with;      // as StateGrowth has it

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
};

struct GrowthFinding {
  Certainty certainty = Certainty::weak;
  std::string function;   // the innermost one that all of it passes through
  std::string entry;      // where it enters the kernel: "__x64_sys_pipe2"
  std::string call_site;  // the most informative one
  std::string task;
  bool exact = false;  // rates are of the recording, else of samples
  Trend trend;
  double bytes = 0;  // allocated in `seconds` and still live at its end
  double objects = 0;
  double seconds = 0;
  std::vector<FindingSite> sites;         // the largest first
  std::vector<FindingProcess> processes;  // likewise
  std::vector<FindingCache> caches;       // likewise
  std::vector<Reason> reasons;            // for and against
  std::vector<double> series;             // live bytes
  double step_seconds = 0;
  std::optional<double> since_seconds;  // the rate is that of the kernel's account since then, and has no interval
  double unrecorded_bytes_per_s = 0;    // of caches that were not recorded, an estimate on top of what was
};

struct Judgement {
  std::vector<GrowthFinding> findings;  // the surest first, then the fastest
  std::vector<StateGrowth> states;      // largest growth first
  double threshold_bytes_per_s = 0;     // slower growth does not count
  std::size_t judged = 0;               // groups of one task and entry
  std::size_t followed = 0;             // lines of the kernel's own account, of values enough to judge them
  double excluded_bytes = 0;            // of groups that are not judged
  bool saw_allocations = false;         // samples, or a recording, for long enough
  double seen_seconds = 0;              // length of the longer of samples and recording; 0: there was neither
  double seen_until_seconds = 0;        // since the start of watching
  bool saw_caches = false;              // slabinfo, often enough

  bool found() const;                                        // something certainly grows
  bool may_grow() const;                                     // a finding is likely or sure
  bool has_trends() const { return judged + followed > 0; }  // else only differences are known
};

enum class GrowthVerdict : std::uint8_t { grows, no_growth, cannot_tell };
std::string_view id_of(GrowthVerdict verdict);

// "sigqueue (merged with inotify_inode_mark, dnotify_mark)"; of many, some.
std::string with_merged(const std::string& name, const std::vector<std::string>& merged_with);

// Why the verdict is cannot_tell.
enum class Unclear : std::uint8_t {
  order,            // of the copies
  short_trace,      // too few states, and a trace that does not replace them: shorter than `least_seconds`,
  lossy_trace,      // with lost events,
  empty_trace,      // or without anything to judge
  no_times,         // of the copies
  few_states,       // and no trace
  short_watch,      // shorter than `least_seconds`
  unconfirmed,      // something may grow, and there are too few states to confirm it
  rarely_read,      // states, on a busy machine
  late_rise,        // `state` rises at the end
  rise_unfollowed,  // `state` rose when allocations were no longer followed
  rise_by_account,  // `state` never falls, and allocations were not seen
  cut_short,
  only_sums,  // neither allocations nor slab caches
};

// States are indices into Judgement::states.
struct Conclusion {
  using State = std::optional<std::size_t>;

  GrowthVerdict verdict = GrowthVerdict::cannot_tell;
  Unclear unclear = Unclear::few_states;
  double least_seconds = 0;
  std::size_t sure_findings = 0;
  State state;                    // the subject of the verdict, if no finding is sure: it may grow below the threshold
  bool followed_briefly = false;  // allocations, for a part of the time
  State stacks;                   // of the tasks of a finding
  State unexplained;              // grows faster than the sure findings
  std::vector<std::size_t> others;     // grow too, and findings explain little of it
  State late_other;                    // likewise, since a while
  std::vector<std::size_t> rose_most;  // if it is unknown whether that continues
};

struct UnseenSource {
  std::string what;  // the source that was not seen
  std::string why;
  std::string how;  // to see it; may be empty
};

// The steps that will be done, and their cost.
struct InvestigationPlan {
  double seconds = 0;
  bool samples = false;
  bool trace = false;
  bool trace_stacks = false;
  bool calls = false;               // of kernel functions could be recorded: `kmemtrace graph`
  std::vector<std::string> states;  // files of /proc that may be read
  double state_interval = 0;        // seconds
  double most_cpu_seconds = 0;      // samples and recording end before it takes more
  double least_cpu_seconds = 0;     // the minimum
  double cpu_share = 0;             // as asked for, of this many CPUs:
  unsigned cpus = 1;
  std::uint64_t kernel_bytes = 0;
  std::vector<UnseenSource> unseen;
};

struct InvestigationCost {
  double cpu_seconds = 0;         // of this program
  double kernel_cpu_seconds = 0;  // in the kernel: measured now and then, else estimated from numbers of events
  bool is_measured = false;
  double most_cpu_seconds = 0;  // the limit
  double cpu_share = 0;         // as asked for
  unsigned cpus = 1;
};

struct InvestigationFile {
  std::string name;  // in the folder
  std::string what;
};

// The given files, as arguments of suggested commands; empty: none.
struct CopiedFiles {
  std::string before;
  std::string after;
  std::string trace;
};

struct InvestigationResult {
  std::string kernel;
  std::string machine;
  std::string host;                 // empty: not known
  std::uint64_t start_unix_ns = 0;  // 0: not known
  double seconds = 0;
  bool watched = false;   // by `investigate`, now or before; else there were copies alone
  bool complete = true;   // false: Ctrl+C
  std::string cut_short;  // why
  Judgement judgement;
  Conclusion conclusion;
  std::optional<SnapshotDiff> diff;
  Narrowing narrowing;
  double trace_seconds = 0;  // 0: nothing was recorded
  std::uint64_t lost_events = 0;
  std::size_t timeless_states = 0;  // of copies: without times they do not tell how anything went
  bool unsure_order = false;        // of copies: they may tell it the wrong way round
  std::vector<UnseenSource> unseen;
  std::optional<InvestigationCost> cost;  // empty: of copies
  std::vector<InvestigationFile> files;   // those with the numbers
  std::string folder;                     // of them; empty: none is kept
  CopiedFiles copies;                     // with --from
  bool no_calls = false;                  // of kernel functions can be recorded here
  bool by_root = true;                    // root runs these commands; else they need sudo
  bool all_permitted = true;              // samples, recordings and the account of caches; else others may see more
  std::vector<std::string> next;          // commands to run
};

}  // namespace kmt
