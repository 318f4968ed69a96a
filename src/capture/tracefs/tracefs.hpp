// SPDX-License-Identifier: GPL-2.0-or-later
// Manages kmemtrace's own tracing instances.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

constexpr std::string_view kInstancePrefix = "kmemtrace-";  // prefix of the instances' names

enum class TracefsUse : std::uint8_t {
  recording,   // recording in kmemtrace's own instance
  describing,  // reading the formats of events, for recorders that do not use ftrace
};
// Returns the path of tracefs; mounts tracefs if necessary. Throws Error (unsupported) with the reason and advice.
std::string usable_tracefs(TracefsUse use = TracefsUse::recording);

// Returns the path of this process's instance, which may not exist yet.
std::string own_instance_path(const std::string& tracefs);

// An instance to record into, and the names of what a recording adds to tracefs.
struct InstanceUse {
  std::string path;
  std::string probe_group;   // group of the recording's kprobe events
  bool is_borrowed = false;  // true: the kernel made the instance at boot, and it stays when the recording ends
  // For a borrowed instance: files with their texts before the recording, which end_use() writes again.
  std::vector<std::pair<std::string, std::string>> restored;
};
// Describes the instance at the path `borrowed`. If the path is empty, describes this process's own instance. Call it
// before the recording changes the instance.
InstanceUse instance_use(const std::string& tracefs, const std::string& borrowed);

// An instance with its own ring buffers and events, separate from all other users. It is named after its process, so
// that a later run can recognise an instance that was left over. The destructor removes the instance with all its
// events. A borrowed instance is not made and not removed: its events are disabled instead.
class TracefsInstance {
 public:
  explicit TracefsInstance(const std::string& tracefs) : TracefsInstance(instance_use(tracefs, "")) {}
  explicit TracefsInstance(InstanceUse use);
  TracefsInstance(const TracefsInstance&) = delete;
  TracefsInstance& operator=(const TracefsInstance&) = delete;
  ~TracefsInstance();

  const std::string& path() const { return use_.path; }
  const std::string& probe_group() const { return use_.probe_group; }
  std::string file(const std::string& name) const { return use_.path + "/" + name; }
  void set(const std::string& name, const std::string& value) const;  // throws Error
  bool has(const std::string& name) const;
  // Removes the instance early. False if another process keeps it open; the destructor then tries again.
  bool remove() const;

 private:
  InstanceUse use_;
  mutable bool ended_ = false;  // true: remove() was successful
};

// Removes an instance after its last user has closed it. False if it still exists after two seconds. An instance in use
// is not changed, because it may belong to a recorder that is invisible in this PID namespace.
bool remove_instance(const std::string& path);

// Removes kmemtrace's own instance. Disables it first, so that it uses no CPU time even if it cannot be removed.
bool remove_own_instance(const std::string& path, unsigned patience_seconds);
// Ends the use of an instance: removes it. If it is borrowed, only disables its events, and resets filters and options.
// Its clock and its events stay: a new clock would empty the buffer, and after the death of the recorder, the events
// can still be collected. Removes the probes. False if another process keeps the instance open.
bool end_use(const InstanceUse& use, unsigned patience_seconds);

// Returns the instances whose kmemtrace process has ended.
std::vector<std::string> stale_instances(const std::string& tracefs);

// Removes the probes and instances that ended kmemtrace processes have left, except instances in use.
void remove_stale_probes(const std::string& tracefs);

}  // namespace kmt
