// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/process_filter.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "capture/sideband/process_facts.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::set<pid_t> threads_of_all(const std::vector<pid_t>& processes) {
  std::set<pid_t> threads;
  for (const pid_t process : processes)
    for (const pid_t thread : threads_of(std::to_string(process))) threads.insert(thread);
  return threads;
}

// Adds the processes of the cgroup and of all cgroups below it.
void add_processes_of(const std::string& cgroup, std::vector<pid_t>& processes) {
  const std::string text = try_read_file(cgroup + "/cgroup.procs").value_or("");
  for (const std::string_view line : split(text, '\n'))
    if (const auto pid = parse_leading<pid_t>(line)) processes.push_back(*pid);
  for (const std::string& name : names_in(cgroup)) {
    std::error_code code;
    const std::string below = fmt::format("{}/{}", cgroup, name);
    if (fs::is_directory(below, code)) add_processes_of(below, processes);
  }
}

// Adds a folder to `found` only once, even if its file system has several mount points.
void add_folder(const fs::path& place, std::map<std::pair<dev_t, ino_t>, std::string>& found) {
  struct stat status {};
  std::error_code code;
  if (::stat(place.c_str(), &status) == 0 && fs::exists(place / "cgroup.procs", code))
    found.try_emplace({status.st_dev, status.st_ino}, fs::canonical(place));
}

}  // namespace

std::string find_cgroup(const std::string& name, CgroupVersions versions) {
  std::vector<std::string> places;
  if (name.starts_with("/sys/")) places.push_back(name);
  for (const Mount& mount : own_mounts()) {
    if (mount.type != "cgroup" && mount.type != "cgroup2") continue;
    if (name.starts_with(mount.place + '/')) places.push_back(name);
    if (versions == CgroupVersions::second && mount.type != "cgroup2") continue;
    places.push_back(fmt::format("{}/{}", mount.place, name));
    if (versions != CgroupVersions::second) places.push_back(fmt::format("/sys/fs/cgroup/{}", name));
  }
  std::map<std::pair<dev_t, ino_t>, std::string> folders;
  for (const std::string& place : places) add_folder(place, folders);
  if (folders.size() == 1) return folders.begin()->second;
  std::vector<std::string> found;
  found.reserve(folders.size());
  for (const auto& [folder, path] : folders) found.push_back(path);
  std::ranges::sort(found);
  throw Error(found.empty() ? fmt::format("There is no cgroup \"{}\"", printable(name))
                            : fmt::format("There are several cgroups \"{}\"", printable(name)))
      .hint(found.empty()
                ? "Use a folder of the cgroup file system, such as /sys/fs/cgroup/system.slice or system.slice"
                : fmt::format("Choose one of {}", fmt::join(found, ", ")));
}

ProcessFilter::ProcessFilter(const TracefsInstance& instance, const std::vector<pid_t>& pids, std::string cgroup,
                             pid_t idle_task, bool calls)
    : paths_{instance.file("set_event_pid")}, cgroup_(std::move(cgroup)) {
  if (instance.has("options/event-fork")) instance.set("options/event-fork", "1");
  if (calls) {
    paths_.push_back(instance.file("set_ftrace_pid"));
    instance.set("options/function-fork", "1");
  }
  // The kernel selects threads, not processes. All current threads of a process are added here; event-fork adds future
  // threads. The loop repeats until no new thread is found, because threads may start meanwhile.
  std::set<pid_t> followed;
  for (std::set<pid_t> now = threads_of_all(pids); now != followed; now = threads_of_all(pids)) {
    follow(now, followed);
    followed = now;
  }
  if (!pids.empty() && followed.empty())
    throw Error("All processes to record have ended")
        .hint("Name running processes with -p, or record the whole machine");
  if (cgroup_.empty()) return;
  follow({idle_task}, {});
  update();
}

// Compares only with the threads of the previous update(), because the kernel reuses thread IDs.
void ProcessFilter::update() {
  if (cgroup_.empty()) return;
  std::vector<pid_t> processes;
  add_processes_of(cgroup_, processes);
  std::set<pid_t> now = threads_of_all(processes);
  follow(now, in_cgroup_);
  in_cgroup_ = std::move(now);
}

// Adds to the kernel's filters the threads of `threads` that are not in `known`.
void ProcessFilter::follow(const std::set<pid_t>& threads, const std::set<pid_t>& known) const {
  std::string fresh;
  for (const pid_t thread : threads)
    if (!known.contains(thread)) fresh += fmt::format("{} ", thread);
  if (fresh.empty()) return;
  for (const std::string& path : paths_) write_all(open_file(path, O_WRONLY | O_APPEND).get(), fresh, path);
}

}  // namespace kmt
