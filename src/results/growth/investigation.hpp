// SPDX-License-Identifier: GPL-2.0-or-later
// The observations and conclusions of `investigate`: which kernel memory grows, how fast, how certain the growth is,
// and for which process. docs/formats/investigate-json.md has the definitions. A "state" is a kernel counter over time:
// the size of a slab cache or a line of /proc/meminfo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/series/memory_series.hpp"
#include "results/series/trend.hpp"
#include "results/snapshot/object_kinds.hpp"
#include "results/snapshot/owners.hpp"
#include "results/snapshot/snapshot.hpp"
#include "results/wait_sums.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

// Memory that one process allocated from one cache with one stack. Contains the live bytes at each time step.
struct GrowthGroup {
  // Frames such as "alloc_pipe_info+0x52"; the call site is first. If the stack is unknown, this contains only the call
  // site.
  std::vector<std::string> stack;
  // "filp", "kmalloc-1k", "pages of order 2", "vmalloc areas". All kmalloc caches of one size share one name. Before
  // Linux 6.1, allocation events do not name caches. The name is then "objects of 256 B".
  std::string cache;
  std::string task;           // name of the process, such as "bash"; for interrupts, "[softirq]" for example
  std::string thread;         // name of the thread; empty: unknown, or the name of the process
  std::uint32_t process = 0;  // process ID; 0: no process, or unknown
  std::string cgroup;         // empty: unknown
  // True: the group is not tested for growth, because it is not kernel memory or its frees are not traced.
  bool excluded = false;
  // Number of live objects seen: sampled objects, or all objects if allocations were recorded.
  std::uint64_t seen = 0;
  // Number of objects that were allocated in the observed time and are live at its end. Estimated if allocations were
  // sampled.
  double objects = 0;
  double bytes = 0;
  std::vector<double> live;  // live bytes at the end of each time step
};

struct GrowthSeen {
  double step_seconds = 0;
  std::size_t steps = 0;
  // Mean distance between samples in bytes; 0: all allocations were recorded, without sampling.
  std::uint64_t mean_bytes = 0;
  bool pages = false;  // true: pages allocated directly from the page allocator were observed too
  std::vector<GrowthGroup> groups;

  double seconds() const { return step_seconds * static_cast<double>(steps); }
};

// Name of the last line of a balance sheet: memory that no kernel counter covers. MemorySeries treats this line like a
// line of meminfo.
inline constexpr std::string_view kUnaccounted = "unaccounted";

// Returns the kernel's name of the kmalloc cache of this size: "kmalloc-1k".
std::string kmalloc_name(std::uint64_t bytes);
// Returns a name for a cache whose own name is unknown. The name contains the object size.
std::string objects_name(std::uint64_t bytes);
// Prefix of the names of pages allocated directly from the page allocator. The order follows the prefix. These pages
// have no cache name.
inline constexpr std::string_view kPagesOfOrder = "pages of order ";
std::string pages_name(std::uint64_t order);

// The name used for page tables of processes in place of a cache name.
inline constexpr std::string_view kPageTables = "page tables";

// The event filter of an exact recording. The kernel then records only memory that may grow.
struct Narrowing {
  std::vector<std::string> caches;   // names of the recorded caches, for events of kmem_cache_alloc
  std::vector<std::uint64_t> sizes;  // allocated sizes, for events of kmalloc
  // Object sizes. Used for events of kmem_cache_alloc on kernels whose events have no cache names.
  std::vector<std::uint64_t> object_sizes;
  std::vector<std::uint64_t> orders;  // orders of the recorded unmovable pages; movable pages are mostly user memory
  bool pages = false;                 // true: record unmovable pages of all orders

  bool empty() const { return caches.empty() && sizes.empty() && object_sizes.empty() && orders.empty() && !pages; }
  bool has(std::string_view cache) const;  // `cache` is a name as in GrowthGroup::cache
};

// The version 1 cgroup to which the memory of each process is charged. Samples and recordings only contain version 2
// cgroups, which are all the root cgroup if memory is charged to version 1 cgroups.
using MemoryCgroups = std::map<std::uint32_t, std::string>;

