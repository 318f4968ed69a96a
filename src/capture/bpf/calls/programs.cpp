// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/calls/programs.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/types.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/bpf/calls/layout.hpp"
#include "capture/bpf/calls/trampoline_targets.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/calls.skel.h"
#include "capture/bpf/programs/calls_without_btf.skel.h"
#include "capture/features/preemption.hpp"
#include "trace/code/interrupt_functions.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostTrampolines = 64;  // maximum number of trampolines, because attaching each one takes time
// maximum number of tasks with traced calls; replaces KMT_MOST_TASKS if all memory must be allocated in advance
constexpr unsigned kFewerTasks = 8192;
constexpr std::size_t kMostTrampolinesAtAll = 256;  // maximum number of trampolines if probes are unavailable
constexpr std::uint64_t kLargestEntry = KMT_CALL_WORDS * sizeof(std::uint64_t) + KMT_MOST_VALUES_BYTES + 256;

using Object = BpfSkeleton<calls_bpf, calls_bpf__create_skeleton, calls_bpf__load, calls_bpf__destroy,
                           calls_without_btf_bpf__elf_bytes>;

enum class Way : std::uint8_t { trampolines, probes, some_trampolines };

constexpr const char* name_of(Way way) {
  return way == Way::probes ? "BPF probes (kprobe.multi, kretprobe.multi)" : "BPF trampolines (fentry, fexit)";
}

// Returns why probes are preferred to trampolines; empty if trampolines are preferred.
std::string why_not_trampolines(const RecordedCalls& calls, const TrampolineTargets& targets) {
  if (calls.functions.size() > kMostTrampolines)
    return fmt::format("there are more than {} functions", kMostTrampolines);
  for (std::size_t number = 0; number < targets.of.size(); ++number)
    if (targets.of[number].id == 0)
      return fmt::format("{} has no trampoline: {}", calls.functions[number].name, targets.of[number].why_not);
  for (const TracedFunction& function : calls.functions)
    if (std::ranges::any_of(function.values, [](const ValuePath& path) { return path.argument == kStackPointer; }))
      return fmt::format("{} has arguments on the stack, which trampolines do not show", function.name);
  const Preemption preemption = kernel_preemption();
  if (preemption == Preemption::in_kernel)
    return "this kernel is preemptible (preempt=full or lazy), so trampolines miss calls in tasks that preempt other "
           "tasks";
  if (preemption == Preemption::unknown)
    return "trampolines miss calls if the kernel is preemptible (preempt=full or lazy), and it is unknown whether this "
           "kernel is (sched/preempt in debugfs is unreadable)";
  return {};
}

std::uint64_t cookie_of(const TracedFunction& function, std::size_t number) {
  const bool counts = interrupt_level_of(function.name) == kHardIrqLevel;
  return KMT_CALL_COOKIE(number, counts ? KMT_LEVEL_HARDIRQ : 0);
}

// Names of excluded functions, by the reason for their exclusion.
using Omitted = std::map<std::string, std::vector<std::string>>;

std::string in_words(const Omitted& omitted) {
  std::string text;
  for (const auto& [why, names] : omitted)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", first_of(names), why);
  return text;
}

struct Trampoline {
  std::string function;
  FileDescriptor program;
  FileDescriptor link;
};

// Returns how often the kernel skipped the program of a link; always 0 before Linux 6.7. The struct is defined here
// because older headers lack some members of struct bpf_link_info.
std::uint64_t missed_by_link(int link) {
  struct {
    std::uint32_t type, id, program, unused;
    std::uint64_t addresses;
    std::uint32_t count, flags;
    std::uint64_t missed;
    std::uint64_t cookies;
  } info{};
  unsigned bytes = sizeof info;
  return bpf_obj_get_info_by_fd(link, &info, &bytes) == 0 ? info.missed : 0;
}

