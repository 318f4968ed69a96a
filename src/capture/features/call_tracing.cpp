// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/call_tracing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/features/kernel_config.hpp"
#include "capture/recorded_calls.hpp"
#include "capture/tracefs/mount.hpp"
#include "capture/tracefs/probe_definitions.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

struct NeededOption {
  std::string_view option;
  std::string_view backend;  // the back end that needs the option; empty: all back ends need the option
  std::string_view purpose;
};

// A kernel needs only one of these two options to trace a function.
constexpr std::string_view kDirectCalls = "DYNAMIC_FTRACE_WITH_DIRECT_CALLS";
constexpr std::string_view kManyProbes = "FPROBE";

constexpr std::array kNeeded = {
    NeededOption{"FUNCTION_TRACER", "", "tracing functions"},
    NeededOption{"DYNAMIC_FTRACE", "", "tracing only some functions"},
    NeededOption{"DEBUG_INFO_BTF", "bpf", "BPF"},
    NeededOption{kDirectCalls, "bpf", "BPF for few functions"},
    NeededOption{kManyProbes, "bpf", "BPF for any number of functions"},
    NeededOption{"FUNCTION_GRAPH_TRACER", "ftrace", "function_graph"},
    NeededOption{"KPROBE_EVENTS", "kprobe", "kprobe events"},
};

constexpr const char* kElsewhere =
    "Without function tracing, `kmemtrace record --stacks` shows which code allocates, and `kmemtrace graph FILE` "
    "shows traces from other machines";

constexpr std::string_view kBackends[] = {"bpf", "ftrace", "kprobe"};

// Returns the kernel options that this back end needs but the kernel lacks.
std::vector<std::string> lacking_options(const std::string& configuration, std::string_view backend) {
  std::vector<std::string> options;
  for (const NeededOption& needed : kNeeded) {
    if (!needed.backend.empty() && needed.backend != backend) continue;
    if (is_configured(configuration, needed.option)) continue;
    if (needed.option == kManyProbes && is_configured(configuration, kDirectCalls)) continue;
    if (needed.option == kDirectCalls && is_configured(configuration, kManyProbes)) continue;
    options.push_back(fmt::format("CONFIG_{} ({})", needed.option, needed.purpose));
  }
  return options;
}

// Returns what the back end requires. For "auto", returns what each back end requires. `is_denied` means that the
// kernel does not allow tracing of functions, although it may have been built to support this.
std::string requirements_text(std::string_view backend, bool is_denied) {
  const std::optional<std::string> configuration = kernel_configuration();
  std::vector<std::string> could;  // back ends that might work
  std::vector<std::string> options;
  for (const std::string_view one : kBackends) {
    if (backend != "auto" && one != backend) continue;
    const std::vector<std::string> lacking = lacking_options(configuration.value_or(""), one);
    if (lacking.empty()) could.emplace_back(one);
    for (const std::string& option : lacking)
      if (std::ranges::find(options, option) == options.end()) options.push_back(option);
  }
  std::string text;
  if (is_denied)
    text = ::geteuid() != 0 ? "Run kmemtrace as root. "
                            : "A container, a sandbox or a host policy denies this even to root; the administrator of "
                              "the host can allow it. ";
  if (!configuration)
    text += fmt::format("This requires a kernel with {}, such as a distribution's. ", fmt::join(options, ", "));
  else if (is_denied && !could.empty())
    text += fmt::format("According to its configuration, the kernel supports it ({}). ", fmt::join(could, ", "));
  else if (!options.empty())
    text += fmt::format("This kernel was built without {}. ", fmt::join(options, ", "));
  return text + kElsewhere;
}

constexpr const char* kGraphTracer = "function_graph";

std::string why_refused(int number) {
  if (number == ENOENT) return "it was built without CONFIG_FUNCTION_TRACER or CONFIG_DYNAMIC_FTRACE";
  if (const std::string lockdown = kernel_lockdown(); number == EPERM && !lockdown.empty())
    return fmt::format("kernel lockdown ({})", lockdown);
  return std::generic_category().message(number);
}

