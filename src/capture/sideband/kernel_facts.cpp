// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/kernel_facts.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// The page header's last field is the data: its offset and size give the size of a sub-buffer.
std::uint32_t sub_buffer_bytes(const std::string& header_page) {
  const std::size_t data = header_page.find(" data;");
  unsigned offset = 0;
  unsigned size = 0;
  if (data == std::string::npos || std::sscanf(header_page.c_str() + data, " data; offset:%u; size:%u;", &offset,
                                               &size) != 2)  // NOLINT(cert-err34-c)
    return static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  return offset + size;
}

// /sys/devices/system/node/nodeN/cpuM; empty where the kernel has no NUMA.
std::vector<int> nodes_of_cpus() {
  std::vector<int> nodes;
  std::error_code code;
  for (const auto& node : fs::directory_iterator("/sys/devices/system/node", code)) {
    const std::string name = node.path().filename();
    int number = 0;
    if (!name.starts_with("node") ||
        std::from_chars(name.data() + 4, name.data() + name.size(), number).ec != std::errc{})
      continue;
    for (const auto& entry : fs::directory_iterator(node.path(), code)) {
      const std::string cpu_name = entry.path().filename();
      std::size_t cpu = 0;
      if (!cpu_name.starts_with("cpu") ||
          std::from_chars(cpu_name.data() + 3, cpu_name.data() + cpu_name.size(), cpu).ec != std::errc{})
        continue;
      if (nodes.size() <= cpu) nodes.resize(cpu + 1, -1);
      nodes[cpu] = number;
    }
  }
  return nodes;
}

std::vector<FormatText> ftrace_formats(const std::string& tracefs) {
  std::vector<FormatText> formats;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(tracefs + "/events/ftrace", code))
    if (auto text = try_read_file(entry.path() / "format")) formats.push_back({"ftrace", std::move(*text)});
  return formats;
}

}  // namespace

KernelDescription describe_kernel(const std::string& tracefs, const std::vector<EventName>& events,
                                  const std::string& clock) {
  KernelDescription kernel;
  utsname names{};
  ::uname(&names);
  kernel.system_name = names.sysname;
  kernel.node_name = names.nodename;
  kernel.release = names.release;
  kernel.version = names.version;
  kernel.machine = names.machine;
  kernel.header_page = read_file(tracefs + "/events/header_page");
  kernel.header_event = read_file(tracefs + "/events/header_event");
  kernel.page_size = sub_buffer_bytes(kernel.header_page);
  kernel.cpus = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF));
  kernel.cpu_nodes = nodes_of_cpus();
  kernel.formats = ftrace_formats(tracefs);
  for (const EventName& event : events)
    kernel.formats.push_back(
        {event.system, read_file(fmt::format("{}/events/{}/{}/format", tracefs, event.system, event.name))});
  kernel.kallsyms = try_read_file("/proc/kallsyms").value_or("");
  kernel.printk_formats = try_read_file(tracefs + "/printk_formats").value_or("");
  kernel.clock = clock;
  for (const std::string_view choice : split(trim(try_read_file(tracefs + "/trace_clock").value_or("")), ' ')) {
    const std::string_view name = choice.starts_with('[') ? choice.substr(1, choice.size() - 2) : choice;
    kernel.clock_choices += name == clock ? fmt::format("[{}] ", name) : fmt::format("{} ", name);
  }
  return kernel;
}

bool has_addresses(const std::string& kallsyms) {
  for (const std::string_view line : split(kallsyms, '\n'))
    if (line.substr(0, line.find(' ')).find_first_not_of('0') != std::string_view::npos) return true;
  return false;
}

void TaskNames::scan_proc() {
  std::error_code code;
  for (const auto& process : fs::directory_iterator("/proc", code)) {
    const std::string pid = process.path().filename();
    if (pid.empty() || pid.front() < '0' || pid.front() > '9') continue;
    for (const auto& task : fs::directory_iterator(process.path() / "task", code)) {
      const auto comm = try_read_file(task.path() / "comm");
      int tid = 0;
      const std::string name = task.path().filename();
      if (comm && std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc{})
        names_.emplace_back(tid, trim(*comm));
    }
  }
}

void TaskNames::add_saved_cmdlines(const std::string& tracefs) {
  const std::string text = try_read_file(tracefs + "/saved_cmdlines").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    int tid = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), tid);
    if (error != std::errc{} || end == line.data() + line.size()) continue;
    const std::string_view comm = line.substr(static_cast<std::size_t>(end - line.data()) + 1);
    if (comm != "<...>") names_.emplace_back(tid, comm);
  }
}

std::string TaskNames::lines() const {
  std::map<int, std::string> latest;
  for (const auto& [tid, comm] : names_) latest[tid] = comm;
  std::string text;
  for (const auto& [tid, comm] : latest) text += fmt::format("{} {}\n", tid, comm);
  return text;
}

}  // namespace kmt
