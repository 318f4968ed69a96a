// SPDX-License-Identifier: GPL-2.0-or-later
// Records the code in the memory of running processes. The code at the start of a recording is read from
// /proc/PID/maps. Later changes are from perf events (mapping_events.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "capture/sideband/build_id_reader.hpp"
#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/mapped_code.hpp"
#include "capture/sideband/perf_rings.hpp"
#include "capture/sideband/process_maps.hpp"
#include "capture/sideband/vdso.hpp"
#include "trace/clock_scale.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt {

// Returns the build ID of an ELF file in hex; empty if the file has none or is not an ELF file.
std::string build_id_of_file(const std::string& path);

class UserMemoryWatch {
 public:
  // Records current and future mappings. Times are in the trace clock `clock`. If the kernel does not report mappings,
  // reason() has the reason, and only the mappings at the start and the end are known.
  UserMemoryWatch(const std::vector<unsigned>& cpus, const std::string& clock, const ClockScale& scale);
  ~UserMemoryWatch();
  UserMemoryWatch(const UserMemoryWatch&) = delete;
  UserMemoryWatch& operator=(const UserMemoryWatch&) = delete;

  // Reads the kernel's records. Call it several times per second, because buffers are small.
  void poll();
  // Call it immediately after a change of CPUs, because the kernel ends the events of a CPU that goes offline. A CPU
  // that came online after `since_ticks` (of the trace clock) had no events until now. For processes that started there
  // and still run, the code is read from /proc. For processes that ran there and ended, the code since then is unknown.
  void cpus_changed(const std::vector<CpuChange>& changes, std::uint64_t since_ticks);
  // Returns the changes since the last call and removes them from this object. This object still remembers the
  // programs, processes and build IDs.
  UserMemory take_changes();
  // Passes the changes since the last call to `taker`. Without a taker, keeps the changes; if there are more than half
  // a million, drops changes of the processes that ended first.
  void pass_on_changes(const std::function<void(UserMemory)>& taker);
  // Returns all changes that take_changes() has not returned, and the current symbols of generated code from
  // /tmp/perf-PID.map.
  UserMemory memory();

  std::uint64_t ring_bytes() const;  // bytes of kernel memory for buffers
  std::string reason() const;
  std::string lost_text() const;  // the note `lost_mappings`; empty if nothing is missing
  std::string late_text() const;  // the note `late_mappings`; empty if nothing came late
  // Returns the note `unanswered_build_ids`; empty if all files answered.
  std::string unanswered_text() const;
  // Returns the number of mappings whose file did not answer with its build ID.
  std::uint64_t unanswered() const { return unanswered_; }
  pid_t thread() const { return build_id_reader_.thread(); }  // the thread that reads files

 private:
  void scan_proc();
  void scan_proc_again(std::optional<std::uint64_t> since_ns);
  void learn(std::size_t from);
  void take_record(Bytes record, std::uint32_t type, std::uint16_t misc);
  void take_mapping(Bytes record, std::uint16_t misc);
  std::optional<uid_t> user_of(std::int32_t process);
  void note_user(const SpaceChange& change);
  void forget_ended();
  SpaceChange mapping(std::int32_t process, std::uint64_t time_ns, const MapsLine& line, std::string build_id);
  std::uint64_t trace_time(std::uint64_t perf_ns) const { return perf_ns + offset_ns_; }
  std::string known_build_id(std::int32_t task, const MapsLine& line);

  std::string clock_;
  ClockScale scale_;
  std::uint64_t offset_ns_ = 0;  // offset from the events' clock to the trace's clock; wraps around
  PerfRings rings_;
  std::uint64_t gaps_ = 0;  // number of times that an online CPU had no events
  std::uint64_t unanswered_ = 0;
  UserMemory memory_;                                      // the changes that were not passed on yet
  std::size_t living_changes_ = 0;                         // number of changes after the last call of forget_ended()
  std::unordered_map<std::int32_t, std::uint64_t> ended_;  // process ID to the time of its end
  // processes that ended since the last change of mapped_
  std::vector<std::pair<std::int32_t, std::uint64_t>> ended_now_;
  MappedCode mapped_;
  std::set<std::int32_t> scanned_;
  BuildIdReader build_id_reader_;
  Vdsos vdsos_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> objects_;  // index of the object by path and build ID
  std::unordered_map<std::int32_t, uid_t> users_;                         // key: process ID; value: user of the process
  std::map<std::string, uid_t> makers_;                                   // user who generated the code, by path
  // Build ID by device, inode and path; std::nullopt if the file's device did not answer.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::string>, std::optional<std::string>> build_ids_;
};

}  // namespace kmt
