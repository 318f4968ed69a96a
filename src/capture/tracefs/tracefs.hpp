// SPDX-License-Identifier: GPL-2.0-or-later
// Tracing instances of our own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

constexpr std::string_view kInstancePrefix = "kmemtrace-";  // of the names of our own

enum class TracefsUse : std::uint8_t {
  recording,   // in an instance of our own
  describing,  // what events are like, for those who record by other means
};
// Where tracefs is, mounted if need be. Throws Error (unsupported) that says why it cannot be used and what to do.
std::string usable_tracefs(TracefsUse use = TracefsUse::recording);

// Where this process' instance is, once there is one.
std::string own_instance_path(const std::string& tracefs);

// An instance: ring buffers and events apart from everybody else's. Named after the process that made it, so that a
// later run can tell one that was left behind. Removed, with all its events, when the object goes.
class TracefsInstance {
 public:
  explicit TracefsInstance(const std::string& tracefs);
  TracefsInstance(const TracefsInstance&) = delete;
  TracefsInstance& operator=(const TracefsInstance&) = delete;
  ~TracefsInstance();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void set(const std::string& name, const std::string& value) const;  // throws Error
  bool has(const std::string& name) const;
  // Before its time. False when somebody keeps it open; the destructor tries again.
  bool remove() const;

 private:
  std::string path_;
};

// Removes an instance, waiting for its last user to close it. False when it is still there after two seconds. Changes
// nothing in one that is in use: it may be a recording's that looks dead from this PID namespace.
bool remove_instance(const std::string& path);

// The same for an instance of our own: switches it off first, so that it costs nothing however long it stays.
bool remove_own_instance(const std::string& path, unsigned patience_seconds);

// Instances of kmemtrace processes that are gone.
std::vector<std::string> stale_instances(const std::string& tracefs);

// The probes of such processes, with their instances: but for those that are in use, as above.
void remove_stale_probes(const std::string& tracefs);

}  // namespace kmt
