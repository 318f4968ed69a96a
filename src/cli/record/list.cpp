// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace list
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/ftrace/persistent.hpp"
#include "capture/tracefs/mount.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "views/json/common.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

struct ListArguments {
  std::string section;  // section to show; if empty, all sections, with a shortened list of events
  bool json = false;
  StyleOptions style;
};

constexpr const char* kListFooter = R"(Examples:
  kmemtrace list                shows what can be recorded here, and why the rest cannot
  kmemtrace list events         lists all events of this kernel, for record -e
  kmemtrace list clocks --json

The command changes nothing. If tracefs is not mounted, it is mounted only for this command.

Exit status:
  0  this kernel can be recorded
  2  wrong usage
  3  this kernel cannot be recorded from here; the reason is shown)";

// Whether this machine can record across a crash.
struct PersistentSupport {
  bool by_kernel = false;
  std::vector<PersistentInstance> instances;
  std::string parameters;  // kernel parameters that prepare this machine
};

PersistentSupport persistent_support(const Capabilities& found) {
  PersistentSupport support;
  support.by_kernel = supports_persistent(try_read_file("/proc/kallsyms").value_or(""));
  if (!found.tracefs.path.empty())
    support.instances = persistent_instances(found.tracefs.path, try_read_file("/proc/cmdline").value_or(""));
  if (support.by_kernel) support.parameters = parameters_for_this_machine(found.limits.cpus_possible);
  return support;
}

std::string persistent_text(const PersistentSupport& support, const TextStyle& style) {
  std::string out = heading("Recording across a crash (record --flight --persistent)", style);
  for (const PersistentInstance& instance : support.instances) {
    const std::string purpose =
        instance.backup_of.empty() ? "" : fmt::format(", the backup of {}", printable(instance.backup_of));
    out += labelled(
        "instance",
        fmt::format("{}{}: {}", printable(instance.name), purpose, say_bytes(buffer_bytes_of(instance.path), style)),
        style);
    if (const std::string use = current_use(instance.path); !use.empty())
      out += labelled("", fmt::format("records now: {} is enabled", use), style);
    else if (const std::uint64_t unread = count_unread(instance.path); unread > 0)
      out += labelled("",
                      fmt::format("has {}; collect them: kmemtrace record --boot --previous -o FILE.kmt",
                                  say_number_of(unread, "event", style)),
                      style);
  }
  if (!support.instances.empty()) return out + labelled("prepared", "yes", style);
  if (!support.by_kernel)
    return out +
           labelled("prepared", "no: this kernel has no ring buffers in reserved memory (needs Linux 6.12)", style);
  return out + labelled("prepared", "no; boot with these kernel parameters:", style) +
         labelled("", support.parameters, style);
}

Json json_persistent(const PersistentSupport& support) {
  Json json = {{"supported", support.by_kernel},
               {"prepared", !support.instances.empty()},
               {"parameters", text_or_null(support.parameters)},
               {"instances", Json::array()}};
  for (const PersistentInstance& instance : support.instances)
    json["instances"].push_back({{"name", instance.name},
                                 {"backup_of", text_or_null(instance.backup_of)},
                                 {"bytes", buffer_bytes_of(instance.path)},
                                 {"unread_events", count_unread(instance.path)},
                                 {"recording", !current_use(instance.path).empty()}});
  return json;
}

bool wants(const ListArguments& options, std::string_view section) {
  return options.section.empty() || options.section == section;
}

std::string kernel_text(const Capabilities& found, const std::vector<std::string>& leftovers, const TextStyle& style) {
  std::string out = heading("Kernel", style);
  out += labelled("release", fmt::format("{} {}", found.kernel, found.machine), style);
  const std::string why_not = found.why_not();
  out += labelled("recording", why_not.empty() ? "possible" : "not possible: " + why_not, style);
  if (!why_not.empty() && ::geteuid() != 0) out += labelled("", "run it as root: sudo kmemtrace list", style);
  if (!found.tracefs.path.empty()) out += labelled("tracefs", found.tracefs.path, style);
  for (const std::string& path : leftovers)
    out +=
        labelled("left over", fmt::format("{}, from a killed recording; remove it with: rmdir {}", path, path), style);
  out += "\n" + heading("Features", style);
  for (const Feature& feature : found.features)
    out += hanging(fmt::format("  {:<3}  {:<21}  ", feature.available ? "yes" : "no", feature.name),
                   feature.available ? feature.purpose : feature.reason, style);
  out += hanging(fmt::format("  {:<3}  {:<21}  ", found.symbols_readable ? "yes" : "no", "symbols"),
                 found.symbols_readable ? "names for call sites" : found.symbols_reason, style);
  return out;
}

std::string events_text(const Capabilities& found, bool all, const TextStyle& style) {
  std::string out = heading("Events that `record` records by default", style);
  for (const EventName& event : found.default_events.present) out += fmt::format("  yes  {}\n", to_string(event));
  for (const MissingEvent& missing : found.default_events.missing)
    out += hanging(fmt::format("  no   {:<26}  ", missing.pattern), missing.reason, style);
  if (found.default_events.present.empty() && found.default_events.missing.empty()) out += "  none can be seen\n";
  if (!all)
    return out + hanging("  ",
                         fmt::format("{} in total; `kmemtrace list events` lists them",
                                     say_number_of(found.events.size(), "event", style)),
                         style);
  out += "\n" + heading("All events", style);
  for (const EventName& event : found.events) out += fmt::format("  {}\n", to_string(event));
  return out;
}

