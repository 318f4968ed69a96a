// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/process_facts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Finds the parent in "812 (name) S 1 …". A name may have any characters.
std::string_view parent_in(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return "0";
  const auto words = split(stat.substr(name_end + 1), ' ');
  return words.size() > 2 ? words[2] : "0";
}

// Returns the path of the cgroup in version 2, which is in the line "0::PATH".
std::string_view cgroup_in(std::string_view text) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("0::")) return line.substr(3);
  return {};
}

// Returns the PID namespace of a process, such as "pid:[4026531836]".
std::string pid_space_of(const std::string& process) {
  std::array<char, 64> target;
  const ssize_t size = ::readlink((process + "/ns/pid").c_str(), target.data(), target.size());
  if (size <= 6) return "0";
  std::string number(target.data() + 5, static_cast<std::size_t>(size) - 6);
  return is_number(number) ? number : "0";
}

std::string cgroup2_place() {
  for (const Mount& mount : own_mounts())
    if (mount.type == "cgroup2") return mount.place;
  return {};
}

// Returns the path of the cgroup below `folder` that has the process in the line `line` of its cgroup.procs.
std::string find_cgroup_with(std::string_view line, const std::string& folder, const std::string& path,
                             unsigned depth = 0) {
  constexpr unsigned kDeepest = 32;
  const std::string processes = "\n" + try_read_file(folder + path + "/cgroup.procs").value_or("");
  if (processes.find(line) != processes.npos) return path.empty() ? "/" : path;
  if (depth == kDeepest) return {};
  for (const std::string& name : names_in(folder + path)) {
    std::error_code code;
    const std::string below = fmt::format("{}/{}", path, name);
    if (!std::filesystem::is_directory(folder + below, code)) continue;
    if (std::string found = find_cgroup_with(line, folder, below, depth + 1); !found.empty()) return found;
  }
  return {};
}

// Returns the path of the root of this process's cgroup namespace. Empty if it is the root of the mounted tree, or
// unknown.
std::string cgroup_space_root(const std::string& proc, const std::string& place) {
  std::error_code code;
  const std::string space = std::filesystem::read_symlink(proc + "/self/ns/cgroup", code).string();
  if (space == "cgroup:[4026531835]") return {};  // PROC_CGROUP_INIT_INO, include/linux/proc_ns.h
  const std::string cgroups = place.empty() ? cgroup2_place() : place;
  const std::string stat = try_read_file(proc + "/self/stat").value_or("");
  const std::string text = try_read_file(proc + "/self/cgroup").value_or("");
  std::string_view own = cgroup_in(text);
  if (cgroups.empty() || own.empty()) return {};
  std::string found = find_cgroup_with(fmt::format("\n{}\n", stat.substr(0, stat.find(' '))), cgroups, "");
  if (own == "/") own = "";
  if (!found.ends_with(own)) return {};
  found.resize(found.size() - own.size());
  return found == "/" ? std::string() : found;
}

// Returns the line of a process in describe_processes(). Empty if the process has ended.
std::string line_of_process(const std::string& proc, const std::string& pid, const std::string& cgroup_root) {
  const std::string process = fmt::format("{}/{}", proc, pid);
  const auto stat = try_read_file(process + "/stat");
  if (!stat) return {};
  std::string cgroup(cgroup_in(try_read_file(process + "/cgroup").value_or("")));
  if (!cgroup_root.empty() && !cgroup.empty()) {
    if (cgroup == "/") cgroup.clear();
    cgroup = std::filesystem::path(cgroup.insert(0, cgroup_root)).lexically_normal().string();
  }
  return fmt::format("{} {} {} {}\n", pid, parent_in(*stat), pid_space_of(process), cgroup);
}

using Ids = std::set<std::string, std::less<>>;

// Returns the lines of describe_processes(), without those of the processes and threads in `known`.
std::string describe_other_processes(const Ids& known, const std::string& proc, const std::string& cgroups) {
  std::string lines;
  const std::string root = cgroup_space_root(proc, cgroups);
  for (const std::string& pid : names_in(proc)) {
    if (!is_number(pid)) continue;
    if (!known.contains(pid)) {
      const std::string line = line_of_process(proc, pid, root);
      if (line.empty()) continue;
      lines += line;
    }
    for (const std::string& tid : names_in(fmt::format("{}/{}/task", proc, pid)))
      if (tid != pid && is_number(tid) && !known.contains(tid)) lines += fmt::format("{} {}\n", tid, pid);
  }
  return lines;
}

}  // namespace

std::string describe_processes(const std::string& proc, const std::string& cgroups) {
  return describe_other_processes({}, proc, cgroups);
}