struct InvestigationEvidence {
  double seconds = 0;                 // length of the observation in seconds
  std::vector<MemorySeries> states;   // kernel counters over time; times are in ns
  std::optional<GrowthSeen> samples;  // samples of the whole observation
  std::optional<GrowthSeen> trace;    // recording of the last part of the observation
  Narrowing narrowing;                // event filter of the recording
  double trace_begin_seconds = 0;     // start of the recording, in seconds since the start of the samples
  // Start and end of the set-up of the recording, in seconds since the counters were first read. In this time the
  // kernel allocates memory for the recording.
  double setup_begin_seconds = 0;
  double setup_end_seconds = 0;  // 0: unknown
  // The processes that run at the end of the observation. A value is true if the process started during the
  // observation. The map is empty if the processes are unknown.
  std::optional<std::map<std::uint32_t, bool>> running;
  double threshold_bytes_per_s = 0;
  bool copied = false;  // true: the kernel counters were read from copied files
  // Cgroups of the recorded processes; empty: memory is charged to version 2 cgroups, or unknown.
  std::optional<MemoryCgroups> memory_cgroups;
};

// A rise in the last part of the time, of a state whose growth over the whole time is not certain.
struct LateRise {
  double since_seconds = 0;  // approximate start of the rise, in seconds since the first value
  double bytes_per_s = 0;
  // True: the rise is much steadier than chance would explain. False: it is only somewhat steadier than chance.
  bool sure = false;
};

// The growth of a state, which is a kernel counter over time: the size of a slab cache or a line of meminfo.
struct StateGrowth {
  std::string name;
  bool cache = false;
  double first = 0;  // first value, in bytes
  double last = 0;
  Trend trend;
  bool sure = false;                 // the growth is confirmed
  bool reclaimable = false;          // the memory is reclaimable
  double explained_bytes_per_s = 0;  // growth that findings explain, in bytes per second
  std::vector<double> values;        // bytes, at equal time steps
  double step_seconds = 0;
  std::optional<LateRise> late;
  bool rose_unfollowed = false;  // true: the state rose strongly after samples and recording had ended
  // For the sum of all kmalloc caches of one size: name of the only cache of this size that grows. Empty if several
  // caches of this size grow, or if there is only one cache of this size.
  std::string kind;

  bool above = false;               // true: grows faster than the threshold, perhaps by chance
  bool slow = false;                // true: certainly grows, but slower than the threshold
  bool is_recorders = false;        // true: the kernel allocated this memory for the recording of `investigate`
  bool may_be_in_sheaves = false;   // true: the whole rise may be free objects that CPUs keep in sheaves
  bool is_slab_accounting = false;  // true: at least half of the rise may be accounting data of other caches' slabs
  std::vector<std::string> merged_with;  // names of other caches that SLUB has merged with this cache
  std::size_t steps = 0;                 // number of steps, if the state exceeds the threshold but rises only in steps
  // For confirmed growth without a finding: the call site with most of the growth, if it was not tested because the
  // kernel may free its objects on paths without a tracepoint. Empty if there is no such call site.
  std::string untested_site = {};

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
  // Returns the mean growth rate from the first to the last value. With few values, no trend can be computed, and this
  // is the only known rate.
  double mean_bytes_per_s() const {
    return values.size() < 2 ? 0 : (last - first) / (static_cast<double>(values.size() - 1) * step_seconds);
  }
  double bytes_per_s() const { return trend.growth == Growth::too_few_points ? mean_bytes_per_s() : trend.bytes_per_s; }
};

enum class Certainty : std::uint8_t {
  sure,
  likely,  // grows, but one of the sources of data does not confirm the growth
  weak,    // the growth may be chance, or may end soon
};
std::string_view name_of(Certainty certainty);

// The source of data from which a reason is derived.
enum class Ground : std::uint8_t {
  recording,  // live bytes of the finding over time, from the recording
  samples,    // live bytes of the finding over time, from samples
  account,    // kernel counters of the finding's caches over time
  sites,      // the call sites of the finding
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
  held_by_new_processes,  // processes that started during the observation and still run hold most of the memory
  unknown_cache,
  too_slow_or_short,
  not_all_recorded,
  // The growth of a cache is confirmed, and the finding is `percent` of the live memory seen in this cache.
  holds_most,
  too_little_seen,
};

// A reason for or against a finding.
struct Reason {
  ReasonKind kind = ReasonKind::rises_evenly;
  Ground ground = Ground::samples;
  double percent = 0;
};

// The reason why no kernel counter confirms that a cache grows.
enum class NoAccount : std::uint8_t {
  not_kept,
  not_copied,
  no_such_cache,  // slabinfo does not contain the cache
  slabinfo_not_read,
  slabinfo_not_copied,
};

struct FindingSite {
  std::string call_site;
  std::vector<std::string> stack;
  std::string cache;
  double objects = 0;
  double bytes = 0;
  bool estimated = false;  // the growth is estimated from samples, because the cache was not recorded
};

