// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/previous.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/capabilities.hpp"
#include "cli/record/boot.hpp"
#include "cli/support/output.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

void print_persistent_plan(const std::string& tracefs) {
  if (!supports_persistent(try_read_file("/proc/kallsyms").value_or("")))
    throw Error("This kernel has no ring buffers that survive a crash", ExitCode::unsupported)
        .hint("They need Linux 6.12 or later, with reserve_mem= and trace_instance=NAME@PLACE");
  say("This boot has no ring buffer that survives a crash. The kernel parameters that make one are on stdout\n");
  print_result(parameters_for_this_machine(buffer_limits(tracefs).cpus_possible) + "\n");
}

}  // namespace

std::optional<PersistentInstance> previous_events_or_plan(const RecordOptions& options, const std::string& tracefs) {
  check_boot_options(options);
  refuse_with("--previous",
              {{"-e", !options.events.empty()},
               {"-b", !options.buffer.empty()},
               {"--max-memory", !options.max_memory.empty()},
               {"--clock", !options.clock.empty()},
               {"--stacks", !options.stacks.empty()}},
              "The events were recorded already, so only -o applies");
  const std::vector<PersistentInstance> instances = persistent_instances(tracefs, read_file("/proc/cmdline"));
  if (instances.empty()) {
    print_persistent_plan(tracefs);
    return std::nullopt;
  }
  const PersistentInstance instance =
      with_previous_events(instances, choose_persistent(instances, instance_name(options.previous)));
  check_previous_events(instance);
  say("Collecting the events of the previous boot from {}\n", instance.path);
  return instance;
}

std::vector<EventName> likely_events(const std::string& tracefs) {
  RecordOptions options;
  return request_of(options, tracefs).events;
}

void say_previous_boot(const PreviousBoot& boot) {
  if (boot.is_this_boot) say("note: the events are of this boot, not of the previous one: the recorder was killed\n");
  if (!boot.described)
    say("warning: the buffer has no description of the boot. The description was overwritten, or another program "
        "recorded the events. So the names of tasks are unknown, and the trace has the event formats of the running "
        "kernel\n");
  if (boot.cleared_cpu)
    say("warning: the kernel discarded the events of CPU {} at boot, because the events were not recorded with the "
        "clock {}\n",
        *boot.cleared_cpu, kClockAtBoot);
  if (boot.other_kernel)
    say("warning: another kernel recorded the events, so functions have no names\n");
  else if (!boot.has_symbols)
    say("warning: the addresses of the previous boot are unknown, so functions have no names\n");
  if (!boot.unknown_modules.empty() && !boot.other_kernel)
    say("note: functions of these modules have no names, because the modules are not loaded now: {}\n",
        first_of(boot.unknown_modules));
}

}  // namespace kmt