std::map<std::uint32_t, bool> running_processes(std::uint64_t begin_ns, const std::string& proc) {
  constexpr std::size_t kState = 1;  // indices of fields, counted after "812 (name)"
  constexpr std::size_t kStartTime = 20;
  const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  std::map<std::uint32_t, bool> running;
  for (const std::string& pid : names_in(proc)) {
    const auto process = parse_number<std::uint32_t>(pid);
    const auto stat = process ? try_read_file(fmt::format("{}/{}/stat", proc, pid)) : std::nullopt;
    if (!stat) continue;
    const std::size_t name_end = stat->rfind(')');
    const auto words = split(std::string_view(*stat).substr(std::min(name_end, stat->size() - 1) + 1), ' ');
    if (words.size() <= kStartTime || words[kState] == "Z" || words[kState] == "X") continue;
    running[*process] = parse_number<std::uint64_t>(words[kStartTime]).value_or(0) > begin_ns / tick_ns;
  }
  return running;
}

ProcessMemory memory_of_process(std::uint32_t process, const std::string& proc) {
  const std::string status = try_read_file(fmt::format("{}/{}/status", proc, process)).value_or("");
  ProcessMemory memory;
  for (const std::string_view line : split(status, '\n')) {
    const std::string_view name = line.substr(0, line.find(':'));
    const bool is_user = name == "VmRSS" || name == "VmSwap";
    if (!is_user && name != "VmPTE") continue;
    const std::size_t number = std::min(line.find_first_of("0123456789"), line.size());
    const std::uint64_t bytes = 1024 * parse_leading<std::uint64_t>(line.substr(number)).value_or(0);  // "812 kB"
    (is_user ? memory.user_bytes : memory.page_table_bytes) += bytes;
  }
  return memory;
}

std::string list_32_bit_processes(const std::string& proc) {
  std::string list;
  for (const std::string& pid : names_in(proc)) {
    if (!is_number(pid)) continue;
    const FileDescriptor program(::open(fmt::format("{}/{}/exe", proc, pid).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, EI_CLASS + 1> begin{};
    if (!program || ::pread(program.get(), begin.data(), begin.size(), 0) != std::ssize(begin)) continue;
    if (std::string_view(begin.data(), SELFMAG) != ELFMAG || begin[EI_CLASS] != ELFCLASS32) continue;
    list += fmt::format("{}{}", list.empty() ? "" : " ", pid);
  }
  return list;
}

void note_processes(std::map<std::string, std::string>& notes) {
  notes["tasks"] = describe_processes();
  if (std::string list = list_32_bit_processes(); !list.empty()) notes["tasks_32_bit"] = std::move(list);
  if (std::string pods = list_pod_names(); !pods.empty()) notes["pods"] = std::move(pods);
}

void note_more_processes(const std::map<std::string, std::string>& notes, std::map<std::string, std::string>& more) {
  Ids known;
  if (const auto tasks = notes.find("tasks"); tasks != notes.end())
    for (const std::string_view line : split(tasks->second, '\n')) known.emplace(line.substr(0, line.find(' ')));
  std::string lines = describe_other_processes(known, "/proc", "");
  if (!lines.empty()) more["tasks_meanwhile"] = std::move(lines);
  if (std::string list = list_32_bit_processes(); !list.empty()) more["tasks_32_bit"] = std::move(list);
}

std::vector<pid_t> threads_of(std::string_view process) {
  std::vector<pid_t> threads;
  for (const std::string& name : names_in(fmt::format("/proc/{}/task", process)))
    if (const auto thread = parse_number<pid_t>(name)) threads.push_back(*thread);
  return threads;
}

std::string name_of_process(std::uint32_t process, const std::string& proc) {
  std::string name = try_read_file(fmt::format("{}/{}/comm", proc, process)).value_or("");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

std::vector<std::string> thread_names_of(std::uint32_t process, std::size_t most, const std::string& proc) {
  const std::string folder = fmt::format("{}/{}/task", proc, process);
  std::set<std::string> names;
  std::size_t read = 0;
  for (const std::string& thread : names_in(folder)) {
    if (++read > most) break;
    std::string name = try_read_file(fmt::format("{}/{}/comm", folder, thread)).value_or("");
    if (name.ends_with('\n')) name.pop_back();
    if (!name.empty()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

// Returns the memory cgroup of a process. The line is "4:memory:/db". Several controllers may share a hierarchy:
// "4:cpu,memory:/db".
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc) {
  const std::string text = try_read_file(fmt::format("{}/{}/cgroup", proc, process)).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t names = line.find(':') + 1;
    const std::size_t end = line.find(':', names);
    if (names == 0 || end == std::string_view::npos) continue;
    const std::vector<std::string_view> controllers = split(line.substr(names, end - names), ',');
    if (std::ranges::find(controllers, "memory") != controllers.end()) return std::string(line.substr(end + 1));
  }
  return {};
}

}  // namespace kmt
