// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/request.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/features/clocks.hpp"
#include "capture/features/events.hpp"
#include "capture/ftrace/persistent.hpp"
#include "capture/ftrace/process_filter.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "trace/clock_scale.hpp"
#include "trace/code/untraced_paths.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFewestFlightBytes = 64 << 10;

// Adds rare events about tasks and modules. They show the names of short-lived tasks and modules, and the times when
// names changed.
void add_events_of_names(const std::vector<EventName>& available, std::vector<EventName>& events) {
  for (const EventName& event :
       {EventName{"task", "task_newtask"}, EventName{"task", "task_rename"}, EventName{"cgroup", "cgroup_attach_task"},
        EventName{"module", "module_load"}, EventName{"module", "module_free"}})
    if (std::find(available.begin(), available.end(), event) != available.end()) events.push_back(event);
}

// Adds events to a list that may already have some of them.
void add_missing(const std::vector<EventName>& wanted, std::vector<EventName>& events) {
  for (const EventName& event : wanted)
    if (std::find(events.begin(), events.end(), event) == events.end()) events.push_back(event);
}

// Adds the events of stalls. Names those that this kernel does not have.
void add_stall_events(const std::string& tracefs, const std::vector<EventName>& available,
                      std::vector<EventName>& events) {
  const DefaultEvents stalls = stall_events(tracefs, available);
  if (stalls.present.empty())
    throw Error("This kernel has no events of reclaim and compaction", ExitCode::unsupported)
        .hint("Record without --stalls");
  add_missing(stalls.present, events);
  for (const MissingEvent& missing : stalls.missing)
    say("note: --stalls records no {}: {}\n", missing.pattern, missing.reason);
}

// Parses filters such as "kmem:kmalloc:bytes_req > 4096". A filter applies to all recorded events that match the part
// before the expression.
std::vector<KernelFilter> parse_filters(const std::vector<std::string>& texts, const std::vector<EventName>& available,
                                        const std::vector<EventName>& events) {
  std::vector<KernelFilter> filters;
  for (const std::string& text : texts) {
    const std::size_t system_end = text.find(':');
    const std::size_t end = system_end == std::string::npos ? system_end : text.find(':', system_end + 1);
    if (end == std::string::npos || trim(text.substr(end + 1)).empty())
      throw Error(fmt::format("Not a filter: \"{}\"", printable(text)))
          .hint("Write SYSTEM:EVENT:EXPRESSION, such as --filter 'kmem:kmalloc:bytes_req > 4096'");
    const std::string pattern = text.substr(0, end);
    const std::size_t before = filters.size();
    for (const EventName& event : select_events(available, {pattern}))
      if (std::find(events.begin(), events.end(), event) != events.end())
        filters.push_back({event, std::string(trim(text.substr(end + 1)))});
    if (filters.size() > before) continue;
    throw Error(fmt::format("--filter has the event \"{}\", which is not recorded", printable(pattern)))
        .hint(fmt::format("Record the event: -e {}", printable(pattern)));
  }
  return filters;
}

// An amount in bytes or in time, such as "64M" or "30s". Exactly one of the two members is set.
struct Amount {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> time_ns;
};

Amount parse_amount(const char* option, const std::string& text) {
  Amount amount;
  // The unit m is a time and the unit M is a size: "5m" means five minutes, and "5M" means five megabytes.
  const bool is_time = !text.empty() && (text.back() == 's' || text.back() == 'm' || text.back() == 'h');
  if (is_time)
    amount.time_ns = parse_duration(text);
  else
    amount.bytes = parse_size(text);
  if (amount.bytes.value_or(1) == 0 || amount.time_ns.value_or(1) == 0)
    throw Error(fmt::format("{} of 0 records nothing", option));
  return amount;
}

// Returns whether to probe the free paths that have no tracepoint. Returns not_applicable unless the events kfree and
// kmem_cache_free are recorded.
PathProbing path_probing_of(const RecordOptions& options, const std::vector<EventName>& events) {
  for (const char* const name : {"kfree", "kmem_cache_free"})
    if (std::find(events.begin(), events.end(), EventName{"kmem", name}) == events.end())
      return PathProbing::not_applicable;
  return options.no_probes ? PathProbing::off : PathProbing::on;
}