// Returns the path of the list of traceable functions. Prefers the list with addresses, which exists since Linux 6.5.
std::string list_of_functions(const std::string& tracefs) {
  const std::string names = tracefs + "/available_filter_functions";
  const std::string addresses = names + "_addrs";
  return ::access(addresses.c_str(), F_OK) == 0 ? addresses : names;
}

std::string why_no_results_by_function_graph(const std::string& tracefs) {
  const auto format = try_read_file(tracefs + "/events/ftrace/funcgraph_exit/format");
  if (!format || format->find(" retval;") != std::string::npos) return {};
  return "function_graph records no results: this kernel was built without CONFIG_FUNCTION_GRAPH_RETVAL";
}

// True if function_graph records arguments (since Linux 6.15).
bool records_arguments(const std::string& tracefs) {
  return ::access((tracefs + "/options/funcgraph-args").c_str(), F_OK) == 0;
}

constexpr const char* kNoArguments = "function_graph records no arguments before Linux 6.15";

bool offers_function_graph(const std::string& folder) {
  const std::string tracers = try_read_file(folder + "/available_tracers").value_or("");
  const std::vector<std::string_view> names = split(trim(tracers), ' ');
  return std::ranges::find(names, kGraphTracer) != names.end();
}

Error refuses(const std::string& why, std::string_view backend, bool is_denied = false) {
  return Error(fmt::format("Calls of functions cannot be recorded here: {}", why), ExitCode::unsupported)
      .hint(requirements_text(backend, is_denied));
}

// Returns the error for a back end that the user requested. It names the other back ends that would work.
Error does_not_work(const std::string& tracefs, std::string_view backend, const std::string& why,
                    const CallNeeds& needs) {
  std::vector<std::string> others;
  const auto try_other = [&](const char* name, bool takes_it, const auto& why_not) {
    if (backend != name && takes_it && why_not().empty()) others.push_back(fmt::format("--backend {}", name));
  };
  try_other("bpf", true, [] { return why_not_by_bpf(); });
  try_other("kprobe", needs.functions <= kMostProbedFunctions, [&] { return why_not_by_kprobe_events(tracefs); });
  try_other("ftrace", !needs.memory && (!needs.arguments || records_arguments(tracefs)), [&] {
    const std::string why_not = why_not_by_function_graph(tracefs);
    return why_not.empty() && needs.results ? why_no_results_by_function_graph(tracefs) : why_not;
  });
  return Error(fmt::format("--backend {} does not work here: {}", backend, why), ExitCode::unsupported)
      .hint(
          others.empty()
              ? requirements_text(backend, false)
              : fmt::format("On this kernel, {} works. The default, --backend auto, uses the first back end that works",
                            fmt::join(others, ", or ")));
}

}  // namespace

std::string why_no_functions(const std::string& tracefs) {
  const FileDescriptor file(::open(list_of_functions(tracefs).c_str(), O_RDONLY | O_CLOEXEC));
  return file ? "" : why_refused(errno);
}

std::string traceable_functions(const std::string& tracefs, const std::string& backend) {
  const std::string path = list_of_functions(tracefs);
  if (const std::string why = why_no_functions(tracefs); !why.empty())
    throw refuses(fmt::format("the kernel's list of traceable functions is unreadable: {}", why), backend, true)
        .at({path, {}, {}});
  return read_file(path);
}

std::string why_not_by_bpf() {
  const BpfSupport support = bpf_support();
  return support.missing.empty() ? "" : fmt::format("{}; {}", support.missing, support.way_out);
}

std::string why_not_by_function_graph(const std::string& tracefs) {
  if (!offers_function_graph(tracefs)) return "the kernel has no function_graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)";
  if (!may_access(tracefs + "/instances", W_OK)) return "this process is not permitted to write to tracefs";
  const TracefsInstance instance(tracefs);
  const bool apart = offers_function_graph(instance.path());
  // removed before the end of the function, because the instance for the recording will have the same name
  instance.remove();
  if (apart) return {};
  return "the kernel's function_graph tracer works only in the top-level instance, which kmemtrace does not use; since "
         "Linux 6.11 it works in other instances";
}