// Attaches a copy of the program `like`, which libbpf has already prepared for this kernel. If `is_loaded` is true,
// `like` was loaded for this function. In that case, `like` itself is attached, because the verifier takes time to
// check a copy.
Trampoline attach_trampoline(const bpf_program* like, const TrampolineTarget& target, std::uint64_t cookie,
                             bool is_loaded) {
  const bpf_attach_type when = bpf_program__expected_attach_type(like);
  std::string kernel_log(1 << 16, '\0');  // the kernel's explanation of a refusal
  LIBBPF_OPTS(bpf_prog_load_opts, loading, .expected_attach_type = when, .attach_btf_id = target.id,
              .attach_btf_obj_fd = static_cast<__u32>(target.types), .log_size = static_cast<__u32>(kernel_log.size()),
              .log_buf = kernel_log.data());
  Trampoline trampoline;
  trampoline.program =
      FileDescriptor(is_loaded ? ::fcntl(bpf_program__fd(like), F_DUPFD_CLOEXEC, 0)
                               : bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(like), "GPL",
                                               bpf_program__insns(like), bpf_program__insn_cnt(like), &loading));
  if (!trampoline.program) {
    const std::string why = bpf_error_text(errno);
    const std::string_view words = trim(kernel_log.c_str());
    throw Error(fmt::format("{} ({})", why, printable(words.substr(0, words.find('\n')))), ExitCode::unsupported);
  }
  LIBBPF_OPTS(bpf_link_create_opts, linking, .tracing = {.cookie = cookie});
  trampoline.link = FileDescriptor(bpf_link_create(trampoline.program.get(), 0, when, &linking));
  if (!trampoline.link) throw Error(bpf_error_text(errno), ExitCode::unsupported);
  return trampoline;
}

}  // namespace

// One attempt to attach programs to all functions. The destructor detaches them.
struct CallPrograms::State {
  Way way = Way::trampolines;
  std::string backend;
  std::string reason;
  unsigned cpus = 1;
  RingSizes sizes;
  Object object;
  MappedArray rings;
  std::size_t loaded_for = 0;  // trampolines only: index of the function for which the object's programs were loaded
  Omitted omitted;
  // All functions without a program: those in `omitted`, and those that were skipped because interrupted() became
  // true.
  std::vector<RefusedFunction> refused;
  std::vector<Trampoline> trampolines;
  bpf_program* enter = nullptr;  // program for the entries of functions without values
  bpf_program* enter_with_values = nullptr;
  bpf_program* leave = nullptr;
  std::vector<int> probe_links;

  // `targets` has one element for each function, or none if there are too many functions for trampolines.
  State(Way wanted, const RecordedCalls& calls, const TrampolineTargets& targets, const ProgramsRequest& request,
        const SharedByPrograms& shared, const std::function<bool()>& interrupted);
  void size_maps(const RecordedCalls& calls, const ProgramsRequest& request);
  void fill_tables(const RecordedCalls& calls) const;
  void attach_trampolines(const RecordedCalls& calls, const TrampolineTargets& targets,
                          const std::function<bool()>& interrupted);
  void attach_probes(const RecordedCalls& calls);
  kmt_ring* ring(std::uint64_t number) const {
    return reinterpret_cast<kmt_ring*>(rings.as<std::uint8_t>() + number * sizes.stride);
  }
};

