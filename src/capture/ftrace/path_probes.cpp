// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/path_probes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/session/probe_notes.hpp"
#include "capture/tracefs/probe_definitions.hpp"
#include "capture/tracefs/probe_events.hpp"
#include "trace/code/untraced_paths.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

struct PathProbe {
  std::string_view function;  // an element of function_probes()
  bool at_return;
  // {0}, {1} and {2} are the registers of the first arguments, {3} is the type of a word, and {4} is the type of a
  // bulk allocation's result
  std::string_view fields;
};

constexpr bool kAtReturn = true;
constexpr bool kAtEntry = false;

// Maximum length of an array that a kprobe event can fetch (MAX_ARRAY_LEN in kernel/trace/trace_probe.h).
constexpr unsigned kMostElements = 64;
// vmalloc requests at most this number of pages at once (vm_area_alloc_pages() in mm/vmalloc.c).
constexpr unsigned kMostPages = 100;

// docs/formats/kmt.md, "Events of probes", describes the fields. Arrays have kMostElements elements. Probes at a return
// can fetch $arg1 since Linux 6.9.
constexpr std::array kProbes = {
    PathProbe{kBulkAllocFunction, kAtReturn,
              "cache=$arg1:{3} gfp_flags=$arg2:x32 count=$arg3:{3} result=$retval:{4} objects=+0($arg4):{3}[64]"},
    PathProbe{kBulkFreeFunction, kAtEntry, "cache=%{0}:{3} count=%{1}:{3} objects=+0(%{2}):{3}[64]"},
    PathProbe{kRcuFreeFunction, kAtEntry, "head=%{0}:{3} ptr=%{1}:{3}"},
    PathProbe{kRcuNolockFreeFunction, kAtEntry, "head=%{0}:{3} ptr=%{1}:{3}"},
    PathProbe{kNolockAllocFunction, kAtReturn, "bytes_req=$arg1:{3} ptr=$retval:{3}"},
    PathProbe{kOldNolockAllocFunction, kAtReturn, "bytes_req=$arg1:{3} ptr=$retval:{3}"},
    PathProbe{kNolockFreeFunction, kAtEntry, "ptr=%{0}:{3}"},
    PathProbe{kBulkPagesFunction, kAtReturn, "gfp_flags=$arg1:x32 count=$retval:{3}"},
    PathProbe{kPageRangeFunction, kAtReturn, "failed=$retval:u32 pfn=$arg1:{3} end_pfn=$arg2:{3} gfp_flags=$arg4:x32"},
    PathProbe{kOldPageRangeFunction, kAtReturn,
              "failed=$retval:u32 pfn=$arg1:{3} end_pfn=$arg2:{3} gfp_flags=$arg4:x32"},
};

// Returns the place of the return address at the entry of a function, as an argument of a probe. Empty if unknown.
std::string_view return_address(std::string_view machine) {
  if (machine == "x86_64" || machine.ends_with("86")) return "+0($stack)";
  if (machine == "aarch64" || machine.starts_with("armv")) return "%lr";
  if (machine == "s390x") return "%r14";
  if (machine == "riscv64") return "%ra";
  if (machine == "ppc64le") return "%link";
  return {};
}

// Returns why no probe can be created. Empty if probes are possible.
std::string reason_against_probes(const std::string& path, std::string_view machine) {
  if (!probe_machine(machine) || return_address(machine).empty()) return "the registers of this machine are unknown";
  // Probes could be created, but would record nothing.
  if (try_read_file("/proc/sys/kernel/ftrace_enabled").value_or("1").starts_with('0'))
    return "kernel.ftrace_enabled is 0";
  constexpr const char* kSwitch = "/sys/kernel/debug/kprobes/enabled";
  if (try_read_file(kSwitch).value_or("1").starts_with('0')) return fmt::format("kprobes are disabled in {}", kSwitch);
  if (may_access(path, W_OK)) return {};
  return errno == ENOENT ? "this kernel has no kprobe events" : "this process is not permitted to create kprobe events";
}

bool allocates_pages(std::string_view function) {
  return function == kBulkPagesFunction || function == kPageRangeFunction || function == kOldPageRangeFunction;
}

std::string_view event_of(std::string_view function) {
  return std::ranges::find(function_probes(), function, &FunctionProbe::function)->event;
}

// kmem_cache_alloc_bulk() returns the number of objects or 0; since Linux 7.2, it returns true or false.
std::string_view result_of_bulk_allocation(std::string_view release) {
  const auto version = version_of(release);
  return !version || *version >= KernelVersion{7, 2} ? "u8" : "u32";
}

