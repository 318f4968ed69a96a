// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/previous_boot.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/features/tsc_scale.hpp"
#include "capture/ftrace/boot.hpp"
#include "capture/ftrace/ring_marks.hpp"
#include "capture/ftrace/ring_readers.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/tracefs/buffer_counters.hpp"

namespace kmt {

namespace {

constexpr std::size_t kPagesAtOnce = 256;

// Calls use() for groups of pages of a CPU, in order.
template <typename Use>
void for_each_page_group(const RawCpu& cpu, std::uint32_t page_bytes, Use use) {
  std::vector<std::uint8_t> pages(kPagesAtOnce * page_bytes);
  for (std::uint64_t at = 0; at < cpu.bytes;) {
    const std::size_t wanted = to_size(std::min<std::uint64_t>(pages.size(), cpu.bytes - at));
    const ssize_t got = ::pread(cpu.pages.get(), pages.data(), wanted, static_cast<off_t>(at));
    if (got < 0) throw system_error("Cannot read the collected pages", "");
    if (static_cast<std::size_t>(got) != wanted) throw Error("The collected pages are shorter than expected");
    use(Bytes{pages.data(), wanted});
    at += wanted;
  }
}

struct Contents {
  std::optional<RingMark> mark;
  std::uint64_t first_ticks = UINT64_MAX;
  std::uint64_t last_ticks = 0;
};

// Finds the latest mark, and the times at which the first and the last page start. Ignores the times of empty pages,
// and of pages that start before the previous page of their CPU, because these are damaged.
Contents look_through(const std::vector<RawCpu>& cpus, const KernelDescription& kernel) {
  const PageLayout layout{kernel.byte_order, kernel.long_bytes, kernel.sub_buffer_bytes};
  Contents contents;
  MarkFinder marks(layout, marker_event(kernel.formats));
  for (const RawCpu& cpu : cpus) {
    std::uint64_t latest = 1;
    for_each_page_group(cpu, kernel.sub_buffer_bytes, [&](Bytes pages) {
      for (; pages.size() >= kernel.sub_buffer_bytes; pages = pages.subspan(kernel.sub_buffer_bytes)) {
        const Bytes page = pages.first(kernel.sub_buffer_bytes);
        marks.look(page);
        const PageHeader header = read_page_header(page, layout);
        if (header.data_bytes == 0 || header.time < latest) continue;
        latest = header.time;
        contents.first_ticks = std::min(contents.first_ticks, latest);
        contents.last_ticks = std::max(contents.last_ticks, latest);
      }
    });
  }
  contents.mark = marks.latest();
  return contents;
}

// Returns a text as in the file trace_clock, with brackets around the given clock.
std::string clock_choices(const std::string& choices, const std::string& clock) {
  std::string text;
  for (std::string_view name : split(choices, ' ')) {
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    if (!name.empty()) text += name == clock ? fmt::format("[{}] ", name) : fmt::format("{} ", name);
  }
  return text;
}

std::string value_in(const RingMark& mark, const char* name) {
  const auto found = mark.find(name);
  return found == mark.end() ? "" : found->second;
}

// Moves the kernel's symbols to the addresses of the earlier boot. Removes them if these addresses are unknown. Symbols
// of this boot stay as they are.
void move_symbols(KernelDescription& kernel, const LastBoot& last, const std::optional<RingMark>& mark,
                  const std::string& modules_now, PreviousBoot& boot) {
  std::optional<std::uint64_t> text = last.kernel_text;
  const auto text_now = kernel.kallsyms.kernel_text_address();
  if (last.text_delta && text_now) text = *text_now - *last.text_delta;
  std::map<std::string, std::uint64_t> modules = last.modules;
  if (mark) {
    if (const auto marked = parse_hexadecimal(value_in(*mark, "text"))) text = marked;
    modules.merge(modules_of(*mark));
  }
  if (!boot.is_this_boot)
    kernel.kallsyms =
        text && !boot.other_kernel ? kallsyms_of_earlier_boot(kernel.kallsyms.text(), *text, modules, modules_now) : "";
  boot.has_symbols = !kernel.kallsyms.empty();
  std::set<std::string> loaded;
  for (const LoadedModule& module : parse_modules(modules_now)) loaded.insert(module.name);
  for (const auto& [name, address] : modules)
    if (!loaded.contains(name)) boot.unknown_modules.push_back(name);
}

// Describes the boot whose pages were collected, and passes the pages to the sink.
void pass_on(RecordOutcome& outcome, const LastBoot& last, const RecordHooks& hooks, PreviousBoot& boot) {
  KernelDescription& kernel = outcome.recording.kernel;
  const std::string this_boot = kernel.notes["boot_id"];
  const std::string modules_now = kernel.notes["modules"];
  const std::string version_now = kernel.version;
  const std::string release_now = kernel.release;
  const Contents contents = look_through(outcome.recording.cpus, kernel);
  forget_this_boot(kernel);
  boot.described = contents.mark.has_value();
  if (contents.mark) apply_mark(*contents.mark, kernel);
  boot.is_this_boot = boot.described ? kernel.notes["boot_id"] == this_boot : last.is_current;
  boot.other_kernel = kernel.version != version_now || kernel.release != release_now;
  move_symbols(kernel, last, contents.mark, modules_now, boot);
  kernel.clock_choices = clock_choices(kernel.clock_choices, kernel.clock);
  kernel.clock_scale = scale_of_clock(kernel.clock);
  outcome.seconds = static_cast<double>(kernel.clock_scale.to_ns(contents.last_ticks) -
                                        kernel.clock_scale.to_ns(std::min(contents.first_ticks, contents.last_ticks))) /
                    1e9;
  std::vector<unsigned> cpus;
  for (const RawCpu& cpu : outcome.recording.cpus) cpus.push_back(cpu.cpu);
  if (PageSink* const sink = hooks.described ? hooks.described(kernel, cpus) : nullptr)
    for (const RawCpu& cpu : outcome.recording.cpus)
      for_each_page_group(cpu, kernel.sub_buffer_bytes, [&](Bytes pages) { sink->pages(cpu.cpu, pages); });
}

// Throws Error if the disk has no room for the pages and for the trace. Reading empties the buffer, so this must be
// known before the first page is read.
void refuse_full_disk(const std::string& instance, const std::string& folder) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const std::uint64_t cpus = ring_buffer_cpus(instance).size();
  // the trace also has a description of the kernel, and the recording reserves 1 MiB for each CPU twice
  const std::uint64_t bytes = 2 * buffer_bytes_of(instance) + (2 * cpus + 32) * kMiB;
  const FileDescriptor room = unnamed_file(folder);
  const int code = ::posix_fallocate(room.get(), 0, static_cast<off_t>(bytes));
  if (code != ENOSPC && code != EDQUOT) return;
  throw Error(fmt::format("The disk is full: collecting the events needs {}", humane_bytes(bytes)))
      .hint("Choose another folder with -o. The events are still in the buffer")
      .at({folder, {}, {}});
}

// True if the kernel discarded the events of the boot CPU when it restored the clock. `statistics` belong to this CPU.
bool cleared_boot_cpu(const std::string& statistics, const LastBoot& last, const std::string& clock) {
  return restores_clock(last) && !last.is_current && clock != kClockAtBoot &&
         parse_buffer_counters(statistics).unread == 0;
}

// Gives names to the files of pages, which would otherwise vanish when they are closed. Returns a text that says where
// the pages are.
std::string name_pages(const std::vector<RawCpu>& cpus, const std::string& folder) {
  const std::string prefix = fmt::format("{}/kmemtrace-pages-{}-cpu", folder, ::getpid());
  for (const RawCpu& cpu : cpus) {
    const std::string now = fmt::format("/proc/self/fd/{}", cpu.pages.get());
    const std::string name = fmt::format("{}{}", prefix, cpu.cpu);
    if (::linkat(AT_FDCWD, now.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return fmt::format("The events are lost, because {} cannot be made", name);
  }
  return fmt::format("The buffer is empty now. Its pages are in the files {}*", prefix);
}

}  // namespace

void check_previous_events(const PersistentInstance& instance) {
  if (const std::string use = current_use(instance.path); !use.empty())
    throw Error(
        fmt::format("The instance {} is in use ({}), so the kernel has discarded the events of the previous boot",
                    printable(instance.name), use))
        .hint("Collect the events before anything records into the instance");
  if (count_unread(instance.path) > 0) return;
  throw Error(fmt::format("The instance {} has no events of the previous boot", printable(instance.name)))
      .hint(
          "Nothing was recorded with `kmemtrace record --flight --persistent`, the events were already collected, or "
          "the memory was lost. A power cycle clears memory, and a boot can place the buffer in other memory");
}

RecordOutcome collect_previous_boot(const std::string& tracefs, const PersistentInstance& instance,
                                    const std::vector<EventName>& events, const std::string& scratch_directory,
                                    const RecordHooks& hooks, PreviousBoot& boot) {
  RecordOutcome outcome;
  const LastBoot last = last_boot_of(instance.path);
  // since Linux 6.15, the kernel restores the clock of the earlier boot
  outcome.recording.kernel = describe_kernel(tracefs, instance.path, events, current_clock(instance.path));
  refuse_full_disk(instance.path, scratch_directory);
  // Save the statistics first: reading the events resets them, and the kernel removes an empty backup instance.
  const std::vector<unsigned> cpus = ring_buffer_cpus(instance.path);
  std::map<unsigned, std::string> statistics;
  for (const unsigned cpu : cpus)
    statistics[cpu] = without_time(without_overrun(read_buffer_statistics(instance.path, cpu)));
  if (cleared_boot_cpu(statistics[cpus.front()], last, outcome.recording.kernel.clock)) boot.cleared_cpu = cpus.front();
  outcome.cost.ring_buffer_bytes = buffer_bytes_of(instance.path);

  RingReaders readers(instance.path, outcome.recording.kernel.sub_buffer_bytes, scratch_directory, nullptr);
  readers.start();
  outcome.recording.cpus = readers.finish(outcome.write_error);
  if (!outcome.write_error.empty()) outcome.end = RecordEnd::cannot_write;
  for (RawCpu& cpu : outcome.recording.cpus) {
    cpu.statistics = statistics[cpu.cpu];
    // the following lines are from kmemtrace, not from the kernel
    if (boot.cleared_cpu == cpu.cpu) cpu.statistics += "cleared at boot: 1\n";
    const BufferCounters after = parse_buffer_counters(read_buffer_statistics(instance.path, cpu.cpu));
    if (after.unread > 0) cpu.statistics += fmt::format("not recorded: {}\n", after.unread);
  }
  try {
    pass_on(outcome, last, hooks, boot);
  } catch (Error& error) {
    error.hint(name_pages(outcome.recording.cpus, scratch_directory));
    throw;
  }
  add_own_cost(outcome.cost);
  return outcome;
}

}  // namespace kmt
