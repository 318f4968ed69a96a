// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/call_tracing.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/tracefs/mount.hpp"
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

CallBackend choose_call_backend(const std::string& tracefs, const std::string& name) {
  const std::string no_bpf = name == "ftrace" ? "" : why_not_by_bpf();
  if (name != "ftrace" && no_bpf.empty()) return {true, {}};
  if (name == "bpf") throw refuses(fmt::format("not by BPF ({})", no_bpf));
  const std::string no_ftrace = why_not_by_function_graph(tracefs);
  if (no_ftrace.empty()) return {false, no_bpf};
  throw refuses(name == "ftrace" ? fmt::format("not by ftrace ({})", no_ftrace)
                                 : fmt::format("not by BPF ({}), not by ftrace ({})", no_bpf, no_ftrace));
}

}  // namespace kmt
