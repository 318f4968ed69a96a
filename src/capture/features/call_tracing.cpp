// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/call_tracing.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/tracefs/mount.hpp"
#include "capture/tracefs/probe_definitions.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

constexpr const char* kWhatWorks =
    "Kernels of distributions can: it takes CONFIG_FUNCTION_TRACER, CONFIG_DYNAMIC_FTRACE, and CONFIG_FPROBE (for BPF) "
    "or CONFIG_FUNCTION_GRAPH_TRACER, on the host where this is a container or sandbox. What was recorded elsewhere is "
    "shown here: kmemtrace graph FILE";
constexpr const char* kGraphTracer = "function_graph";

std::string why_refused(int number) {
  if (number == ENOENT) return "it was built without CONFIG_FUNCTION_TRACER or CONFIG_DYNAMIC_FTRACE";
  if (const std::string lockdown = kernel_lockdown(); number == EPERM && !lockdown.empty())
    return fmt::format("kernel lockdown ({})", lockdown);
  return std::generic_category().message(number);
}

// With addresses since Linux 6.5.
std::string list_of_functions(const std::string& tracefs) {
  const std::string names = tracefs + "/available_filter_functions";
  const std::string addresses = names + "_addrs";
  return ::access(addresses.c_str(), F_OK) == 0 ? addresses : names;
}

bool offers_function_graph(const std::string& folder) {
  const std::string tracers = try_read_file(folder + "/available_tracers").value_or("");
  const std::vector<std::string_view> names = split(trim(tracers), ' ');
  return std::ranges::find(names, kGraphTracer) != names.end();
}

Error refuses(const std::string& why) {
  return Error(fmt::format("This kernel does not trace calls of functions: {}", why), ExitCode::unsupported)
      .hint(kWhatWorks);
}

}  // namespace

std::string why_no_functions(const std::string& tracefs) {
  const FileDescriptor file(::open(list_of_functions(tracefs).c_str(), O_RDONLY | O_CLOEXEC));
  return file ? "" : why_refused(errno);
}

std::string traceable_functions(const std::string& tracefs) {
  const std::string path = list_of_functions(tracefs);
  if (const std::string why = why_no_functions(tracefs); !why.empty()) throw refuses(why).at({path, {}, {}});
  return read_file(path);
}

std::string why_not_by_bpf() {
  const BpfSupport support = bpf_support();
  return support.missing.empty() ? "" : fmt::format("{}; {}", support.missing, support.way_out);
}

std::string why_not_by_function_graph(const std::string& tracefs) {
  if (!offers_function_graph(tracefs)) return "it has no function_graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)";
  const TracefsInstance instance(tracefs);
  const bool apart = offers_function_graph(instance.path());
  instance.remove();  // the recording's own will have its name
  if (apart) return {};
  return "its function_graph tracer works only where everybody traces, which kmemtrace leaves to others; since Linux "
         "6.11 it works apart";
}

std::string why_not_by_kprobe_events(const std::string& tracefs) {
  const std::string file = tracefs + "/kprobe_events";
  if (::access(file.c_str(), W_OK) != 0)
    return errno == ENOENT ? "it has no kprobe events (CONFIG_KPROBE_EVENTS)"
                           : fmt::format("kprobe_events: {}", std::generic_category().message(errno));
  // Beside CONFIG_DEBUG_FS, whose absence says nothing.
  if (trim(try_read_file("/sys/kernel/debug/kprobes/enabled").value_or("1")) == "0")
    return "its kprobes are switched off (/sys/kernel/debug/kprobes/enabled)";
  utsname names{};
  ::uname(&names);
  return probe_machine(names.machine) ? "" : fmt::format("how {} passes arguments is not known here", names.machine);
}

CallBackend choose_call_backend_but_bpf(const std::string& tracefs, const std::string& why_not, bool reads_memory) {
  const std::string no_bpf = why_not.empty() ? "" : fmt::format("BPF does not work here: {}", why_not);
  const std::string no_ftrace =
      reads_memory ? "function_graph does not read memory" : why_not_by_function_graph(tracefs);
  if (no_ftrace.empty()) return {CallBackendKind::function_graph, no_bpf};
  const std::string no_kprobes = why_not_by_kprobe_events(tracefs);
  if (no_kprobes.empty()) return {CallBackendKind::kprobe_events, fmt::format("{}; {}", no_bpf, no_ftrace)};
  throw refuses(
      fmt::format("not by BPF ({}), not by ftrace ({}), not by kprobe events ({})", why_not, no_ftrace, no_kprobes));
}

CallBackend choose_call_backend(const std::string& tracefs, const std::string& name, bool reads_memory) {
  if (name == "kprobe") {
    const std::string no_kprobes = why_not_by_kprobe_events(tracefs);
    if (!no_kprobes.empty()) throw refuses(fmt::format("not by kprobe events ({})", no_kprobes));
    return {CallBackendKind::kprobe_events, {}};
  }
  if (name == "ftrace") {
    if (reads_memory)
      throw Error("--show takes the back ends bpf or kprobe: function_graph does not read memory",
                  ExitCode::unsupported)
          .hint("--backend auto takes one of them");
    const std::string no_ftrace = why_not_by_function_graph(tracefs);
    if (!no_ftrace.empty()) throw refuses(fmt::format("not by ftrace ({})", no_ftrace));
    return {CallBackendKind::function_graph, {}};
  }
  const std::string no_bpf = why_not_by_bpf();
  if (no_bpf.empty()) return {CallBackendKind::bpf, {}};
  if (name == "bpf") throw refuses(fmt::format("not by BPF ({})", no_bpf));
  return choose_call_backend_but_bpf(tracefs, no_bpf, reads_memory);
}

}  // namespace kmt
