// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/graph.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/call_tracing.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "capture/features/types_file.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/recorded_calls.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/record/messages.hpp"
#include "cli/record/run.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/suggest.hpp"
#include "cli/support/types_option.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/print_format.hpp"
#include "symbols/call_signatures.hpp"
#include "symbols/call_type_source.hpp"
#include "symbols/call_types.hpp"
#include "symbols/kallsyms_lines.hpp"
#include "symbols/traceable_functions.hpp"
#include "trace/calls/recorded_functions.hpp"
#include "trace/calls/refused_functions.hpp"
#include "trace/code/kallsyms_text.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

bool looks_like_file(const std::string& word) {
  constexpr std::array<std::string_view, 4> kEndings = {".kmt", ".dat", ".data", ".txt"};
  return word == "-" || word.find('/') != std::string::npos ||
         std::ranges::any_of(kEndings, [&word](std::string_view ending) { return word.ends_with(ending); });
}

void check_options(const CallRecordOptions& options) {
  if (options.functions.empty())
    throw Error("No function given").hint("kmemtrace graph vfs_read,vfs_write -- cat /etc/hostname");
  if (options.all && (!options.pids.empty() || !options.cgroup.empty()))
    throw Error("-a records the whole machine, but -p and --cgroup only a part of it: choose one");
  if (!options.all && options.pids.empty() && options.cgroup.empty() && options.command.empty())
    throw Error("Choose what to trace: COMMAND, -p, --cgroup or -a")
        .hint(
            fmt::format("-- COMMAND records COMMAND and its child processes, -p PID records a process, and -a records "
                        "the whole machine until Ctrl+C. To show a trace, name a file: there is no file \"{}\"",
                        printable(options.functions.front())));
  if (options.output.ends_with(".dat"))
    throw Error("Calls can only be recorded into a .kmt file, because a trace.dat cannot store their types")
        .hint("Use -o FILE.kmt; `kmemtrace convert` converts the file to trace.dat");
}

RecordOptions record_options(const CallRecordOptions& options, const std::string& path, bool by_bpf) {
  RecordOptions record;
  record.output = path;
  if (by_bpf) record.backend = "bpf";
  // Durations of calls need the clock "mono". Other clocks are coarse, or may give several events the same time.
  record.clock = "mono";
  // these events are always needed for the names of tasks
  if (!options.allocations) record.events = {"task:task_newtask", "task:task_rename"};
  record.pids = options.pids;
  record.cgroup = options.cgroup;
  record.duration = options.duration;
  record.buffer = options.buffer_size;
  record.command = options.command;
  record.only_command = !options.command.empty() && !options.all && options.pids.empty() && options.cgroup.empty();
  record.no_progress = !options.progress;
  return record;
}

void say_namesakes(const std::vector<Namesakes>& namesakes) {
  std::vector<std::string> all;
  std::vector<std::string> some;
  for (const Namesakes& same : namesakes)
    if (same.omitted > 0)
      some.push_back(fmt::format("{} of {} called {}", same.omitted, same.chosen + same.omitted, printable(same.name)));
    else
      all.push_back(fmt::format("{} called {}", same.chosen, printable(same.name)));
  if (!all.empty())
    say("note: several functions have the same name, and the calls of all of them are recorded: {}\n", first_of(all));
  if (!some.empty())
    say("note: some functions with the same name are skipped, because this kernel does not report which of them can be "
        "traced: {}\n",
        first_of(some));
}

std::string count_of(const std::vector<TracedFunction>& functions) {
  return fmt::format("{} function{}", functions.size(), functions.size() == 1 ? "" : "s");
}

