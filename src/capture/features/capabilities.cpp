// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/capabilities.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/features/call_tracing.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/code/kallsyms_text.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kPreferredBytesPerCpu = 32 * kMiB;
constexpr std::uint64_t kFewestBytesPerCpu = kMiB / 4;
// by default, all buffers together use at most 1/16 of the available memory
constexpr unsigned kDefaultPartOfMemory = 16;
constexpr unsigned kMostPartOfMemory = 2;

std::string reason_of(int error_number, const std::string& path) {
  const std::string lockdown = kernel_lockdown();
  if (error_number == EPERM && !lockdown.empty()) return fmt::format("{}: kernel lockdown ({})", path, lockdown);
  if (error_number == EACCES || error_number == EPERM)
    return fmt::format("{}: not permitted for user {}", path, ::geteuid());
  if (error_number == ENOENT) return fmt::format("{} does not exist in this kernel", path);
  return fmt::format("{}: {}", path, std::generic_category().message(error_number));
}

// Returns a feature that is available if this process may access the file `path` with the access mode `mode`.
Feature probe_file(std::string name, std::string purpose, const std::string& path, int mode, bool needed = false) {
  Feature feature{std::move(name), std::move(purpose), false, needed, {}};
  if (path.front() != '/')
    feature.reason = "tracefs is not mounted";
  else if (::access(path.c_str(), mode) == 0)
    feature.available = true;
  else
    feature.reason = reason_of(errno, path);
  return feature;
}

std::vector<Feature> probe_features(const TracefsMount& tracefs, const std::vector<EventName>& events) {
  const std::string& root = tracefs.path;
  std::vector<Feature> features;
  Feature mounted{"tracefs", "the kernel's tracing files", !root.empty() || tracefs.mountable, true, tracefs.reason};
  if (mounted.available) mounted.reason.clear();
  features.push_back(std::move(mounted));
  features.push_back(probe_file("own buffers",
                                "recording in a separate instance, without affecting other users of tracing",
                                root + "/instances", W_OK | X_OK, true));
  features.push_back(probe_file("events", "recording events of the kernel", root + "/events", R_OK | X_OK, true));
  if (!features.back().available || events.empty()) features.back().available = false;
  if (features.back().reason.empty() && events.empty()) features.back().reason = "this kernel offers no events";
  features.push_back(probe_file("raw buffers", "reading whole pages of the ring buffer",
                                root + "/per_cpu/cpu0/trace_pipe_raw", R_OK, true));
  const std::string some_event = events.empty() ? "kmem/kmalloc" : events.front().system + "/" + events.front().name;
  features.push_back(probe_file("per-event filters",
                                "excluding the recorder's own events, but not interrupts during them",
                                fmt::format("{}/events/{}/filter", root, some_event), W_OK));
  features.push_back(
      probe_file("set_event_pid", "recording only some processes (-p, -F)", root + "/set_event_pid", W_OK));
  features.push_back(
      probe_file("event-fork", "also recording children of these processes", root + "/options/event-fork", W_OK));
  features.push_back(probe_file("set_event_notrace_pid", "excluding the recorder if filters cannot",
                                root + "/set_event_notrace_pid", W_OK));
  features.push_back(
      probe_file("buffer_percent", "waking the readers only when many pages are full", root + "/buffer_percent", W_OK));
  const BpfSupport bpf = bpf_support();
  features.push_back(
      {"in-kernel sums",
       "counting and sampling without a trace: profile, serve, stat and top --backend bpf; record --backend bpf",
       bpf.missing.empty(), false, bpf.missing.empty() ? "" : bpf.missing + "; " + bpf.way_out});
  features.push_back(probe_file("hist triggers", "counting inside the kernel without BPF: stat and top --backend hist",
                                root + "/events/kmem/kmalloc/hist", R_OK));
  std::string no_functions = root.empty() ? "tracefs is not mounted" : why_no_functions(root);
  const bool has_functions = no_functions.empty();
  features.push_back({"function calls", "recording calls of functions: graph FUNCTION", has_functions, false,
                      std::move(no_functions)});
  std::string no_kprobes = root.empty() ? "tracefs is not mounted" : why_not_by_kprobe_events(root);
  const bool has_kprobes = has_functions && no_kprobes.empty();
  if (!has_functions && no_kprobes.empty()) no_kprobes = features.back().reason;
  features.push_back({"kprobe events", "recording calls if neither BPF nor function_graph can: graph --backend kprobe",
                      has_kprobes, false, std::move(no_kprobes)});
  return features;
}

std::uint64_t memory_available() {
  const std::string meminfo = try_read_file("/proc/meminfo").value_or("");
  for (const char* const name : {"MemAvailable", "MemFree"})
    if (const auto found = find_proc_value(meminfo, name)) return found->value;
  return 0;
}

void probe_symbols(Capabilities& capabilities) {
  const auto text = try_read_file("/proc/kallsyms");
  capabilities.symbols_readable = text && has_addresses(*text);
  if (!text)
    capabilities.symbols_reason = "/proc/kallsyms cannot be read";
  else if (!capabilities.symbols_readable)
    capabilities.symbols_reason = fmt::format("/proc/kallsyms shows no addresses to this user: {}", kWayToAddresses);
}

}  // namespace

BufferLimits buffer_limits(const std::string& tracefs) {
  BufferLimits limits;
  limits.cpus_online = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  limits.cpus_possible = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
  limits.memory_available = memory_available();
  limits.most_bytes_per_cpu = limits.memory_available / kMostPartOfMemory / limits.cpus_online;
  limits.default_bytes = limits.memory_available / kDefaultPartOfMemory;
  limits.default_bytes_per_cpu =
      std::clamp(limits.default_bytes / limits.cpus_online, kFewestBytesPerCpu, kPreferredBytesPerCpu);
  if (!tracefs.empty())
    limits.page_size = sub_buffer_bytes(try_read_file(tracefs + "/events/header_page").value_or(""));
  return limits;
}

Capabilities probe_capabilities(TracefsMount tracefs) {
  Capabilities capabilities;
  utsname name{};
  ::uname(&name);
  capabilities.kernel = name.release;
  capabilities.machine = name.machine;
  const std::string root = tracefs.path;
  if (!root.empty()) {
    try {
      capabilities.events = available_events(root);
      capabilities.default_events = default_events(root, capabilities.events);
    } catch (const Error& error) {
      // Events may exist even if this process cannot see them.
      capabilities.default_events.missing.push_back(
          {"kmem:*", fmt::format("cannot be seen: {} ({})", error.what(), to_string(error.place()))});
    }
    try {
      capabilities.clocks = read_clocks(root);
    } catch (const Error&) {
      // If tracefs is unreadable, the message about events has already stated this.
    }
  }
  capabilities.features = probe_features(tracefs, capabilities.events);
  capabilities.limits = buffer_limits(root);
  capabilities.tracefs = std::move(tracefs);
  probe_symbols(capabilities);
  return capabilities;
}

bool Capabilities::can_record() const { return why_not().empty(); }

std::string Capabilities::why_not() const {
  for (const Feature& feature : features)
    if (feature.needed && !feature.available)
      return feature.reason.empty() ? feature.name + " is missing" : feature.reason;
  return {};
}

}  // namespace kmt
