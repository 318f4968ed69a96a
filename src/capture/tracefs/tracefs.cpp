// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/tracefs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/tracefs/arguments_option.hpp"
#include "capture/tracefs/mount.hpp"
#include "capture/tracefs/probe_events.hpp"

namespace kmt {

namespace {

// Returns the start time of a process (field 22 of /proc/PID/stat). The PID and the start time together identify a
// process.
std::string start_time(long pid) {
  const std::string stat = try_read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t comm_end = stat.rfind(')');  // a process name may have any characters
  if (comm_end == std::string::npos) return {};
  const std::vector<std::string_view> words = split(std::string_view(stat).substr(comm_end + 1), ' ');
  return words.size() > 20 ? std::string(words[20]) : std::string();
}

bool remove_folder_when_free(const std::string& path, unsigned patience_seconds) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patience_seconds);
  for (;;) {
    // rmdir also disables the instance's events.
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(10ms);
  }
}

// Removes an instance as soon as no other process uses it. Also undoes what the instance has changed for all instances:
// an option, and probes. If another process uses the instance, these changes stay.
bool remove_when_free(const std::string& path, unsigned patience_seconds) {
  const bool has_set_option = has_set_arguments_option(path);
  if (!remove_folder_when_free(path, patience_seconds)) return false;
  const std::string tracefs = path.substr(0, path.rfind("/instances/"));
  if (has_set_option) unset_arguments_option(tracefs);
  remove_probe_events(tracefs, probe_group_of(path));
  return true;
}

// True if the process that made an instance or a probe group has ended. The name contains the ID of this process.
bool is_stale(std::string_view name, char separator) {
  if (name.size() <= kInstancePrefix.size()) return false;
  const std::vector<std::string_view> parts = split(name.substr(kInstancePrefix.size()), separator);
  const auto pid = parts.size() == 2 ? parse_leading<long>(parts[0]) : std::nullopt;
  return pid && start_time(*pid) != parts[1];
}

void disable_instance(const std::string& path) {
  for (const char* name : {"/tracing_on", "/events/enable"}) {
    try {
      write_file(path + name, "0");
    } catch (const Error&) {
      break;  // the instance does not exist any more
    }
  }
}

// Disables a borrowed instance, and removes what a recording has set in it.
void reset_instance(const InstanceUse& use) {
  const std::string enabled = try_read_file(use.path + "/set_event").value_or("");
  disable_instance(use.path);
  std::set<std::string> systems;
  for (const std::string_view event : split(enabled, '\n'))
    if (const std::size_t colon = event.find(':'); colon != event.npos) systems.emplace(event.substr(0, colon));
  const auto try_to = [](const auto& change) {
    try {
      change();
    } catch (const Error&) {  // kernels lack some files; each change is independent of the others
    }
  };
  for (const std::string& system : systems)
    try_to([&] { write_file(fmt::format("{}/events/{}/filter", use.path, system), "0"); });
  for (const char* const list : {"set_event_pid", "set_event_notrace_pid"})
    try_to([&] { open_file(fmt::format("{}/{}", use.path, list), O_WRONLY | O_TRUNC); });
  for (const auto& file : use.restored)
    try_to([&] { write_file(fmt::format("{}/{}", use.path, file.first), file.second); });
}

}  // namespace

std::string usable_tracefs(TracefsUse use) {
  std::string place = find_tracefs().path;
  if (place.empty()) place = mount_tracefs().path;
  const char* const needed = use == TracefsUse::recording ? "/instances" : "/events";
  if (may_access(place + needed, use == TracefsUse::recording ? W_OK : R_OK | X_OK)) return place;
  const int number = errno;
  const bool denied = number == EACCES || number == EPERM;
  const bool there = may_access(place + "/events", F_OK);
  throw Error(fmt::format("Cannot use tracefs: {}", denied            ? "no permission"
                                                    : number == EROFS ? "it is mounted read-only"
                                                    : there           ? "it has no instances"
                                                                      : "something else is mounted over it"),
              ExitCode::unsupported)
      .at({place, {}, {}})
      .hint(denied            ? "Become root (sudo); in a container, record on the host"
            : number == EROFS ? "Mount it for writing (mount -o remount,rw), or record on the host of this container"
            : there           ? "Separate tracing instances require Linux 3.10 or later"
                              : "A container hides it: record on the host");
}

std::string own_instance_path(const std::string& tracefs) {
  return fmt::format("{}/instances/{}{}-{}", tracefs, kInstancePrefix, ::getpid(), start_time(::getpid()));
}

InstanceUse instance_use(const std::string& tracefs, const std::string& borrowed) {
  const std::string own = own_instance_path(tracefs);
  InstanceUse use{borrowed.empty() ? own : borrowed, probe_group_of(own), !borrowed.empty(), {}};
  if (!use.is_borrowed) return use;
  for (const char* const name :
       {"options/markers", "options/overwrite", "options/stacktrace", "options/userstacktrace", "tracing_on"})
    if (const auto text = try_read_file(fmt::format("{}/{}", borrowed, name)))
      use.restored.emplace_back(name, trim(*text));
  return use;
}

TracefsInstance::TracefsInstance(InstanceUse use) : use_(std::move(use)) {
  if (use_.is_borrowed || ::mkdir(use_.path.c_str(), 0750) == 0) return;
  Error error = system_error("Cannot make a tracing instance", use_.path);
  Error unsupported(error.what(), ExitCode::unsupported);
  unsupported.at(error.place());
  unsupported.hint("Only root can do this. Kernel lockdown or a container may forbid it even to root");
  throw unsupported;
}

bool TracefsInstance::remove() const { return ended_ = end_use(use_, 2); }

TracefsInstance::~TracefsInstance() {
  if (!ended_) end_use(use_, 0);
}

void TracefsInstance::set(const std::string& name, const std::string& value) const { write_file(file(name), value); }

bool TracefsInstance::has(const std::string& name) const { return may_access(file(name), F_OK); }

bool remove_instance(const std::string& path) { return remove_when_free(path, 2); }

bool remove_own_instance(const std::string& path, unsigned patience_seconds) {
  disable_instance(path);
  return remove_when_free(path, patience_seconds);
}

bool end_use(const InstanceUse& use, unsigned patience_seconds) {
  if (!use.is_borrowed) return remove_own_instance(use.path, patience_seconds);
  reset_instance(use);
  remove_probe_events(use.path.substr(0, use.path.rfind("/instances/")), use.probe_group);
  return true;
}

std::vector<std::string> stale_instances(const std::string& tracefs) {
  std::vector<std::string> stale;
  for (const std::string& name : names_in(tracefs + "/instances"))
    if (name.starts_with(kInstancePrefix) && is_stale(name, '-'))
      stale.push_back(fmt::format("{}/instances/{}", tracefs, name));
  return stale;
}

void remove_stale_probes(const std::string& tracefs) {
  const std::string text = try_read_file(tracefs + "/kprobe_events").value_or("");
  std::set<std::string> groups;
  for (const ProbeEvent& event : parse_probe_events(text))
    if (event.group.starts_with(probe_group_of(kInstancePrefix)) && is_stale(event.group, '_'))
      groups.insert(event.group);
  for (const std::string& group : groups) {
    std::string instance = group;
    std::ranges::replace(instance, '_', '-');
    remove_when_free(fmt::format("{}/instances/{}", tracefs, instance), 0);
  }
}

}  // namespace kmt