std::vector<TraceableFunction> functions_of(const CallRecordOptions& options, const std::string& traceable) {
  const std::string kallsyms = try_read_file("/proc/kallsyms").value_or("");
  if (!has_addresses(kallsyms))
    throw Error("The addresses of the functions are unknown, because /proc/kallsyms shows no addresses",
                ExitCode::unsupported)
        .hint(std::string(kWayToAddresses));
  FunctionChoice choice = choose_functions(traceable, kallsyms, options.functions);
  if (!choice.not_found.empty()) throw no_such_function(choice.not_found.front(), traceable, kallsyms);
  if (choice.functions.size() > kMostRecordedFunctions)
    throw Error(fmt::format("The names match {} functions, but at most {} can be recorded at the same time",
                            choice.functions.size(), kMostRecordedFunctions))
        .hint("Use narrower names ('vfs_*'), or name a module: 'ext4:*'");
  check_modules(choice.functions);
  say_namesakes(choice.namesakes);
  if (choice.functions.empty())
    throw Error("Each of these names belongs to several functions", ExitCode::unsupported)
        .hint("Linux 6.5 and later can distinguish them (available_filter_functions_addrs)");
  return std::move(choice.functions);
}

CheckedMachine this_machine(const std::string& tracefs) {
  CheckedMachine machine;
  utsname names{};
  ::uname(&names);
  machine.arch = names.machine;
  if (const auto format = describe_gfp_flags(tracefs)) {
    Findings findings;
    for (const EventFormat& event : parse_event_formats({*format}, findings))
      machine.gfp_flags = flag_names_of(event.print_format, "gfp_flags");
  }
  return machine;
}

// Returns the calls to record. Each call has the types of its arguments if they are known.
RecordedCalls calls_of(const CallRecordOptions& options, const std::vector<TraceableFunction>& functions) {
  std::vector<CallRequest> requests;
  // Key: name and module of a function. Value: index in `requests`. Functions with the same name have one request.
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const TraceableFunction& function : functions)
    if (index.try_emplace({function.module, function.name}, requests.size()).second)
      requests.push_back({function.name, function.module});
  PreparedCalls prepared;
  const std::string types = types_file().empty() ? kKernelTypes : types_file();
  if (::access(types.c_str(), R_OK) == 0)
    prepared = prepare_calls(requests, options.shown, "/sys/kernel/btf", types);
  else
    say("note: this kernel does not describe its types ({}): arguments and results are shown as numbers\n",
        kKernelTypes);
  RecordedCalls calls;
  calls.types = std::move(prepared.types);
  for (const TraceableFunction& function : functions) {
    TracedFunction& traced =
        calls.functions.emplace_back(TracedFunction{function.name, function.module, function.address, {}});
    const std::size_t at = index.at({function.module, function.name});
    if (at < prepared.functions.size()) traced.values = prepared.functions[at].values;
  }
  return calls;
}

bool can_do_without_bpf(const std::string& tracefs, const CallNeeds& needs) {
  try {
    const CallBackendKind other = choose_call_backend_but_bpf(tracefs, "", needs).kind;
    return other != CallBackendKind::kprobe_events || needs.functions <= kMostProbedFunctions;
  } catch (const Error&) {
    return false;
  }
}

// Returns text such as "10 of 11 functions".
std::string recorded_count(const std::vector<TracedFunction>& functions, const KernelDescription& kernel) {
  const auto note = kernel.notes.find("refused_functions");
  const std::size_t refused = note == kernel.notes.end() ? 0 : parse_refused_functions(note->second).size();
  if (refused == 0) return count_of(functions);
  return fmt::format("{} of {}", functions.size() - std::min(refused, functions.size()), count_of(functions));
}

}  // namespace

