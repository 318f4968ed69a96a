// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/kernel_facts.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/background.hpp"
#include "capture/features/kernel_config.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "capture/sideband/build_ids.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/code/kallsyms_text.hpp"
#include "trace/info/memory_nodes.hpp"

namespace kmt {

namespace {

// Returns the number that follows a prefix; empty for other names.
std::optional<unsigned> numbered(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? parse_number<unsigned>(name.substr(prefix.size())) : std::nullopt;
}

// Reads /sys/devices/system/node/nodeN/cpuM; empty if the kernel has no NUMA.
std::vector<int> nodes_of_cpus() {
  const std::string root = "/sys/devices/system/node";
  std::vector<int> nodes;
  for (const std::string& node_name : names_in(root)) {
    const auto node = numbered(node_name, "node");
    if (!node) continue;
    for (const std::string& cpu_name : names_in(fmt::format("{}/{}", root, node_name))) {
      const auto cpu = numbered(cpu_name, "cpu");
      if (!cpu) continue;
      if (nodes.size() <= *cpu) nodes.resize(*cpu + 1, -1);
      nodes[*cpu] = static_cast<int>(*node);
    }
  }
  return nodes;
}

std::vector<FormatText> ftrace_formats(const std::string& tracefs) {
  std::vector<FormatText> formats;
  for (const std::string& name : names_in(tracefs + "/events/ftrace"))
    if (auto text = try_read_file(fmt::format("{}/events/ftrace/{}/format", tracefs, name)))
      formats.push_back({"ftrace", std::move(*text)});
  return formats;
}

// Returns the start of /proc/kcore with its program headers. Empty if this process may not read it, or if the kernel
// has no such file.
std::vector<std::uint8_t> kcore_headers() {
  constexpr std::size_t kMostBytes = 1 << 16;
  std::vector<std::uint8_t> bytes(kMostBytes);
  const FileDescriptor file(::open("/proc/kcore", O_RDONLY | O_CLOEXEC));
  const ssize_t count = file ? ::pread(file.get(), bytes.data(), bytes.size(), 0) : 0;
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

// Notes which memory is on which node. With several nodes, also notes where the kernel maps the memory.
void note_memory_nodes(std::map<std::string, std::string>& notes) {
  std::string nodes = memory_nodes_note(try_read_file("/proc/zoneinfo").value_or(""));
  std::set<std::string_view> names;
  for (const std::string_view line : split(nodes, '\n'))
    if (!line.empty()) names.insert(line.substr(0, line.find(' ')));
  if (names.size() > 1) {
    static const std::string kDirectMap = direct_map_note(kcore_headers());  // a second call lacks the capability
    if (!kDirectMap.empty()) notes["direct_map"] = kDirectMap;
  }
  if (!nodes.empty()) notes["memory_nodes"] = std::move(nodes);
}

// Returns the kernel options that affect allocators and their tracing.
std::string configuration_that_matters() {
  constexpr std::array kPrefixes = {"SLAB",
                                    "SLUB",
                                    "SLOB",
                                    "MEMCG",
                                    "NUMA",
                                    "PREEMPT",
                                    "HZ",
                                    "KASAN",
                                    "KFENCE",
                                    "KMSAN",
                                    "PAGE_OWNER",
                                    "DEBUG_KMEMLEAK",
                                    "INIT_ON_",
                                    "RANDOM_KMALLOC",
                                    "KMALLOC_PARTITION",
                                    "MEM_ALLOC_PROFILING",
                                    "TRANSPARENT_HUGEPAGE",
                                    "NR_CPUS",
                                    "CMA",
                                    "ZONE_",
                                    "PERCPU_",
                                    "VMAP_STACK",
                                    "BOOTTIME_TRACING"};
  const std::optional<std::string> text = kernel_configuration();
  std::string lines;
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.starts_with("CONFIG_")) continue;
    const std::string_view name = line.substr(7);
    if (std::any_of(kPrefixes.begin(), kPrefixes.end(), [name](const char* p) { return name.starts_with(p); }))
      lines += fmt::format("{}\n", line);
  }
  return lines;
}

// Returns the notes about the machine. docs/formats/kmt.md, "Notes", describes all notes.
std::map<std::string, std::string> notes_of_machine(const KernelDescription& kernel) {
  std::map<std::string, std::string> notes;
  const auto note = [&notes](const char* name, std::string text) {
    if (!text.empty()) notes[name] = std::move(text);
  };
  note("kernel_version", kernel.version);
  note("kernel_arguments", std::string(trim(try_read_file("/proc/cmdline").value_or(""))));
  note("kernel_config", configuration_that_matters());
  note("kernel_build_id", kernel_build_id());
  note("module_build_ids", module_build_ids());
  note("module_sections", module_sections());
  note("modules", try_read_file("/proc/modules").value_or(""));
  note("module_directories", running_module_directories());
  note("boot_id", std::string(trim(try_read_file("/proc/sys/kernel/random/boot_id").value_or(""))));
  note("cpus_online", std::string(trim(try_read_file("/sys/devices/system/cpu/online").value_or(""))));
  note("recorded_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  return notes;
}

// Returns an empty text if the file cannot be read.
KallsymsText read_kallsyms() {
  const std::string path = "/proc/kallsyms";
  try {
    const FileDescriptor file = open_file(path, O_RDONLY);
    std::array<char, 1 << 14> part;
    return KallsymsText::in_columns([&] { return std::string_view(part.data(), read_some(file.get(), part, path)); });
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

KernelDescription describe_running_kernel() {
  KernelDescription kernel;
  utsname names{};
  ::uname(&names);
  kernel.system_name = names.sysname;
  kernel.node_name = names.nodename;
  kernel.release = names.release;
  kernel.version = names.version;
  kernel.machine = names.machine;
  kernel.page_size = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  kernel.cpus = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF));
  kernel.cpu_nodes = nodes_of_cpus();
  kernel.notes = notes_of_machine(kernel);
  return kernel;
}

// Returns the format of an event that lists the names of the GFP flags. This is not an allocation event, because
// readers must not conclude that the trace has allocations. Linux 2.6.38 and later have the event.
std::optional<FormatText> describe_gfp_flags(const std::string& tracefs) {
  auto text = try_read_file(tracefs + "/events/vmscan/mm_vmscan_direct_reclaim_begin/format");
  return text ? std::optional(FormatText{"vmscan", std::move(*text)}) : std::nullopt;
}

KernelDescription describe_kernel(const std::string& tracefs, const std::string& instance,
                                  const std::vector<EventName>& events, const std::string& clock) {
  Background<KallsymsText> kallsyms("a thread that reads the kernel's symbols", read_kallsyms);
  KernelDescription kernel = describe_running_kernel();
  note_memory_nodes(kernel.notes);
  // Since Linux 6.8 each instance has its own sub-buffer size.
  const auto own_header_page = try_read_file(instance + "/events/header_page");
  kernel.header_page = own_header_page ? *own_header_page : read_file(tracefs + "/events/header_page");
  kernel.header_event = read_file(tracefs + "/events/header_event");
  kernel.sub_buffer_bytes = sub_buffer_bytes(kernel.header_page);
  if (kernel.sub_buffer_bytes == 0)
    throw Error("Cannot determine the size of the ring buffer's pages", ExitCode::unsupported);
  if (const std::uint32_t bytes = kernel_long_bytes(kernel.header_page); bytes != 0 && bytes != sizeof(long))
    throw Error(fmt::format("A {}-bit program cannot record a {}-bit kernel", 8 * sizeof(long), 8 * bytes),
                ExitCode::unsupported)
        .hint(fmt::format("Use the recorder for {}", kernel.machine));
  kernel.formats = ftrace_formats(tracefs);
  for (const EventName& event : events)
    kernel.formats.push_back(
        {event.system, read_file(fmt::format("{}/events/{}/{}/format", tracefs, event.system, event.name))});
  kernel.printk_formats = try_read_file(tracefs + "/printk_formats").value_or("");
  kernel.clock = clock;
  const std::string clocks = try_read_file(tracefs + "/trace_clock").value_or("");
  for (const std::string_view choice : split(trim(clocks), ' ')) {
    const std::string_view name = choice.starts_with('[') ? choice.substr(1, choice.size() - 2) : choice;
    kernel.clock_choices += name == clock ? fmt::format("[{}] ", name) : fmt::format("{} ", name);
  }
  kernel.kallsyms = kallsyms.get();
  return kernel;
}

void Tasks::scan_proc() {
  for (const std::string& process : names_in("/proc")) {
    const int group = parse_leading<int>(process).value_or(0);
    if (group == 0) continue;
    const std::string tasks = fmt::format("/proc/{}/task", process);
    for (const std::string& task : names_in(tasks)) {
      const int tid = parse_leading<int>(task).value_or(0);
      if (tid == 0) continue;
      groups_[tid] = group;
      if (const auto comm = try_read_file(fmt::format("{}/{}/comm", tasks, task))) names_[tid] = trim(*comm);
    }
  }
}

void Tasks::add_saved_cmdlines(const std::string& tracefs) {
  const std::string text = try_read_file(tracefs + "/saved_cmdlines").value_or("");
  for (std::string_view line : split(text, '\n')) {
    const auto tid = take_number<int>(line);
    if (!tid || line.empty()) continue;
    if (const std::string_view comm = line.substr(1); comm != "<...>") names_[*tid] = comm;
  }
}

void Tasks::describe(KernelDescription& kernel) const {
  kernel.saved_cmdlines.clear();
  kernel.thread_groups.clear();
  for (const auto& [tid, comm] : names_) kernel.saved_cmdlines += fmt::format("{} {}\n", tid, comm);
  for (const auto& [tid, group] : groups_) kernel.thread_groups += fmt::format("{} {}\n", tid, group);
}

}  // namespace kmt
