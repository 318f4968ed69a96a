// SPDX-License-Identifier: GPL-2.0-or-later
// Which code lies where in the memory of the running processes: from /proc/PID/maps when a recording begins, then from
// what the kernel tells (mapping_events.hpp).
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

// The build-id of an ELF file, in hex; empty where it has none or is no such file.
std::string build_id_of_file(const std::string& path);

class UserMemoryWatch {
 public:
  // What happens from now on is noted, and what is there already. Times are those of this trace clock. Where the kernel
  // gives no such events, reason() says why, and the memory is that of the beginning and the end.
  UserMemoryWatch(const std::vector<unsigned>& cpus, const std::string& clock, const ClockScale& scale);
  ~UserMemoryWatch();
  UserMemoryWatch(const UserMemoryWatch&) = delete;
  UserMemoryWatch& operator=(const UserMemoryWatch&) = delete;

  // Takes what the kernel has told; several times a second, since its buffers are small.
  void poll();
  // To be called at once: the kernel ends the events of a CPU that goes off line. Of one that has come on line, after
  // `since_ticks` of the trace's clock, there are none before this; what began there meanwhile and still runs is read
  // from /proc, and what ran there and has ended has no code that is known from then on.
  void cpus_changed(const std::vector<CpuChange>& changes, std::uint64_t since_ticks);
  // What it has not given yet: who asks keeps the changes. Programs, processes and build-ids stay known here.
  UserMemory news();
  // The same to who takes it; where nobody does, the news are kept, but for those of half a million that are of
  // processes which ended longest ago.
  void give_news(const std::function<void(UserMemory)>& taker);
  // All that news() has not given; with it the symbols of made code that /tmp/perf-PID.map tells now.
  UserMemory memory();

  std::uint64_t ring_bytes() const;  // kernel memory of its buffers
  std::string reason() const;
  std::string lost_text() const;                              // the note `lost_mappings`; empty: nothing is missing
  std::string late_text() const;                              // the note `late_mappings`; empty: all were told at once
  std::string unanswered_text() const;                        // the note `unanswered_build_ids`; empty: all answered
  std::uint64_t unanswered() const { return unanswered_; }    // mappings whose file did not answer with its build-id
  pid_t thread() const { return build_id_reader_.thread(); }  // that reads files

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
  std::uint64_t offset_ns_ = 0;  // from the events' clock to the trace's; wraps around
  PerfRings rings_;
  std::uint64_t gaps_ = 0;  // times in which a CPU was on line and told nothing
  std::uint64_t unanswered_ = 0;
  UserMemory memory_;                                              // the changes those that were not given away
  std::size_t living_changes_ = 0;                                 // that were left when ended processes were forgotten
  std::unordered_map<std::int32_t, std::uint64_t> ended_;          // processes, since when
  std::vector<std::pair<std::int32_t, std::uint64_t>> ended_now_;  // likewise, since mapped_ was told
  MappedCode mapped_;
  std::set<std::int32_t> scanned_;
  BuildIdReader build_id_reader_;
  Vdsos vdsos_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> objects_;  // by path and build-id
  std::unordered_map<std::int32_t, uid_t> users_;                         // of processes
  std::map<std::string, uid_t> makers_;                                   // of made code, by its path: users
  // By device, inode and path; nothing: there was no answer.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::string>, std::optional<std::string>> build_ids_;
};

}  // namespace kmt