struct FindingProcess {
  std::string task;
  std::uint32_t process = 0;
  std::string cgroup;
  std::string pod_name = {};  // Kubernetes pod and container; empty: none, or unknown
  double objects = 0;
  double bytes = 0;
  std::vector<std::string> threads = {};  // names of threads that differ from the name of the process, sorted
  bool ended = false;                     // true: the process has ended; false: it runs, or this is unknown
};

struct FindingCache {
  std::string name;
  // StateGrowth::name of the kernel counter that includes the cache; may be empty.
  std::string account;
  double bytes_per_s = 0;  // growth of the finding's objects in this cache, in bytes per second
  // Growth of the whole cache in slabinfo, in bytes per second. If slabinfo was rarely read, it is computed from the
  // first and last value only.
  std::optional<double> kernel_bytes_per_s;
  std::optional<NoAccount> no_account;  // reason why kernel_bytes_per_s is unknown
  // For a kmalloc size, the only cache of this size that rises in slabinfo; may be empty.
  std::string kind;
  std::vector<std::string> merged_with;  // like StateGrowth::merged_with

  const std::string& shown_name() const { return kind.empty() ? name : kind; }
};

struct GrowthFinding {
  Certainty certainty = Certainty::weak;
  std::string function;   // innermost function that at least nine tenths of the finding's bytes have in their stacks
  std::string entry;      // kernel entry: "__x64_sys_pipe2"
  std::string call_site;  // the call site that represents the finding
  std::string task;
  bool exact = false;  // true: the rates are from the recording; false: the rates are from samples
  Trend trend;
  double bytes = 0;  // bytes allocated within `seconds` and still live at the end
  double objects = 0;
  double seconds = 0;
  std::vector<FindingSite> sites;  // largest first
  // The processes with the most memory, largest first; not always all processes.
  std::vector<FindingProcess> processes;
  std::size_t process_count = 0;     // number of all processes that allocated this memory
  std::size_t ended_processes = 0;   // number of these processes that have ended; 0 if unknown
  std::vector<FindingCache> caches;  // largest first
  std::vector<Reason> reasons;       // reasons for and against the finding
  std::vector<double> series;        // live bytes at equal time steps
  double step_seconds = 0;
  // Set if the rate is from kernel counters, which rise since this time. The rate then has no confidence interval.
  std::optional<double> since_seconds;
  // Estimated growth in caches that were not recorded, in bytes per second. The recorded growth does not include it.
  double unrecorded_bytes_per_s = 0;

  bool has(ReasonKind kind) const;
  bool all_processes_ended() const { return process_count > 0 && ended_processes == process_count; }
  // True if no single process explains the finding: all have ended, or none has half of the memory.
  bool is_of_many_processes() const;
};

// The first and the last value of Shmem in bytes: shared memory and files of tmpfs.
struct SharedMemoryRise {
  double first = 0;
  double last = 0;
};

struct Judgement {
  // Most certain findings first; equally certain findings are sorted by rate, fastest first.
  std::vector<GrowthFinding> findings;
  std::vector<StateGrowth> states;   // largest growth first
  double threshold_bytes_per_s = 0;  // threshold in bytes per second; slower growth is not reported
  // number of clusters tested for growth; a cluster has one task name and one kernel entry
  std::size_t judged = 0;
  std::size_t followed = 0;       // number of kernel counters with enough values to compute a trend
  double excluded_bytes = 0;      // live bytes of groups that were not tested for growth
  bool saw_allocations = false;   // true: samples or a recording have enough time steps for a trend
  double seen_seconds = 0;        // length of the samples or of the recording, whichever is longer; 0: neither exists
  double seen_until_seconds = 0;  // end of samples and recording, since the start of the observation
  double covered_seconds = 0;     // time covered by samples or the recording, without the gap between them
  bool sampled = false;           // true: allocations were sampled
  // Growth in bytes per second that `investigate` nearly always finds within the observed time. It may miss slower
  // growth.
  double visible_bytes_per_s = 0;
  bool saw_caches = false;  // true: slabinfo was read often enough for trends
  // Set if Shmem rose much. User memory is not tested for growth, so this does not change the verdict.
  std::optional<SharedMemoryRise> shared_memory = {};

  bool found() const;     // true if any growth is confirmed
  bool may_grow() const;  // true if any finding is likely or sure
  // True if values over time are known. False if only the difference between two readings is known.
  bool has_trends() const { return judged + followed > 0; }
};