Error no_such_function(const std::string& pattern, const std::string& traceable, const std::string& kallsyms) {
  const bool is_glob = has_wildcards(pattern);
  const std::string name = parse_function_pattern(pattern).name;
  Error error(
      fmt::format("This kernel can trace no function {} \"{}\"", is_glob ? "like" : "called", printable(pattern)));
  if (const std::vector<std::string> modules = modules_with(traceable, name); !modules.empty())
    return error.hint(fmt::format("There is such a function in {}",
                                  modules.front().empty()
                                      ? "the kernel itself: give the name without a module"
                                      : fmt::format("{0}: {0}:{1}", modules.front(), printable(name))));
  if (!find_kallsyms_line(kallsyms, [&](const KallsymsLine& line) { return line.name() == name; }).rest.empty())
    return error.hint("The kernel has this function, but does not allow tracing it (notrace)");
  const std::vector<std::string> names = names_of_traceable(traceable);
  std::string twins;
  for (const std::string& other : names)
    if (!is_glob && other.starts_with(name + '.'))
      twins += fmt::format("{}{}", twins.empty() ? "" : ", ", printable(other));
  if (!twins.empty())
    return error.hint(
        fmt::format("Use {} instead: the compiler replaced the function. Its arguments differ, and their types are "
                    "unknown. Inlined calls are not traced",
                    twins));
  // Since Linux 6.10, the functions of the allocators are named NAME_noprof, and NAME is a macro.
  if (const std::string renamed = name + "_noprof"; std::ranges::find(names, renamed) != names.end())
    return error.hint(fmt::format("In this kernel, the function is called {}", printable(renamed)));
  const std::string nearest = nearest_name(name, names);
  return error.hint(
      fmt::format("{}Inlined functions cannot be traced. Functions of a module can be traced only while the module is "
                  "loaded. available_filter_functions in tracefs lists the functions that can be traced",
                  nearest.empty() ? "" : fmt::format("Did you mean \"{}\"? ", printable(nearest))));
}

void check_modules(const std::vector<TraceableFunction>& functions) {
  std::map<std::string_view, std::string_view> modules;
  for (const TraceableFunction& function : functions)
    if (const auto [at, is_new] = modules.try_emplace(function.name, function.module);
        !is_new && at->second != function.module)
      throw Error(fmt::format("{} is in {} and in {}, and one recording cannot distinguish their calls",
                              printable(function.name), at->second.empty() ? "the kernel" : at->second,
                              function.module.empty() ? "the kernel" : function.module))
          .hint(fmt::format("Choose one of them: {}:{}", function.module.empty() ? at->second : function.module,
                            function.name));
}

bool check_conditions(const CallTypes& types, const std::vector<TraceableFunction>& functions,
                      const std::vector<CallCondition>& conditions, const CheckedMachine& machine) {
  if (conditions.empty() || types.btf.empty()) return false;
  const Btf btf(types.btf);
  const BtfSignatures signatures(btf, types.functions, 8 * sizeof(long), machine.arch);
  CallConditions checked(conditions, machine.gfp_flags.empty() ? nullptr : &machine.gfp_flags);
  std::uint32_t number = 0;
  for (const TraceableFunction& function : functions) {
    const auto signature = signatures.signature(function.name);
    checked.add(number++, function.name, signature ? &*signature : nullptr);
  }
  checked.check();
  return checked.compare_text();
}

std::string registers_note(const std::vector<TraceableFunction>& functions, const std::vector<std::string>& shown,
                           const std::vector<std::string>& traceable) {
  constexpr std::array<std::array<std::string_view, 3>, 3> kWrappers = {{
      {"__x64_sys_", "regs->di", "the others are si, dx, r10, r8, r9"},
      {"__ia32_sys_", "regs->bx", "the others are cx, dx, si, di, bp"},
      {"__arm64_sys_", "regs->regs[0]", "the others are regs[1] to regs[5]"},
  }};
  if (std::ranges::any_of(shown, [](const std::string& value) { return value.starts_with("regs"); })) return {};
  for (const TraceableFunction& function : functions)
    for (const auto& [prefix, first, others] : kWrappers) {
      if (!function.name.starts_with(prefix)) continue;
      std::string note = fmt::format(
          "{} has the registers of the program as its argument: --show '{}' shows the first argument of the system "
          "call ({})",
          printable(function.name), first, others);
      const std::string called = "ksys_" + function.name.substr(prefix.size());
      if (std::ranges::find(traceable, called) != traceable.end())
        note += fmt::format("; {} has separate arguments", printable(called));
      return note;
    }
  return {};
}