std::string why_not_by_kprobe_events(const std::string& tracefs) {
  const std::string file = tracefs + "/kprobe_events";
  if (::access(file.c_str(), W_OK) != 0)
    return errno == ENOENT ? "the kernel has no kprobe events (CONFIG_KPROBE_EVENTS)"
                           : fmt::format("kprobe_events: {}", std::generic_category().message(errno));
  // The file exists only with CONFIG_DEBUG_FS. If it is missing, kprobes count as enabled.
  if (trim(try_read_file("/sys/kernel/debug/kprobes/enabled").value_or("1")) == "0")
    return "kprobes are switched off (/sys/kernel/debug/kprobes/enabled)";
  utsname names{};
  ::uname(&names);
  return probe_machine(names.machine) ? ""
                                      : fmt::format("the registers for arguments on {} are unknown", names.machine);
}

CallBackend choose_call_backend_but_bpf(const std::string& tracefs, const std::string& why_not, CallNeeds needs) {
  const std::string no_bpf = why_not.empty() ? "" : fmt::format("BPF does not work here: {}", why_not);
  std::string no_ftrace = needs.memory ? "function_graph does not read memory" : why_not_by_function_graph(tracefs);
  if (no_ftrace.empty() && needs.results) no_ftrace = why_no_results_by_function_graph(tracefs);
  if (no_ftrace.empty() && needs.arguments && !records_arguments(tracefs)) no_ftrace = kNoArguments;
  const std::string no_kprobes = why_not_by_kprobe_events(tracefs);
  const bool probes_take_all = no_kprobes.empty() && needs.functions <= kMostProbedFunctions;
  // If results are only shown and not used in filters, ftrace is accepted even if it records no results, unless kprobe
  // events can record all functions.
  if (no_ftrace.empty() && probes_take_all && needs.shown_results)
    no_ftrace = why_no_results_by_function_graph(tracefs);
  if (no_ftrace.empty() && probes_take_all && !records_arguments(tracefs)) no_ftrace = kNoArguments;
  if (no_ftrace.empty()) return {CallBackendKind::function_graph, no_bpf};
  if (no_kprobes.empty()) return {CallBackendKind::kprobe_events, fmt::format("{}; {}", no_bpf, no_ftrace)};
  throw refuses(
      fmt::format("no back end works. BPF: {}. ftrace: {}. kprobe events: {}", why_not, no_ftrace, no_kprobes), "auto");
}

CallBackend choose_call_backend(const std::string& tracefs, const std::string& name, CallNeeds needs) {
  if (name == "kprobe") {
    const std::string no_kprobes = why_not_by_kprobe_events(tracefs);
    if (!no_kprobes.empty()) throw does_not_work(tracefs, name, no_kprobes, needs);
    return {CallBackendKind::kprobe_events, {}};
  }
  if (name == "ftrace") {
    if (needs.memory)
      throw Error("--show and texts in --where need the back end bpf or kprobe, because function_graph reads no memory",
                  ExitCode::unsupported)
          .hint("--backend auto selects one of these");
    const std::string no_ftrace = why_not_by_function_graph(tracefs);
    if (!no_ftrace.empty()) throw does_not_work(tracefs, name, no_ftrace, needs);
    const std::string no_results = needs.results ? why_no_results_by_function_graph(tracefs) : "";
    if (!no_results.empty())
      throw Error(fmt::format("Results of calls cannot be recorded here with this back end: {}", no_results),
                  ExitCode::unsupported)
          .hint("--backend bpf and kprobe record results; --backend auto selects one of these");
    if (needs.arguments && !records_arguments(tracefs))
      throw Error(fmt::format("Calls cannot be selected by their arguments here with this back end: {}", kNoArguments),
                  ExitCode::unsupported)
          .hint("--backend bpf and kprobe record arguments; --backend auto selects one of these");
    return {CallBackendKind::function_graph, {}};
  }
  const std::string no_bpf = why_not_by_bpf();
  if (no_bpf.empty()) return {CallBackendKind::bpf, {}};
  if (name == "bpf") throw does_not_work(tracefs, name, no_bpf, needs);
  return choose_call_backend_but_bpf(tracefs, no_bpf, needs);
}

}  // namespace kmt