enum class GrowthVerdict : std::uint8_t { grows, no_growth, cannot_tell };
std::string_view id_of(GrowthVerdict verdict);

// Returns "sigqueue (merged with inotify_inode_mark, dnotify_mark)". Long lists are shortened.
std::string with_merged(const std::string& name, const std::vector<std::string>& merged_with);

// The reason why the verdict is cannot_tell.
enum class Unclear : std::uint8_t {
  order,             // it is uncertain which of the copied files is older
  short_trace,       // the counters were read too rarely, and the trace is shorter than `least_seconds`
  lossy_trace,       // the counters were read too rarely, and the trace lost events
  unreadable_trace,  // no event of the recording could be read
  empty_trace,       // the counters were read too rarely, and nothing in the trace can be tested for growth
  no_times,          // the times of the copied files are unknown
  few_states,        // the counters were read too rarely, and there is no trace
  short_watch,       // the observation was shorter than `least_seconds`
  unconfirmed,       // something may grow, but the counters were read too rarely to confirm it
  rarely_read,       // the counters were read too rarely, for example on a busy machine
  late_rise,         // the state Conclusion::state rises in the last part of the time
  rise_unfollowed,   // the state Conclusion::state rose after samples and recording had ended
  rise_by_account,   // the state Conclusion::state never falls, and allocations were not observed
  cut_short,
  only_sums,     // neither allocations nor slab caches could be read
  half_covered,  // less than half of the time was observed
  mostly_lost,   // the trace lost more events than it contains
};

// The part of the time that samples, the recording or the counters cover.
struct Coverage {
  double asked_seconds = 0;  // the whole time in seconds: the requested time, or the time between the copied files
  // Seconds in which allocations were observed or, without samples, the counters were read.
  double covered_seconds = 0;
  bool by_allocations = false;  // true: allocations were observed; false: only the kernel's counters were read

  double share() const { return asked_seconds > 0 ? covered_seconds / asked_seconds : 1; }
};

// Members of type State are indices into Judgement::states.
struct Conclusion {
  using State = std::optional<std::size_t>;

  GrowthVerdict verdict = GrowthVerdict::cannot_tell;
  Unclear unclear = Unclear::few_states;
  Coverage coverage;
  double least_seconds = 0;
  std::size_t sure_findings = 0;
  // If the verdict is no_growth: number of findings that may be growth, and the index of the first such finding.
  std::size_t unsure_findings = 0;
  std::optional<std::size_t> unsure;
  // If the verdict is no_growth: index of the first finding whose memory is freed as fast as it is allocated.
  std::optional<std::size_t> steady;
  // The state that decides the verdict if no finding is sure. Its growth may be below the threshold.
  State state;
  State stepped;                    // if the verdict is no_growth: a state that rose only in steps
  bool followed_briefly = false;    // true: allocations were observed only for a part of the time
  State stacks;                     // the state KernelStack, if it grows and a finding shows growth of task_struct
  State unexplained;                // a state whose unexplained growth exceeds the growth of all sure findings
  std::vector<std::size_t> others;  // states with confirmed growth that findings explain by less than half
  State late_other;                 // a state whose growth in the last part of the time is not explained by findings
  // States with the largest rise. Only set if it is unknown whether these states continue to rise.
  std::vector<std::size_t> rose_most;
};

struct UnseenSource {
  std::string what;  // the source that could not be read
  std::string why;
  std::string how;  // advice on how to make the source readable; may be empty
};

// The planned steps of an investigation and their cost.
struct InvestigationPlan {
  double seconds = 0;
  bool samples = false;
  bool trace = false;
  bool trace_stacks = false;
  bool calls = false;               // true: `kmemtrace graph` can record calls of kernel functions
  std::vector<std::string> states;  // files of /proc that can be read
  double state_interval = 0;        // time between two readings, in seconds
  double most_cpu_seconds = 0;      // CPU budget in seconds; sampling and recording end before they exceed the budget
  double least_cpu_seconds = 0;     // minimum CPU time that the plan needs, in seconds
  double cpu_share = 0;             // requested limit of the CPU budget, as a share of the CPU time of all `cpus`
  unsigned cpus = 1;
  std::uint64_t kernel_bytes = 0;
  std::vector<UnseenSource> unseen;
  double reserved_cpu_seconds = 0;  // CPU seconds for sampling objects and counting page frames at the end
};

enum class CacheGrowth : std::uint8_t {
  unknown,
  none,         // the cache stands still
  explained,    // findings explain at least half of the growth
  unexplained,  // the growth is confirmed, but no call site explains it
};
std::string_view id_of(CacheGrowth growth);

