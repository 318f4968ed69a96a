// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/boot.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/record/messages.hpp"
#include "cli/support/output.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
// default buffer size in bytes per CPU, enough for a boot of several seconds
constexpr std::uint64_t kPreferredBytes = 64 * kMiB;
constexpr std::size_t kLongestLine = 1024;  // in bytes; the smallest COMMAND_LINE_SIZE of all architectures

// Returns the clock for tracing the boot. The default clock of `record` is unsuitable: it ticks in milliseconds until
// the kernel has chosen a clocksource, and then restarts. The clock "global" runs from the start, is ordered across
// CPUs, and matches the times of dmesg.
std::string clock_of(const RecordOptions& options, const RecordRequest& request, const std::string& tracefs) {
  if (!options.clock.empty()) return request.clock;
  const std::vector<std::string> offered = read_clocks(tracefs).offered;
  return std::find(offered.begin(), offered.end(), "global") != offered.end() ? "global" : request.clock;
}

BootPlan plan_boot(const RecordOptions& options, const std::string& tracefs) {
  const RecordRequest request = request_of(options, tracefs);
  BootPlan plan;
  utsname names{};
  ::uname(&names);
  plan.release = names.release;
  plan.events = request.events;
  if (std::none_of(plan.events.begin(), plan.events.end(), [](const auto& event) { return event.system == "kmem"; }))
    throw Error("--boot needs a kmem event, because the event identifies the buffer after the boot")
        .hint("Add one: -e kmem:kmalloc");
  if (options.events.empty()) plan.missing = default_events(tracefs, available_events(tracefs)).missing;
  plan.cpus = std::max(buffer_limits(tracefs).cpus_online, 1u);
  const std::uint64_t share = std::max(request.most_buffer_bytes / plan.cpus / kMiB * kMiB, kMiB);
  plan.buffer_bytes = request.buffer_bytes.value_or(std::min(kPreferredBytes, share));
  plan.clock = clock_of(options, request, tracefs);
  plan.stacks = wants_kernel_stacks(options);
  // The kernel calls these two functions through a table. So if a kernel has them, /proc/kallsyms lists them.
  const std::string symbols = try_read_file("/proc/kallsyms").value_or("");
  plan.has_trace_instance = symbols.find(" boot_instance\n") != std::string::npos;
  plan.has_boot_tracing = symbols.find(" trace_boot_init\n") != std::string::npos;
  return plan;
}

// Returns the size in the syntax of kernel parameters, for example "64M".
std::string kernel_size(std::uint64_t bytes) {
  if (bytes % kMiB == 0) return fmt::format("{}M", bytes / kMiB);
  return fmt::format("{}K", (bytes + 1023) / 1024);
}

std::string join_events(const std::vector<EventName>& events, const char* separator) {
  std::vector<std::string> names;
  names.reserve(events.size());
  for (const EventName& event : events) names.push_back(to_string(event));
  return fmt::format("{}", fmt::join(names, separator));
}

}  // namespace

void check_boot_options(const RecordOptions& options) {
  refuse_with("--boot",
              {{"a command", !options.command.empty()},
               {"-F", options.only_command},
               {"-p", !options.pids.empty()},
               {"--cgroup", !options.cgroup.empty()},
               {"--filter", !options.filters.empty()},
               {"--duration", !options.duration.empty()},
               {"--trigger", !options.trigger.empty()},
               {"--flight", options.flight_given},
               {"--rotate", !options.rotate.empty()},
               {"--keep", options.keep > 0},
               {"--sample-interval", !options.sample_interval.empty()},
               {"--page-owner", options.page_owner},
               {"--remove-stale", options.remove_stale}},
              "A boot is traced with kernel parameters, so only -o, -e, -b, --max-memory, --clock and --stacks apply");
}