void add_call_record_options(Command& command, CallRecordOptions& options) {
  command.option("-o,--output", &options.output, "FILE",
                 "Record into FILE.kmt and keep it\nBy default the recording is deleted after it has been shown.");
  command.flag("-a,--all", &options.all,
               "Record calls of all tasks and interrupts, not only of COMMAND and its child processes");
  command.option("--cgroup", &options.cgroup, "CGROUP", "Record calls of tasks in CGROUP and in cgroups below it");
  command.option("-d,--duration", &options.duration, "T", "End the recording after time T: 10s, 1.5s, 200ms, 5m");
  command.option("--buffer-size", &options.buffer_size, "SIZE",
                 "Use a ring buffer of SIZE for each CPU: 512k, 64M (default: the same as in record)\nUse 8k to see "
                 "how lost events are shown.");
  command.option(
      "--show", &options.shown, "VALUE",
      "Record and show a value that an argument points to: 'file->f_path.dentry->d_name.name'\nVALUE is the name of an "
      "argument, followed by any number of ->member, .member and [number]. --show applies to every function that has "
      "an argument of this name. Implies --args. Arguments that are strings are always recorded. Needs the back end "
      "bpf or kprobe.",
      {.repeats = true});
  command.flag("--allocs,!--no-allocs", &options.allocations,
               "Also record the allocations inside calls (default); --no-allocs records only calls", {.once = true});
  command.option("--backend", &options.backend, "BACKEND",
                 "Record calls with BACKEND: bpf, ftrace (function_graph, Linux 6.11), kprobe (at most 256 functions), "
                 "or auto (default)\nauto selects the first back end that can record the request. auto prefers kprobe "
                 "to ftrace if ftrace cannot record arguments.",
                 {.words = {"auto", "bpf", "ftrace", "kprobe"}});
}

std::string asks_for_recording(const CallRecordOptions& options) {
  if (!options.command.empty()) return "a COMMAND";
  if (!options.output.empty()) return "-o";
  if (options.all) return "-a";
  if (!options.cgroup.empty()) return "--cgroup";
  if (!options.duration.empty()) return "-d";
  if (!options.buffer_size.empty()) return "--buffer-size";
  if (!options.shown.empty()) return "--show";
  if (!options.allocations) return "--no-allocs";
  return options.backend == "auto" ? "" : "--backend";
}

bool name_functions(const std::vector<std::string>& words, const std::string& asked) {
  std::error_code code;
  if (asked.empty()) {
    const auto is_file = [&code](const std::string& word) {
      return looks_like_file(word) || std::filesystem::exists(word, code);
    };
    const auto file = std::ranges::find_if(words, is_file);
    const auto other = std::ranges::find_if_not(words, is_file);
    if (file != words.end() && other != words.end())
      throw Error(fmt::format("\"{}\" is a trace, but \"{}\" is not: there is no such file", printable(*file),
                              printable(*other)))
          .hint(fmt::format("To show the calls of a function in the trace: kmemtrace graph {} -F {}; to record calls: "
                            "kmemtrace graph {} -- COMMAND",
                            printable(*file), printable(*other), printable(*other)));
    return !words.empty() && file == words.end();
  }
  for (const std::string& word : words)
    if (looks_like_file(word))
      throw Error(fmt::format("\"{}\" is not a function; {} needs functions", printable(word), asked))
          .hint("kmemtrace graph FILE shows a trace, kmemtrace graph FUNCTION… -- COMMAND records a trace");
  return true;
}