// A slab cache whose objects were sampled, or should be.
struct LargeCache {
  std::string name;
  std::uint64_t bytes = 0;  // bytes of its slabs
  double share = 0;         // share of the machine's memory
  CacheGrowth growth = CacheGrowth::unknown;
  std::optional<CacheKinds> kinds;  // empty: its objects were not sampled
  ReadingEnd end = ReadingEnd::complete;
  std::string untested_site = {};  // like StateGrowth::untested_site
};

// Bytes of other kernel pages at the start and at the end that have one property, such as the order of their blocks.
struct PagesChange {
  std::string name;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};
// Changes between two censuses of page frames, for kernel memory that is neither slab nor page tables. Rows are sorted
// by growth, the largest first. Rows without a change are left out.
struct CensusChange {
  std::uint64_t before = 0;  // bytes
  std::uint64_t after = 0;
  std::vector<PagesChange> orders;   // the name is the order of a block: "3"
  std::vector<PagesChange> flags;    // the name has the flags of a page: "mmap, private"
  std::vector<PagesChange> cgroups;  // the name is a path; empty: no cgroup, or a removed one
};

// How long tasks waited for memory.
struct InvestigatedWaits {
  // Share of the time between the first and the last state in which at least one task waited, from
  // /proc/pressure/memory; empty: unknown.
  std::optional<double> some_share;
  bool are_long = false;             // true: tasks waited for so long that the machine is slow
  std::optional<WaitSums> recorded;  // waits during the recording; empty: the recording cannot contain them
  std::vector<WaitGroup> processes;  // the same waits by process, largest time first
};

struct InvestigationCost {
  double cpu_seconds = 0;  // CPU time of the kmemtrace process, in seconds
  // CPU time in seconds that the kernel spends on tracing. The time is measured at intervals, or estimated from the
  // number of events.
  double kernel_cpu_seconds = 0;
  bool is_measured = false;
  double most_cpu_seconds = 0;  // CPU budget
  double cpu_share = 0;         // requested limit of the CPU time, as a share of the CPU time of all `cpus`
  unsigned cpus = 1;
};

struct InvestigationFile {
  std::string name;  // name of the file in InvestigationResult::folder
  std::string what;
};

// File names that the user gave as options. The suggested commands repeat these options. Empty: option not given.
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
  double requested_seconds = 0;  // requested length of the observation; 0: unknown, or the result is from copied files
  bool watched = false;          // true: `investigate` has observed the machine; false: the result is from copied files
  bool complete = true;          // false: the user stopped the investigation with Ctrl+C
  std::string cut_short;         // reason why `complete` is false
  Judgement judgement;
  Conclusion conclusion;
  std::optional<SnapshotDiff> diff;
  InvestigatedWaits waits;
  std::vector<HealthCheck> health;  // checks of the last snapshot; empty: there is no snapshot
  // Slab caches with much unreclaimable memory, and growing caches without a known call site. Largest first.
  std::vector<LargeCache> large_caches;
  std::optional<CensusChange> census;       // empty: page frames were not counted at both ends
  std::vector<OwnerGrowth> owners;          // owners whose memory grew or shrank; largest growth first
  std::vector<DyingCgroups> dying_cgroups;  // at the end, if their number is not ok; largest number first
  PodNames pods;                            // for the cgroups above
  Narrowing narrowing;
  double trace_seconds = 0;  // length of the recording in seconds; 0: nothing was recorded
  std::uint64_t lost_events = 0;
  bool unreadable_trace = false;    // true: there is a recording, but none of its events could be read
  std::uint64_t trace_events = 0;   // number of events that the trace contains
  std::size_t timeless_states = 0;  // number of copied readings without a time; they cannot show growth
  bool unsure_order = false;        // true: the copied files may be in the wrong order
  std::vector<UnseenSource> unseen;
  std::optional<InvestigationCost> cost;  // empty if the result is from copied files
  std::vector<InvestigationFile> files;   // files with the data of the investigation
  std::string folder;                     // folder that contains `files`; empty: no files are kept
  CopiedFiles copies;                     // files given with --from
  bool no_calls = false;                  // true: calls of kernel functions cannot be recorded on this machine
  bool no_objects = false;                // true: objects of slab caches cannot be sampled on this machine
  bool by_root = true;                    // true: root runs the suggested commands; false: they need sudo
  // True: the user may sample, record and read slabinfo. False: another user, such as root, may see more.
  bool all_permitted = true;
  std::vector<std::string> next;  // suggested commands
};

}  // namespace kmt
