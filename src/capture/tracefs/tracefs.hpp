// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace's own tracing instances.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

constexpr std::string_view kInstancePrefix = "kmemtrace-";  // prefix of their names

enum class TracefsUse : std::uint8_t {
  recording,   // in an instance of our own
  describing,  // the formats of events, for recorders without ftrace
};
// Returns tracefs' path, after mounting it if necessary. Throws Error (unsupported) with the reason and advice.
std::string usable_tracefs(TracefsUse use = TracefsUse::recording);

// The path of this process' instance, which may not exist yet.
std::string own_instance_path(const std::string& tracefs);

// An instance: ring buffers and events separate from all other users. It has the name of its process, so that a later
// run can recognise a leftover one. The destructor removes it with all its events.
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
  // Removes it early. False if another process keeps it open; the destructor tries again.
  bool remove() const;

 private:
  std::string path_;
};

// Removes an instance after its last user has closed it. False if it still exists after two seconds. An instance in use
// stays unchanged: it may belong to a recorder that is invisible in this PID namespace.
bool remove_instance(const std::string& path);

// The same for an instance of our own: switches it off first, so that a leftover one costs nothing.
bool remove_own_instance(const std::string& path, unsigned patience_seconds);

// Returns instances whose kmemtrace process is gone.
std::vector<std::string> stale_instances(const std::string& tracefs);

// Removes the probes of such processes and their instances, except those in use, as above.
void remove_stale_probes(const std::string& tracefs);

}  // namespace kmt
