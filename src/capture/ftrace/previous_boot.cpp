// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/previous_boot.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
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
    const std::size_t wanted = std::min<std::uint64_t>(pages.size(), cpu.bytes - at);
    const ssize_t got = ::pread(cpu.pages.get(), pages.data(), wanted, static_cast<off_t>(at));
    if (got < 0 || static_cast<std::size_t>(got) != wanted) throw system_error("Cannot read the collected pages", "");
    use(Bytes{pages.data(), wanted});
    at += wanted;
  }
}

struct Contents {
  std::optional<RingMark> mark;
  std::uint64_t first_ticks = UINT64_MAX;
  std::uint64_t last_ticks = 0;
};

// Finds the latest mark, and the times at which the first and the last page start.
Contents look_through(const std::vector<RawCpu>& cpus, std::uint32_t page_bytes) {
  Contents contents;
  MarkFinder marks;
  for (const RawCpu& cpu : cpus)
    for_each_page_group(cpu, page_bytes, [&](Bytes pages) {
      marks.look({reinterpret_cast<const char*>(pages.data()), pages.size()});
      for (std::size_t at = 0; at + page_bytes <= pages.size(); at += page_bytes) {
        std::uint64_t ticks = 0;
        std::memcpy(&ticks, pages.data() + at, sizeof ticks);
        contents.first_ticks = std::min(contents.first_ticks, ticks);
        contents.last_ticks = std::max(contents.last_ticks, ticks);
      }
    });
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

// Moves the kernel's symbols to the addresses of the earlier boot. Removes them if these addresses are unknown.
void move_symbols(KernelDescription& kernel, const LastBoot& last, const std::optional<RingMark>& mark,
                  const std::string& modules_now, PreviousBoot& boot) {
  std::optional<std::uint64_t> text = last.kernel_text;
  const auto text_now = kernel_text_address(kernel.kallsyms);
  if (last.text_delta && text_now) text = *text_now - *last.text_delta;
  std::map<std::string, std::uint64_t> modules = last.modules;
  if (mark) {
    if (const auto marked = parse_hexadecimal(value_in(*mark, "text"))) text = marked;
    modules.merge(modules_of(*mark));
  }
  kernel.kallsyms =
      text && !boot.other_kernel ? kallsyms_of_earlier_boot(kernel.kallsyms, *text, modules, modules_now) : "";
  boot.has_symbols = !kernel.kallsyms.empty();
  std::set<std::string> loaded;
  for (const LoadedModule& module : parse_modules(modules_now)) loaded.insert(module.name);
  for (const auto& [name, address] : modules)
    if (!loaded.contains(name)) boot.unknown_modules.push_back(name);
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
  const LastBoot last = parse_last_boot_info(read_file(instance.path + "/last_boot_info"));
  KernelDescription& kernel = outcome.recording.kernel;
  // since Linux 6.15, the kernel restores the clock of the earlier boot
  kernel = describe_kernel(tracefs, instance.path, events, current_clock(instance.path));
  const std::string this_boot = kernel.notes["boot_id"];
  const std::string modules_now = kernel.notes["modules"];
  const std::string version_now = kernel.version;
  const std::string release_now = kernel.release;

  RingReaders readers(instance.path, kernel.sub_buffer_bytes, scratch_directory, nullptr);
  readers.start();
  outcome.recording.cpus = readers.finish(outcome.write_error);
  if (!outcome.write_error.empty()) throw Error(outcome.write_error).at({scratch_directory, {}, {}});
  std::vector<unsigned> cpus;
  for (RawCpu& cpu : outcome.recording.cpus) {
    cpu.statistics = read_buffer_statistics(instance.path, cpu.cpu);
    outcome.cost.ring_buffer_bytes += read_buffer_size(instance.path, cpu.cpu);
    cpus.push_back(cpu.cpu);
  }

  const Contents contents = look_through(outcome.recording.cpus, kernel.sub_buffer_bytes);
  forget_this_boot(kernel);
  boot.described = contents.mark.has_value();
  if (contents.mark) apply_mark(*contents.mark, kernel);
  boot.is_this_boot = boot.described && kernel.notes["boot_id"] == this_boot;
  boot.other_kernel = kernel.version != version_now || kernel.release != release_now;
  move_symbols(kernel, last, contents.mark, modules_now, boot);
  kernel.clock_choices = clock_choices(kernel.clock_choices, kernel.clock);
  kernel.clock_scale = scale_of_clock(kernel.clock);
  outcome.seconds = static_cast<double>(kernel.clock_scale.to_ns(contents.last_ticks) -
                                        kernel.clock_scale.to_ns(std::min(contents.first_ticks, contents.last_ticks))) /
                    1e9;

  if (PageSink* const sink = hooks.described ? hooks.described(kernel, cpus) : nullptr)
    for (const RawCpu& cpu : outcome.recording.cpus)
      for_each_page_group(cpu, kernel.sub_buffer_bytes, [&](Bytes pages) { sink->pages(cpu.cpu, pages); });
  add_own_cost(outcome.cost);
  return outcome;
}

}  // namespace kmt