std::string clocks_text(const Capabilities& found, const TextStyle& style) {
  std::string out = heading("Clocks", style);
  for (const std::string& clock : found.clocks.offered) {
    std::string marks;
    if (clock == found.clocks.recommended) marks += "recommended; ";
    if (clock == found.clocks.current) marks += "current clock of the system's buffer; ";
    out += hanging(fmt::format("  {:<9}  ", clock), marks + describe_clock(clock), style);
  }
  if (found.clocks.offered.empty()) return out + "  none can be seen\n";
  return out + labelled("because", fmt::format("{}: {}", found.clocks.recommended, found.clocks.reason), style);
}

std::string limits_text(const Capabilities& found, const TextStyle& style) {
  const BufferLimits& limits = found.limits;
  std::string out = heading("Buffers", style);
  out += labelled("default", say_bytes(limits.default_bytes_per_cpu, style) + " per CPU (record -b)", style);
  out += labelled("at most",
                  fmt::format("{} per CPU (half of the available memory)", say_bytes(limits.most_bytes_per_cpu, style)),
                  style);
  out += labelled("memory", say_bytes(limits.memory_available, style) + " available", style);
  out += labelled("CPUs", fmt::format("{} online of {}", limits.cpus_online, limits.cpus_possible), style);
  if (limits.page_size > 0) out += labelled("page", say_bytes(limits.page_size, style), style);
  return out;
}

std::string text_list(const Capabilities& found, const std::vector<std::string>& leftovers,
                      const ListArguments& options, const TextStyle& style) {
  std::vector<std::string> parts;
  if (options.section.empty()) parts.push_back(kernel_text(found, leftovers, style));
  if (wants(options, "events")) parts.push_back(events_text(found, !options.section.empty(), style));
  if (wants(options, "clocks")) parts.push_back(clocks_text(found, style));
  if (wants(options, "limits")) parts.push_back(limits_text(found, style));
  if (options.section.empty()) parts.push_back(persistent_text(persistent_support(found), style));
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "\n") + part;
  return out;
}

Json json_features(const Capabilities& found) {
  Json list = Json::array();
  for (const Feature& feature : found.features)
    list.push_back({{"name", feature.name},
                    {"purpose", feature.purpose},
                    {"available", feature.available},
                    {"needed", feature.needed},
                    {"reason", text_or_null(feature.reason)}});
  return list;
}

Json json_events(const Capabilities& found) {
  Json json = {{"default", Json::array()}, {"missing", Json::array()}, {"all", Json::array()}};
  for (const EventName& event : found.default_events.present) json["default"].push_back(to_string(event));
  for (const MissingEvent& missing : found.default_events.missing)
    json["missing"].push_back({{"pattern", missing.pattern}, {"reason", missing.reason}});
  for (const EventName& event : found.events) json["all"].push_back(to_string(event));
  return json;
}

Json json_clocks(const TraceClocks& clocks) {
  Json json = {{"recommended", text_or_null(clocks.recommended)},
               {"reason", text_or_null(clocks.reason)},
               {"current", text_or_null(clocks.current)},
               {"clocksource", text_or_null(clocks.clocksource)},
               {"read_ns", clocks.read_ns},
               {"offered", Json::array()}};
  for (const std::string& clock : clocks.offered)
    json["offered"].push_back({{"name", clock}, {"description", text_or_null(describe_clock(clock))}});
  return json;
}

Json json_limits(const BufferLimits& limits) {
  return {{"default_bytes_per_cpu", limits.default_bytes_per_cpu},
          {"most_bytes_per_cpu", limits.most_bytes_per_cpu},
          {"memory_available", limits.memory_available},
          {"cpus_online", limits.cpus_online},
          {"cpus_possible", limits.cpus_possible},
          {"page_size", limits.page_size > 0 ? Json(limits.page_size) : Json(nullptr)}};
}

std::string json_list(const Capabilities& found, const std::vector<std::string>& leftovers,
                      const ListArguments& options) {
  const std::string why_not = found.why_not();
  Json json = {{"schema", "kmemtrace.list/1"},
               {"kernel", found.kernel},
               {"arch", found.machine},
               {"can_record", why_not.empty()},
               {"reason", text_or_null(why_not)}};
  if (options.section.empty()) {
    json["tracefs"] = text_or_null(found.tracefs.path);
    json["features"] = json_features(found);
    json["symbols"] = {{"readable", found.symbols_readable}, {"reason", text_or_null(found.symbols_reason)}};
    json["leftover_instances"] = leftovers;
    json["persistent"] = json_persistent(persistent_support(found));
  }
  if (wants(options, "events")) json["events"] = json_events(found);
  if (wants(options, "clocks")) json["clocks"] = json_clocks(found.clocks);
  if (wants(options, "limits")) json["limits"] = json_limits(found.limits);
  return dump(json);
}

int list(const ListArguments& options) {
  const Capabilities found = probe_capabilities(mount_tracefs_privately());
  const std::string& tracefs = found.tracefs.path;
  const std::vector<std::string> leftovers = tracefs.empty() ? std::vector<std::string>{} : stale_instances(tracefs);
  print_result(options.json ? json_list(found, leftovers, options)
                            : text_list(found, leftovers, options, stdout_style(options.style)));
  return static_cast<int>(found.can_record() ? ExitCode::good : ExitCode::unsupported);
}

}  // namespace

Command list_command() {
  const auto options = std::make_shared<ListArguments>();
  Command command{"list", "Show what can be recorded here (events, clocks, buffers), what is missing, and why.",
                  kListFooter, [options](const Command&) { return list(*options); }};
  command.argument("SECTION", &options->section, "Show only this section: events, clocks or limits",
                   {.words = {"events", "clocks", "limits"}});
  command.flag("--json", &options->json, "Print JSON, schema kmemtrace.list/1");
  add_style_options(command, options->style);
  return command;
}

}  // namespace kmt