CallPrograms::State::State(Way wanted, const RecordedCalls& calls, const TrampolineTargets& targets,
                           const ProgramsRequest& request, const SharedByPrograms& shared,
                           const std::function<bool()>& interrupted)
    : way(wanted), cpus(request.cpus) {
  const bool by_trampolines = way != Way::probes;
  const std::string by = by_trampolines ? "_by_trampoline" : "_by_probe";
  const auto find = [&](const std::string& name) {
    bpf_program* const found = bpf_object__find_program_by_name(object->obj, name.c_str());
    if (!found) throw Error("the registers of this architecture are unknown", ExitCode::unsupported);
    return found;
  };
  enter = find("enter" + by);
  enter_with_values = find("enter" + by + "_with_values");
  leave = find("leave" + by);
  const auto has_values = [](const TracedFunction& function) { return !function.values.empty(); };
  if (std::ranges::none_of(calls.functions, has_values)) enter_with_values = nullptr;
  // With probes, all functions share one program.
  if (std::ranges::all_of(calls.functions, has_values) || (!by_trampolines && enter_with_values)) enter = nullptr;
  bpf_program* program = nullptr;
  while ((program = bpf_object__next_program(object->obj, program)))
    bpf_program__set_autoload(program, program == object->progs.forget_task || program == enter ||
                                           program == enter_with_values || program == leave);
  size_maps(calls, request);
  const auto reuse = [](bpf_map* map, int other) {
    if (const int error = bpf_map__reuse_fd(map, other)) throw_bpf_error("Cannot share a BPF map", -error);
  };
  reuse(object->maps.processes, shared.processes);
  reuse(object->maps.cgroup, shared.cgroup);
  auto& constants = *object->rodata;
  fill_ring_constants(constants, request, KMT_CALL_RINGS, sizes);
  fill_context_constants(constants, shared.context);
  if (by_trampolines) {
    if (calls.functions.size() > kMostTrampolinesAtAll)
      throw Error(fmt::format("{} functions are too many for trampolines (at most {})", calls.functions.size(),
                              kMostTrampolinesAtAll));
    // First loads the programs for a function that every kernel accepts, because its arguments and result are numbers
    // or pointers.
    const auto first = std::ranges::find_if(targets.of, &TrampolineTarget::is_plain);
    if (first == targets.of.end())
      throw Error("no function has all arguments in registers, a unique type and a unique name");
    loaded_for = static_cast<std::size_t>(first - targets.of.begin());
    const std::string& name = calls.functions[loaded_for].name;
    for (bpf_program* const of : {enter, enter_with_values, leave})
      if (const int error = of ? bpf_program__set_attach_target(of, 0, name.c_str()) : 0)
        throw_bpf_error(fmt::format("Cannot find {} among the kernel's types", name), -error);
  }
  object.load();
  rings =
      MappedArray(bpf_map__fd(object->maps.rings), to_size(bpf_map__max_entries(object->maps.rings) * sizes.stride));
  fill_tables(calls);
  object.attach(object->progs.forget_task);
  if (by_trampolines)
    attach_trampolines(calls, targets, interrupted);
  else
    attach_probes(calls);
}

void CallPrograms::State::size_maps(const RecordedCalls& calls, const ProgramsRequest& request) {
  sizes = ring_sizes(request, KMT_CALL_RINGS, kLargestEntry);
  std::size_t values = 0;
  for (const TracedFunction& function : calls.functions) values += function.values.size();
  const auto& maps = object->maps;
  allocate_before_where_needed(maps.processes);
  if (allocate_before_where_needed(maps.tasks)) bpf_map__set_max_entries(maps.tasks, kFewerTasks);
  bpf_map__set_value_size(maps.rings, static_cast<unsigned>(sizes.stride));
  bpf_map__set_max_entries(maps.rings, cpus * KMT_CALL_RINGS);
  bpf_map__set_max_entries(maps.functions, static_cast<unsigned>(calls.functions.size()));
  bpf_map__set_max_entries(maps.values, static_cast<unsigned>(std::max<std::size_t>(values, 1)));
}

void CallPrograms::State::fill_tables(const RecordedCalls& calls) const {
  const auto put = [](const bpf_map* map, std::uint32_t key, const auto& value) {
    if (bpf_map__update_elem(map, &key, sizeof key, &value, sizeof value, BPF_ANY) != 0)
      throw_bpf_error("Cannot pass the list of functions to the BPF programs", errno);
  };
  std::uint32_t next_value = 0;
  for (std::uint32_t number = 0; number < calls.functions.size(); ++number) {
    const TracedFunction& function = calls.functions[number];
    put(object->maps.functions, number, kmt_function{next_value, static_cast<unsigned>(function.values.size())});
    for (const ValuePath& path : function.values)
      put(object->maps.values, next_value++, table_entry_of(function, path));
  }
}