std::string describe_boot_plan(const BootPlan& plan) {
  const std::string size = kernel_size(plan.buffer_bytes);
  const std::string options = plan.stacks ? "nooverwrite,stacktrace" : "nooverwrite";
  const std::string events = join_events(plan.events, ",");
  const std::string rest = fmt::format("trace_buf_size={} trace_options={}", size, options);
  const std::string line = fmt::format("trace_event={} {} trace_clock={}", events, rest, plan.clock);
  std::string text =
      fmt::format("# Kernel parameters that trace {} events of kernel memory from early boot, for Linux {}.\n",
                  plan.events.size(), plan.release);
  for (const MissingEvent& event : plan.missing)
    text += fmt::format("# Without {}: {}.\n", event.pattern, event.reason);
  text += fmt::format(
      R"(#
# Boot with the line below. To boot once: press e in GRUB's menu and append it to the line that starts with
# "linux". To boot always: add the line to GRUB_CMDLINE_LINUX in /etc/default/grub, then run update-grub (Debian, Ubuntu)
# or grub2-mkconfig -o /boot/grub2/grub.cfg. Or run grubby --update-kernel=ALL --args="…". On Debian and Ubuntu, you can
# also create the file /etc/default/grub.d/kmemtrace.cfg with GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX …"
#
# Then reboot and run `kmemtrace record --boot -o boot.kmt`, as root. It writes the trace and frees the buffer.
#
# Until then, tracing uses {} of memory per CPU, {} for {} CPUs, and CPU time for each event. When the buffer
# of a CPU is full, later events are lost. Without "nooverwrite", earlier events would be lost. Tracing starts when the
# kernel's allocators are ready, before the other CPUs start. Trace instances created in this boot start with this size.
)",
      humane_bytes(plan.buffer_bytes), humane_bytes(plan.buffer_bytes * plan.cpus), plan.cpus);
  if (line.size() > kLongestLine)
    text += fmt::format(
        "# The line has {} characters. Most architectures accept 2,048, some only 1,024. Use -e to select fewer "
        "events.\n",
        humane_count(line.size()));
  text += line + "\n";
  text += fmt::format(
      R"(#
# Alternative: trace into a separate instance, so that others can use the top-level buffer (since Linux 6.3; {}).
# The clock of the instance is "local", because trace_clock= applies only to the top-level buffer.
# trace_instance={},{} {}
#
# Alternative: use a bootconfig (CONFIG_BOOTTIME_TRACING; {}) with `bootconfig -a FILE INITRD` and
# the parameter "bootconfig". Tracing starts later, with the kernel's core initcalls.
# ftrace.instance.{} {{
#   trace_clock = {}
#   buffer_size = {}
#   options = {}
#   events = "{}"
# }}
)",
      plan.has_trace_instance ? "available in this kernel" : "not available in this kernel", kBootInstance, events,
      rest, plan.has_boot_tracing ? "available in this kernel" : "not available in this kernel", kBootInstance,
      plan.clock, size, plan.stacks ? "nooverwrite, stacktrace" : "nooverwrite", join_events(plan.events, "\", \""));
  return text;
}

std::optional<BootBuffer> boot_buffer_or_plan(const RecordOptions& options) {
  check_boot_options(options);
  const std::string tracefs = usable_tracefs();
  const BootParameters parameters = parse_boot_parameters(read_file("/proc/cmdline"));
  std::optional<BootBuffer> buffer = find_boot_buffer(tracefs, parameters);
  if (buffer) {
    say("This boot was traced: collecting {}\n",
        buffer->top_level ? "the top-level ring buffer, which this boot's parameters use" : buffer->path);
    if (!options.events.empty() || !options.buffer.empty() || !options.clock.empty() || !options.stacks.empty())
      say("note: -e, -b, --clock and --stacks have no effect now; /proc/cmdline has the parameters of this boot\n");
    return buffer;
  }
  const bool asked = !parameters.events.empty() || !parameters.instance_events.empty();
  const std::string text = describe_boot_plan(plan_boot(options, tracefs));
  say("{}: nothing to collect. The kernel parameters to boot with are on stdout\n",
      asked ? "This boot's parameters enable tracing, but its buffer is gone or has been collected"
            : "This boot was not traced (/proc/cmdline)");
  print_result(text);
  return std::nullopt;
}

void give_boot_buffer_back(const BootBuffer& buffer) {
  const std::string tracefs = usable_tracefs();
  if (!release_boot_buffer(tracefs, buffer))
    say_left_open(buffer.path);
  else
    say("The buffer is freed. To stop tracing at boot, remove the parameters\n");
}

}  // namespace kmt