CallTrace::CallTrace(const CallRecordOptions& options) : path_(options.output) {
  outlive_write_signals();
  const InterruptGuard interrupt(SecondSignal::is_ignored);
  check_options(options);
  if (!options.output.empty()) check_output(options.output);
  const bool may_be_bpf = options.backend == "auto" || options.backend == "bpf";
  const std::string tracefs = usable_tracefs(may_be_bpf ? TracefsUse::describing : TracefsUse::recording);
  offer_to_remove_stale(tracefs, false);
  const std::string traceable = traceable_functions(tracefs, options.backend);
  const std::vector<TraceableFunction> functions = functions_of(options, traceable);
  if (options.shows_arguments)
    if (const auto note = registers_note(functions, options.shown, names_of_traceable(traceable)); !note.empty())
      say("note: {}\n", note);
  RecordedCalls calls = calls_of(options, functions);
  const bool compares_text = check_conditions(calls.types, functions, options.conditions, this_machine(tracefs));
  const CallNeeds needs{!options.shown.empty() || compares_text, options.needs_results, functions.size(),
                        !std::ranges::all_of(options.conditions, &CallCondition::of_result), options.shows_results};
  CallBackend backend = choose_call_backend(tracefs, options.backend, needs);
  if (backend.kind == CallBackendKind::bpf) say_types_of_programs();
  calls.has_other_back_end = options.backend == "auto" && can_do_without_bpf(tracefs, needs);
  calls.all_or_none = calls.has_other_back_end && std::ranges::none_of(options.functions, has_wildcards);

  if (options.output.empty()) {
    folder_.emplace();
    path_ = folder_->path() + "/calls.kmt";
  }
  const RecordOptions record_as = record_options(options, path_, backend.kind == CallBackendKind::bpf);
  RecordRequest request = request_of(record_as, tracefs);
  has_types_ = !calls.types.btf.empty();
  request.calls = std::move(calls);
  RecordOutput output(record_as, request);
  bool begun = false;
  RecordSteps steps;
  steps.preparation = fmt::format("Attaching to {}", count_of(request.calls.functions));
  steps.ended = [&] { return interrupt.interrupted(); };
  steps.begins = [&] { begun = true; };
  steps.started = [&] {
    // a person or a script waits for this line, which shows that the recording runs
    if (options.command.empty()) say("Recording calls of {}; Ctrl+C ends it\n", count_of(request.calls.functions));
  };
  steps.record = [&](const RecordHooks& hooks, const OpenSink& open) {
    if (backend.kind == CallBackendKind::bpf) {
      try {
        return record_by_bpf(tracefs, request, hooks, open);
      } catch (const Error& error) {
        if (begun || error.exit_code() != ExitCode::unsupported || options.backend != "auto") throw;
        backend = choose_call_backend_but_bpf(tracefs, error.what(), needs);
      }
    }
    if (backend.kind == CallBackendKind::kprobe_events) {
      request.calls.tracer = CallTracer::kprobe_events;
      remove_stale_probes(tracefs);
    }
    return record(tracefs, request, hooks);
  };
  auto [outcome, written] = run_recording(record_as, output, steps);
  if (folder_) written.path.clear();
  print_summary(record_as, outcome, written,
                options.allocations
                    ? "fewer functions, fewer tasks (-p, --cgroup), --no-allocs, or a larger --buffer-size"
                    : "fewer functions, fewer tasks (-p, --cgroup), or a larger --buffer-size");
  print_notes(outcome);
  if (!backend.why.empty()) outcome.call_backend_reason = backend.why;
  say("Calls of {} were recorded by {}\n", recorded_count(request.calls.functions, outcome.recording.kernel),
      outcome.call_backend);
  if (!outcome.call_backend_reason.empty()) say("{}", hanging("  ", outcome.call_backend_reason, {}));
  exit_status_ = command_exit_status(outcome);
  if (outcome.end == RecordEnd::cannot_write)
    throw Error(fmt::format("The recording ended early: {}", outcome.write_error))
        .hint(folder_ ? "Record to another file system with -o FILE.kmt"
                      : "The trace contains the events recorded before the error");
}

}  // namespace kmt
