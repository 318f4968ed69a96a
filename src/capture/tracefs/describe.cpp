// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/describe.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/capabilities.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code))
    names.push_back(at->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string clock_in_brackets(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

// "0-3,8" to nodes[0..3] and nodes[8].
void assign_node(std::string_view list, int node, std::vector<int>& nodes) {
  for (const std::string_view part : split(trim(list), ',')) {
    unsigned first = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), first);
    if (code != std::errc{}) continue;
    unsigned last = first;
    if (end != part.data() + part.size() && *end == '-') std::from_chars(end + 1, part.data() + part.size(), last);
    for (unsigned cpu = first; cpu <= last && cpu < nodes.size(); ++cpu) nodes[cpu] = node;
  }
}

}  // namespace

std::vector<int> read_cpu_nodes(unsigned cpus) {
  const std::string root = "/sys/devices/system/node";
  if (::access(root.c_str(), F_OK) != 0) return std::vector<int>(cpus, 0);
  std::vector<int> nodes(cpus, -1);
  for (const std::string& name : names_in(root)) {
    constexpr std::string_view kNode = "node";
    int node = 0;
    if (!name.starts_with(kNode)) continue;
    const auto [end, code] = std::from_chars(name.data() + kNode.size(), name.data() + name.size(), node);
    if (code != std::errc{} || end != name.data() + name.size()) continue;
    assign_node(try_read_file(root + "/" + name + "/cpulist").value_or(""), node, nodes);
  }
  return nodes;
}

bool has_addresses(const std::string& kallsyms) {
  // The first symbols of some kernels are offsets near 0: look at many lines, but not at a hundred thousand.
  constexpr std::size_t kEnough = 1 << 20;
  for (const std::string_view line : split(std::string_view(kallsyms).substr(0, kEnough), '\n')) {
    std::uint64_t address = 0;
    std::from_chars(line.data(), line.data() + line.size(), address, 16);
    if (address > UINT16_MAX) return true;
  }
  return false;
}

KernelDescription describe_kernel(const std::string& tracefs, const Instance& instance,
                                  const std::vector<EventName>& events, const std::vector<unsigned>& cpus) {
  KernelDescription kernel;
  utsname name{};
  ::uname(&name);
  kernel.system_name = name.sysname;
  kernel.node_name = name.nodename;
  kernel.release = name.release;
  kernel.version = name.version;
  kernel.machine = name.machine;

  const std::string in_instance = instance.file("events/header_page");
  kernel.header_page =
      read_file(::access(in_instance.c_str(), R_OK) == 0 ? in_instance : tracefs + "/events/header_page");
  kernel.header_event = read_file(tracefs + "/events/header_event");
  kernel.page_size = page_size_of_header_page(kernel.header_page);
  if (kernel.page_size == 0) {
    Error error("Cannot tell the size of the ring buffer's pages", ExitCode::unsupported);
    throw error.at({tracefs + "/events/header_page", {}, {}});
  }
  for (const std::string& own : names_in(tracefs + "/events/ftrace"))
    if (auto text = try_read_file(fmt::format("{}/events/ftrace/{}/format", tracefs, own)))
      kernel.formats.push_back({"ftrace", std::move(*text)});
  for (const EventName& event : events)
    kernel.formats.push_back(
        {event.system, read_file(fmt::format("{}/events/{}/{}/format", tracefs, event.system, event.name))});

  kernel.cpus = cpus.empty() ? 0 : cpus.back() + 1;
  kernel.cpu_nodes = read_cpu_nodes(kernel.cpus);
  kernel.kallsyms = try_read_file("/proc/kallsyms").value_or("");
  kernel.printk_formats = try_read_file(tracefs + "/printk_formats").value_or("");
  kernel.clock_choices = instance.read("trace_clock");
  kernel.clock = clock_in_brackets(kernel.clock_choices);
  return kernel;
}

}  // namespace kmt
