// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/mount.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"

namespace kmt {

namespace {

constexpr const char* kMountPoint = "/sys/kernel/tracing";
constexpr const char* kUnderDebugfs = "/sys/kernel/debug/tracing";

bool exists(const std::string& path) { return may_access(path, F_OK); }

std::string mounted_at() {
  std::string found;
  for (const Mount& mount : own_mounts()) {
    if (mount.type != "tracefs") continue;
    if (mount.place == kMountPoint) return kMountPoint;
    if (found.empty()) found = mount.place;
  }
  return found;
}

bool try_mount() { return ::mount("nodev", kMountPoint, "tracefs", 0, nullptr) == 0; }

}  // namespace

TracefsMount find_tracefs() {
  TracefsMount state;
  state.path = mounted_at();
  if (!state.path.empty()) return state;
  if (exists(std::string(kUnderDebugfs) + "/instances")) {
    state.path = kUnderDebugfs;
    return state;
  }
  const std::optional<std::string> filesystems = try_read_file("/proc/filesystems");
  if (!filesystems) {
    state.reason = "/proc/filesystems cannot be read: /proc is not mounted, or hidden by a container";
  } else if (filesystems->find("\ttracefs\n") == std::string::npos) {
    state.reason = "this kernel has no tracefs (built without CONFIG_TRACING)";
  } else if (!exists(kMountPoint)) {
    state.reason = fmt::format("{} does not exist: /sys is not mounted, or hidden by a container", kMountPoint);
  } else if (::geteuid() != 0) {
    state.reason = "tracefs is not mounted, and only root may mount it";
    state.is_refused = true;
  } else {
    state.reason = "tracefs is not mounted";
    state.mountable = true;
  }
  return state;
}

TracefsMount mount_tracefs() {
  TracefsMount state = find_tracefs();
  if (!state.path.empty()) return state;
  if (!state.mountable) {
    Error error("Cannot trace: " + state.reason, ExitCode::unsupported);
    if (::geteuid() != 0) error.hint("Run kmemtrace as root: sudo kmemtrace …");
    throw error;
  }
  if (!try_mount()) {
    Error error = system_error("Cannot mount tracefs", kMountPoint);
    Error refused(error.what(), ExitCode::unsupported);
    refused.at(error.place());
    refused.hint("The host must give tracefs to the container: -v /sys/kernel/tracing:/sys/kernel/tracing, privileged");
    throw refused;
  }
  state.path = kMountPoint;
  state.reason.clear();
  return state;
}

TracefsMount mount_tracefs_privately() {
  TracefsMount state = find_tracefs();
  if (!state.path.empty() || !state.mountable) return state;
  const bool own = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (own && try_mount()) {
    state.path = kMountPoint;
    return state;
  }
  const int number = errno;
  state.reason =
      fmt::format("tracefs is not mounted and cannot be mounted: {}", std::generic_category().message(number));
  state.is_refused = number == EPERM || number == EACCES;
  state.mountable = false;
  return state;
}

std::string kernel_lockdown() {
  // The content of the file is a text such as "none [integrity] …".
  const std::string text = try_read_file("/sys/kernel/security/lockdown").value_or("");
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const std::string level = text.substr(open + 1, close - open - 1);
  return level == "none" ? std::string{} : level;
}

}  // namespace kmt