std::string definition_of(const std::string& group, const PathProbe& probe, std::string_view machine,
                          const std::optional<ProbedTypes>& types, std::string_view release) {
  const ProbeMachine registers = *probe_machine(machine);
  const std::string word = fmt::format("x{}", registers.word_bits);
  std::string line =
      fmt::format("{}:{}/{} {}", probe.at_return ? 'r' : 'p', group, event_of(probe.function), probe.function);
  // The record of a probe at a return has the field __probe_ret_ip.
  if (!probe.at_return) line += fmt::format(" call_site={}:{}", return_address(machine), word);
  line += ' ' + fmt::format(fmt::runtime(probe.fields), registers.arguments[0], registers.arguments[1],
                            registers.arguments[2], word, result_of_bulk_allocation(release));
  if (!types) return line;
  if (probe.function == kBulkFreeFunction)
    line += fmt::format(" name=+0(+{}(%{})):string", types->cache_name, registers.arguments[0]);
  if (probe.function == kBulkAllocFunction)
    line += fmt::format(" bytes_req=+{}($arg1):u32 bytes_alloc=+{}($arg1):u32 name=+0(+{}($arg1)):string",
                        types->cache_object_size, types->cache_size, types->cache_name);
  if (probe.function == kBulkPagesFunction)
    line += fmt::format(
        " first_page=@vmemmap_base:{0} page_bytes=\\{1}:u16 objects=+0($arg{2}):{0}[{3}]"
        " more_objects=+{4}($arg{2}):{0}[{5}]",
        word, types->page_bytes, types->bulk_pages_parameters, kMostElements, kMostElements * registers.word_bits / 8,
        kMostPages - kMostElements);
  return line;
}

// Returns why a probe of this function would record nothing of use. Empty if a probe can be created.
std::string_view reason_against(std::string_view function, const KernelDescription& kernel,
                                const std::optional<ProbedTypes>& types) {
  if (function != kBulkAllocFunction && function != kBulkPagesFunction) return {};
  if (!types) return "the kernel has no BTF, so the sizes of its structures are unknown";
  if (function == kBulkPagesFunction && types->bulk_pages_parameters == 0)
    return "the kernel's BTF does not describe its parameters";
  if (function == kBulkPagesFunction && kernel.machine != "x86_64")
    return "kmemtrace knows the frame of a struct page only on x86-64";
  return {};
}

}  // namespace

PathProbes::PathProbes(const std::string& tracefs, const TracefsInstance& instance,
                       const std::function<std::optional<ProbedTypes>()>& probed_types, bool records_pages,
                       KernelDescription& kernel)
    : tracefs_(tracefs), instance_(instance), group_(instance.probe_group()) {
  const std::string reason = reason_against_probes(tracefs + "/kprobe_events", kernel.machine);
  if (!reason.empty()) {
    note_all_unprobed(kernel, reason);
    return;
  }
  note_old_functions(kernel);
  const std::optional<ProbedTypes> types = probed_types();
  bool sees_nolock_objects = false;
  for (const PathProbe& probe : kProbes) {
    if (!has_function(kernel, probe.function)) continue;
    if (allocates_pages(probe.function) && !records_pages) continue;
    if (probe.function == kOldPageRangeFunction && has_function(kernel, kPageRangeFunction)) continue;
    // Without a record of the allocation, a recorded free would look like a double free.
    if (probe.function == kNolockFreeFunction && !sees_nolock_objects) {
      note_unprobed(kernel, {&probe.function, 1}, "the allocations of its objects are not recorded");
      continue;
    }
    if (const std::string_view against = reason_against(probe.function, kernel, types); !against.empty()) {
      note_unprobed(kernel, {&probe.function, 1}, std::string(against));
      continue;
    }
    try {
      add_probe_event(tracefs, definition_of(group_, probe, kernel.machine, types, kernel.release));
    } catch (const Error&) {
      note_unprobed(kernel, {&probe.function, 1},
                    fmt::format("the kernel allows no kprobe: {}", last_refusal(tracefs)));
      continue;
    }
    probed_.push_back(probe.function);
    sees_nolock_objects =
        sees_nolock_objects || probe.function == kNolockAllocFunction || probe.function == kOldNolockAllocFunction;
    kernel.formats.push_back(
        {"kmemtrace", read_file(fmt::format("{}/events/{}/{}/format", tracefs, group_, event_of(probe.function)))});
  }
}

void PathProbes::enable() const {
  if (!probed_.empty()) instance_.set(fmt::format("events/{}/enable", group_), "1");
}

std::string PathProbes::missed_text() const {
  if (probed_.empty()) return {};
  const std::vector<ProbeCounts> counts =
      parse_probe_counts(try_read_file(tracefs_ + "/kprobe_events").value_or(""),
                         try_read_file(tracefs_ + "/kprobe_profile").value_or(""), group_);
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), probed_.size()); ++i)
    if (counts[i].missed > 0)
      text += fmt::format("{}{}(): the probe missed {} calls", text.empty() ? "" : "; ", probed_[i], counts[i].missed);
  return text;
}

}  // namespace kmt