// Attaches to the exit first, so that a recorded entry always has its exit. With Way::some_trampolines, skips functions
// that the kernel refuses. Throws Error if the kernel refuses all functions.
void CallPrograms::State::attach_trampolines(const RecordedCalls& calls, const TrampolineTargets& targets,
                                             const std::function<bool()>& interrupted) {
  constexpr const char* kRefused = "the kernel refuses a trampoline for it";
  raise_descriptor_limit();  // each function needs four descriptors
  for (std::size_t number = 0; number < calls.functions.size(); ++number) {
    const TracedFunction& function = calls.functions[number];
    const TrampolineTarget& target = targets.of[number];
    if (interrupted()) {
      refused.push_back({function.name, "the recording ended before it was attached"});
      continue;
    }
    if (target.id == 0) {
      omitted[target.why_not].push_back(function.name);
      refused.push_back({function.name, target.why_not});
      continue;
    }
    try {
      const bool is_loaded = number == loaded_for;
      const std::uint64_t cookie = cookie_of(function, number);
      Trampoline exit = attach_trampoline(leave, target, cookie, is_loaded);
      Trampoline entry =
          attach_trampoline(function.values.empty() ? enter : enter_with_values, target, cookie, is_loaded);
      exit.function = entry.function = function.name;
      trampolines.push_back(std::move(exit));
      trampolines.push_back(std::move(entry));
    } catch (const Error& error) {
      if (way == Way::trampolines) throw Error(fmt::format("{}: {}", function.name, error.what()));
      omitted[kRefused].push_back(fmt::format("{}: {}", function.name, error.what()));
      refused.push_back({function.name, fmt::format("{}: {}", kRefused, error.what())});
    }
  }
  if (trampolines.empty() && !omitted.empty()) throw Error(in_words(omitted), ExitCode::unsupported);
}

void CallPrograms::State::attach_probes(const RecordedCalls& calls) {
  std::vector<unsigned long> addresses;
  std::vector<__u64> cookies;
  for (const TracedFunction& function : calls.functions) {
    cookies.push_back(cookie_of(function, addresses.size()));
    addresses.push_back(static_cast<unsigned long>(function.address));
  }
  probe_links.push_back(object.attach(leave, addresses, cookies, true));
  probe_links.push_back(object.attach(enter ? enter : enter_with_values, addresses, cookies, false));
}