// Returns the types that probes need. Empty if the kernel has no BTF.
std::optional<ProbedTypes> probed_types() {
  try {
    const KernelTypes types;
    const auto offset = [&types](const char* member) { return types.offset_of_member("kmem_cache", member); };
    const auto name = offset("name");
    const auto object_size = offset("object_size");
    const auto size = offset("size");
    const auto page_bytes = types.bytes_of_structure("page");
    if (!name || !object_size || !size || !page_bytes) return {};
    const unsigned parameters = types.parameters_of_function(std::string(kBulkPagesFunction)).value_or(0);
    return ProbedTypes{*name, *object_size, *size, *page_bytes, parameters};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::string instance_name(const std::string& value) { return value == kAnyInstance ? "" : value; }

bool writes_trace_dat(const RecordOptions& options) { return options.output.ends_with(".dat"); }
bool uses_bpf(const RecordOptions& options) { return options.backend == "bpf"; }

bool wants_kernel_stacks(const RecordOptions& options) {
  return options.stacks == "kernel" || options.stacks == "both";
}

bool wants_user_stacks(const RecordOptions& options) { return options.stacks == "user" || options.stacks == "both"; }

// Throws Error if the output cannot be written. Called before the recording, because otherwise the recording would be
// lost.
void check_output(const std::string& path) {
  std::error_code code;
  if (path == "-") throw Error("A trace cannot be written to stdout: name a file with -o");
  const fs::file_status status = fs::status(path, code);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error("The output is not a regular file").hint("Name a file with -o").at({path, {}, {}});
  if (fs::exists(status)) {
    const FileDescriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (there && ::flock(there.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error("Another kmemtrace is writing this file").hint("Name another file with -o").at({path, {}, {}});
  }
  const fs::path directory = fs::absolute(path).parent_path();
  if (!fs::is_directory(directory, code))
    throw Error("The directory of the output does not exist")
        .hint("Create the directory, or choose another one with -o")
        .at({directory, {}, {}});
  if (!may_access(directory, W_OK))
    throw Error("Cannot write to the directory of the output")
        .hint("Choose another directory with -o")
        .at({directory, {}, {}});
}

void check_backend(const RecordOptions& options) {
  if (!uses_bpf(options)) return;
  const auto refuse = [](const char* what, const char* hint) {
    throw Error(fmt::format("--backend bpf and {} cannot be combined", what)).hint(hint);
  };
  if (writes_trace_dat(options))
    refuse("a trace.dat", "Use -o FILE.kmt; `kmemtrace convert` converts the file to trace.dat");
  if (options.boot) refuse("--boot", "A boot is traced with kernel parameters");
  if (!options.filters.empty()) refuse("--filter", "Record with --backend tracefs, which filters events in the kernel");
  if (!options.clock.empty() && options.clock != "mono")
    refuse("this --clock", "BPF programs always use the clock mono");
}

void refuse_with(const char* name, std::initializer_list<GivenOption> others, const char* hint) {
  for (const GivenOption& other : others)
    if (other.is_given) throw Error(fmt::format("{} and {} cannot be combined", name, other.name)).hint(hint);
}

void check_persistent(const RecordOptions& options) {
  if (!options.previous.empty() && !options.boot) throw Error("--previous needs --boot");
  if (options.flight_given && options.flight.empty() && options.persistent.empty())
    throw Error("--flight needs a size or a time, such as 256M or 30s").hint("It is optional only with --persistent");
  if (options.persistent.empty()) return;
  if (!options.flight_given) throw Error("--persistent needs --flight");
  refuse_with("--persistent",
              {{"--backend bpf", uses_bpf(options)},
               {"-F", options.only_command},
               {"-p", !options.pids.empty()},
               {"--cgroup", !options.cgroup.empty()},
               {"-b", !options.buffer.empty()},
               {"--trigger failure", options.trigger == "failure"},
               {"--stacks=user", wants_user_stacks(options)},
               {"an -o FILE.dat", writes_trace_dat(options)}},
              "The kernel made the buffer at boot, and its events are read only at the end");
  if (!options.clock.empty() && !ticks_are_ns(options.clock))
    throw Error(fmt::format("--persistent needs a clock in nanoseconds, unlike {}", printable(options.clock)));
}

// Returns the instance to record into. Throws Error if it is in use, or if it has events that were not collected.
static std::string free_persistent_instance(const RecordOptions& options, const std::string& tracefs) {
  const std::string arguments = read_file("/proc/cmdline");
  const PersistentInstance instance =
      choose_persistent(persistent_instances(tracefs, arguments), instance_name(options.persistent));
  if (const std::string use = current_use(instance.path); !use.empty())
    throw Error(fmt::format("The instance {} has another user: {} is enabled", printable(instance.name), use),
                ExitCode::unsupported)
        .hint(fmt::format("End the other recording, or remove the parameters that enable the event at boot. If the "
                          "recorder was killed: echo 0 > {}/events/enable",
                          instance.path));
  // a backup instance has the events of the previous boot, or had them until they were read, but no events of this boot
  const bool is_copied = has_backup(arguments, instance.name) && !last_boot_of(instance.path).is_current;
  if (!is_copied && count_unread(instance.path) > 0)
    throw Error(fmt::format("The instance {} has events that were not collected", printable(instance.name)))
        .hint(fmt::format("Collect them: kmemtrace record --boot --previous={0} -o FILE.kmt; or discard them: "
                          "echo > {1}/trace",
                          printable(instance.name), instance.path));
  return instance.path;
}

// Returns the clock for a persistent instance. Only clocks in nanoseconds are possible, because the scale of other
// clocks would be unknown after a reboot. Throws Error if the events of the boot CPU would not survive a reboot with
// the user's clock.
static std::string persistent_clock(const RecordOptions& options, const std::string& instance) {
  if (!restores_clock(last_boot_of(instance))) return options.clock.empty() ? "mono" : options.clock;
  if (!options.clock.empty() && options.clock != kClockAtBoot)
    throw Error(fmt::format("--persistent needs the clock {} on this kernel, not {}", kClockAtBoot, options.clock),
                ExitCode::unsupported)
        .hint("With another clock, this kernel empties the buffer of the boot CPU at the next boot. Omit --clock");
  return kClockAtBoot;
}

static void check_trigger(const RecordOptions& options) {
  if (options.trigger == "oom" && writes_trace_dat(options))
    throw Error("--trigger oom needs a .kmt").hint("Use -o FILE.kmt");
}

std::uint64_t most_memory(const RecordOptions& options, const std::string& tracefs) {
  if (options.max_memory.empty()) return buffer_limits(tracefs).default_bytes;
  const std::uint64_t bytes = parse_size(options.max_memory);
  if (bytes < 1 << 20) throw Error("--max-memory must be at least 1M");
  return bytes;
}

RecordRequest request_of(const RecordOptions& options, const std::string& tracefs) {
  check_trigger(options);
  RecordRequest request;
  const std::vector<EventName> available = available_events(tracefs);
  const std::vector<std::string> patterns = split_commas(options.events);
  if (patterns.empty() && !options.events.empty())
    throw Error("-e needs the name of an event").hint("`kmemtrace list events` lists the events");
  request.events =
      options.events.empty() ? default_events(tracefs, available).present : select_events(available, patterns);
  if (request.events.empty())
    throw Error("This kernel has no kmem events", ExitCode::unsupported)
        .hint("`kmemtrace list events` shows the reason");
  if (options.events.empty()) add_events_of_names(available, request.events);
  request.filters = parse_filters(options.filters, available, request.events);
  request.pids = parse_processes(options.pids);
  if (!options.cgroup.empty()) request.cgroup = find_cgroup(options.cgroup);
  request.command = options.command;
  request.only_command = options.only_command;
  request.stacks = wants_kernel_stacks(options);
  request.user_stacks = wants_user_stacks(options);
  if (options.syscalls)
    for (const EventName& event : {EventName{"raw_syscalls", "sys_enter"}, EventName{"raw_syscalls", "sys_exit"}}) {
      if (std::find(available.begin(), available.end(), event) == available.end())
        throw Error("This kernel has no events of system calls (CONFIG_HAVE_SYSCALL_TRACEPOINTS)",
                    ExitCode::unsupported);
      if (std::find(request.events.begin(), request.events.end(), event) == request.events.end())
        request.events.push_back(event);
    }
  // Adds the event for the end of a task. A task may end within a system call, and then the system call has no end
  // event.
  if (const EventName end{"sched", "sched_process_exit"};
      options.syscalls && std::find(available.begin(), available.end(), end) != available.end() &&
      std::find(request.events.begin(), request.events.end(), end) == request.events.end())
    request.events.push_back(end);
  if (options.stalls) add_stall_events(tracefs, available, request.events);
  if (const EventName victim{"oom", "mark_victim"};
      options.trigger == "oom" && std::find(available.begin(), available.end(), victim) != available.end())
    add_missing({victim}, request.events);
  request.path_probes = path_probing_of(options, request.events);
  request.probed_types = probed_types;
  if (options.only_command && options.command.empty())
    throw Error("-F needs a command: kmemtrace record -F -- COMMAND");
  if (options.only_command && !request.pids.empty())
    throw Error("-F and -p cannot be combined").hint("Use -F for the command, or -p for running processes");
  if (!options.duration.empty()) request.duration_ns = parse_duration(options.duration);
  if (request.duration_ns == 0) throw Error("A duration of 0 records nothing");
  if (!options.sample_interval.empty()) {
    request.sample_interval_ns = parse_duration(options.sample_interval);
    if (*request.sample_interval_ns < 10'000'000) throw Error("--sample-interval must be at least 10ms");
  }
  request.preferred_buffer_bytes = buffer_limits(tracefs).default_bytes_per_cpu;
  request.most_buffer_bytes = most_memory(options, tracefs);
  if (!options.buffer.empty()) request.buffer_bytes = parse_size(options.buffer);
  if (request.buffer_bytes && !options.max_memory.empty() && options.flight.empty())
    throw Error("-b and --max-memory cannot be combined, because both set the size of the ring buffers");
  if (request.buffer_bytes.value_or(8192) < 8192) throw Error("A buffer needs at least 8k per CPU");

  const TraceClocks clocks = read_clocks(tracefs);
  request.clock = uses_bpf(options) ? "mono" : options.clock.empty() ? clocks.recommended : options.clock;
  if (!options.persistent.empty()) {
    request.persistent_instance = free_persistent_instance(options, tracefs);
    request.clock = persistent_clock(options, request.persistent_instance);
  }
  if (std::find(clocks.offered.begin(), clocks.offered.end(), request.clock) == clocks.offered.end())
    throw Error(fmt::format("This kernel has no clock \"{}\"", request.clock))
        .hint(fmt::format("Available clocks: {}", fmt::join(clocks.offered, ", ")));
  request.scratch_directory = fs::absolute(options.output).parent_path();
  return request;
}

std::optional<kmt_format::Rotation> rotation_of(const RecordOptions& options) {
  if (options.rotate.empty()) {
    if (options.keep > 0) throw Error("--keep needs --rotate");
    return std::nullopt;
  }
  if (options.flight_given)
    throw Error("--rotate and --flight cannot be combined")
        .hint("--rotate keeps all events in several files, --flight only the latest events");
  const Amount amount = parse_amount("--rotate", options.rotate);
  kmt_format::Rotation rotation;
  rotation.bytes = amount.bytes;
  if (amount.time_ns) rotation.seconds = static_cast<double>(*amount.time_ns) / 1e9;
  rotation.keep = options.keep;
  return rotation;
}

std::optional<kmt_format::Flight> flight_of(const RecordOptions& options, std::uint64_t most_bytes) {
  if (!options.flight_given) return std::nullopt;
  if (options.flight.empty()) return kmt_format::Flight{most_bytes, std::nullopt};
  const Amount amount = parse_amount("--flight", options.flight);
  if (amount.bytes.value_or(kFewestFlightBytes) < kFewestFlightBytes)
    throw Error("--flight needs at least 64k. A time has a suffix: 5s");
  return kmt_format::Flight{amount.bytes.value_or(most_bytes), amount.time_ns};
}

}  // namespace kmt
