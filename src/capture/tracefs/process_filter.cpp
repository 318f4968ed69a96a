// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/process_filter.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  for (const std::string& name : names_in(fmt::format("/proc/{}/task", process))) threads.push_back(std::stoi(name));
  return threads;
}

// Of the cgroup and all below it.
void add_processes_of(const std::string& cgroup, std::vector<pid_t>& processes) {
  for (const std::string_view line : split(try_read_file(cgroup + "/cgroup.procs").value_or(""), '\n')) {
    pid_t pid = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), pid).ec == std::errc{}) processes.push_back(pid);
  }
  for (const std::string& name : names_in(cgroup)) {
    std::error_code code;
    if (fs::is_directory(cgroup + "/" + name, code)) add_processes_of(cgroup + "/" + name, processes);
  }
}

}  // namespace

std::string find_cgroup(const std::string& name) {
  std::vector<std::string> places = {name};
  if (!name.starts_with("/sys/"))
    for (const std::string_view line : split(try_read_file("/proc/self/mounts").value_or(""), '\n')) {
      const std::vector<std::string_view> words = split(line, ' ');
      if (words.size() > 2 && (words[2] == "cgroup2" || words[2] == "cgroup"))
        places.push_back(fmt::format("{}/{}", words[1], name));
    }
  for (const std::string& place : places)
    if (fs::exists(place + "/cgroup.procs")) return fs::canonical(place);
  Error error(fmt::format("There is no cgroup \"{}\"", printable(name)));
  error.hint("Name a folder of the cgroup file system, as /sys/fs/cgroup/system.slice or system.slice");
  throw error;
}

ProcessFilter::ProcessFilter(const TracefsInstance& instance, const std::vector<pid_t>& pids, std::string cgroup,
                             pid_t nobody)
    : path_(instance.file("set_event_pid")), cgroup_(std::move(cgroup)) {
  if (instance.has("options/event-fork")) instance.set("options/event-fork", "1");
  // The kernel follows tasks: all threads of a process now, and those to come by event-fork. One that is started while
  // we look is found by looking again.
  for (std::size_t before = followed_.size() + 1; before != followed_.size();) {
    before = followed_.size();
    for (const pid_t pid : pids) add(threads_of(pid));
  }
  if (!pids.empty() && followed_.empty()) throw Error("None of the processes to record runs any more");
  if (cgroup_.empty()) return;
  add({nobody});
  update();
}

void ProcessFilter::update() {
  if (cgroup_.empty()) return;
  std::vector<pid_t> processes;
  add_processes_of(cgroup_, processes);
  for (const pid_t pid : processes) add(threads_of(pid));
}

void ProcessFilter::add(const std::vector<pid_t>& threads) {
  std::string fresh;
  for (const pid_t thread : threads)
    if (followed_.insert(thread).second) fresh += fmt::format("{} ", thread);
  if (!fresh.empty()) write_all(open_file(path_, O_WRONLY | O_APPEND).get(), fresh, path_);
}

}  // namespace kmt