CallPrograms::CallPrograms(const RecordedCalls& calls, const ProgramsRequest& request, const SharedByPrograms& shared,
                           std::string_view kallsyms, const std::function<bool()>& interrupted) {
  if (sizeof(long) != sizeof(std::uint64_t))
    throw Error("BPF programs can record calls only on 64-bit kernels", ExitCode::unsupported);
  for (const TracedFunction& function : calls.functions) {
    if (function.values.size() > KMT_MOST_VALUES)
      throw Error(fmt::format("{}: at most {} values can be recorded", function.name, int{KMT_MOST_VALUES}));
    // Checks the values: table_entry_of() throws Error if an offset is too large.
    for (const ValuePath& path : function.values) table_entry_of(function, path);
  }
  TrampolineTargets targets;
  if (calls.functions.size() <= kMostTrampolinesAtAll) targets = find_trampoline_targets(calls.functions, kallsyms);
  const std::string against = why_not_trampolines(calls, targets);
  // Tries these ways in order. The last way uses trampolines again, but skips functions that the kernel refuses.
  std::vector<Way> ways{Way::trampolines, Way::probes, Way::some_trampolines};
  if (!against.empty()) ways.erase(ways.begin());
  std::string refused;
  const bool would_miss_calls = calls.has_other_back_end && kernel_preemption() == Preemption::in_kernel;
  if (would_miss_calls) ways.pop_back();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    try {
      state_ = std::make_unique<State>(ways[i], calls, targets, request, shared, interrupted);
    } catch (const Error& error) {
      refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", name_of(ways[i]), error.what());
      continue;
    }
    if (calls.all_or_none && !state_->omitted.empty()) {
      refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", name_of(ways[i]), in_words(state_->omitted));
      state_.reset();
      continue;
    }
    state_->backend = name_of(ways[i]);
    state_->reason =
        refused.empty() && against.empty()
            ? fmt::format("chosen because trampolines see the end of every call; they are used for up to {} functions",
                          kMostTrampolines)
        : refused.empty() ? against
                          : fmt::format("this kernel refuses {}", refused);
    if (ways[i] == Way::some_trampolines && !against.empty()) state_->reason += fmt::format("; {}", against);
    if (!state_->omitted.empty()) state_->reason += fmt::format("; not recorded: {}", in_words(state_->omitted));
    return;
  }
  if (would_miss_calls) refused += fmt::format("; {}", against);
  Error error(fmt::format("This kernel does not let BPF programs record the calls of all these functions: {}", refused),
              ExitCode::unsupported);
  if (calls.functions.size() > kMostTrampolinesAtAll)
    error.hint(
        fmt::format("Select at most {} functions. More functions require Linux 5.19 or later built with CONFIG_FPROBE "
                    "(such as Debian's since 6.12), or function_graph (Linux 6.11 or later)",
                    kMostTrampolinesAtAll));
  else
    error.hint(
        "This requires CONFIG_FUNCTION_TRACER and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS (fentry, for functions whose "
        "types the kernel describes), or Linux 5.19 or later with CONFIG_FPROBE (kprobe.multi, for any function). "
        "Distributions enable these options. `--backend kprobe` requires CONFIG_KPROBE_EVENTS");
  throw error;
}

CallPrograms::CallPrograms(CallPrograms&&) noexcept = default;
CallPrograms::~CallPrograms() = default;

void CallPrograms::begin() { *const_cast<volatile std::uint32_t*>(&state_->object->bss->recording) = 1; }
void CallPrograms::end() { *const_cast<volatile std::uint32_t*>(&state_->object->bss->recording) = 0; }

const std::string& CallPrograms::backend() const { return state_->backend; }
const std::string& CallPrograms::reason() const { return state_->reason; }

void CallPrograms::add_rings(unsigned cpu, CpuRings& to) const {
  std::vector<kmt_ring*> rings;
  for (unsigned ring = 0; ring < KMT_CALL_RINGS; ++ring) rings.push_back(state_->ring(cpu * KMT_CALL_RINGS + ring));
  to.add(rings, state_->sizes.bytes);
}

MissedCounts CallPrograms::missed() const {
  const State& state = *state_;
  const auto count = [](const unsigned long long& at) { return *const_cast<volatile unsigned long long*>(&at); };
  MissedCounts missed;
  for (const Trampoline& trampoline : state.trampolines)
    missed[trampoline.function] += missed_runs(trampoline.program.get());
  std::uint64_t& sum = missed[""];
  sum = count(state.object->bss->calls_without_ring) + count(state.object->bss->exits_without_call);
  for (const int link : state.probe_links) sum += missed_by_link(link);
  if (state.way == Way::probes)
    sum += missed_runs(state.enter ? state.enter : state.enter_with_values) + missed_runs(state.leave);
  return missed;
}

const std::vector<RefusedFunction>& CallPrograms::refused() const { return state_->refused; }

std::uint64_t CallPrograms::ring_bytes() const {
  return std::uint64_t{state_->cpus} * KMT_CALL_RINGS * state_->sizes.bytes;
}

}  // namespace kmt
