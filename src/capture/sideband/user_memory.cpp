// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/user_memory.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/confinement/code_file.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/sideband/elf_headers.hpp"
#include "capture/sideband/ended_processes.hpp"
#include "capture/sideband/mapping_events.hpp"
#include "capture/sideband/unreported_code.hpp"
#include "trace/code/made_code.hpp"

namespace kmt {

namespace {

constexpr std::size_t kRingBytes = 512 << 10;  // ring buffer size for each CPU, in bytes

std::vector<std::uint8_t> read_at(const FileDescriptor& file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<std::uint8_t> data(to_size(bytes));
  const ssize_t got = ::pread(file.get(), data.data(), data.size(), static_cast<off_t>(offset));
  data.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return data;
}

}  // namespace

std::string build_id_of_file(const std::string& path) {
  const FileDescriptor file = open_code_file(path, "");
  if (!file) return {};
  return build_id_of_elf([&](std::uint64_t offset, std::uint64_t bytes) { return read_at(file, offset, bytes); });
}

UserMemoryWatch::UserMemoryWatch(const std::vector<unsigned>& cpus, const std::string& clock, const ClockScale& scale)
    : clock_(clock),
      scale_(scale),
      rings_(mapping_events(), cpus, clock, kRingBytes),
      build_id_reader_(build_id_of_file) {
  scan_proc();
}

UserMemoryWatch::~UserMemoryWatch() = default;

std::uint64_t UserMemoryWatch::ring_bytes() const { return rings_.bytes(); }

std::string UserMemoryWatch::reason() const { return rings_.why_none(); }

void UserMemoryWatch::cpus_changed(const std::vector<CpuChange>& changes, std::uint64_t since_ticks) {
  if (!reason().empty()) return;
  poll();
  const std::size_t came = rings_.cpus_changed(changes).size();
  gaps_ += came;
  if (came > 0) scan_proc_again(scale_.to_ns(since_ticks));
}

void UserMemoryWatch::poll() {
  // The kernel's scale of the x86-tsc clock is slightly wrong, so the offset to nanoseconds is updated at each poll.
#if defined(__x86_64__) || defined(__i386__)
  if (clock_ == "x86-tsc") {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    offset_ns_ = scale_.to_ns(__builtin_ia32_rdtsc()) - static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 -
                 static_cast<std::uint64_t>(now.tv_nsec);
  }
#endif
  const std::size_t known = memory_.changes.size();
  rings_.read([this](Bytes record, std::uint32_t type, std::uint16_t misc) { take_record(record, type, misc); });
  learn(known);
}

// Sorts the changes from index `from` on by time, because they are from several CPUs, and adds them to mapped_. After
// that, handles ended processes.
void UserMemoryWatch::learn(std::size_t from) {
  const auto begin = memory_.changes.begin() + static_cast<std::ptrdiff_t>(from);
  std::ranges::stable_sort(begin, memory_.changes.end(), {}, &SpaceChange::time_ns);
  for (auto change = begin; change != memory_.changes.end(); ++change) {
    mapped_.add(*change,
                change->kind == SpaceChange::Kind::mapped ? reported_path(memory_.objects[change->object].path) : "");
    note_user(*change);
  }
  for (const auto& [process, time_ns] : std::exchange(ended_now_, {})) {
    // The kernel also reports an end if an exec changes the credentials of a process. Such a process continues to run
    // (begin_new_exec()).
    if (mapped_.changed_ns(process) <= time_ns) users_.erase(process);
    mapped_.ended(process, time_ns);
  }
}

std::optional<uid_t> UserMemoryWatch::user_of(std::int32_t process) {
  struct stat status {};
  if (::stat(fmt::format("/proc/{}", process).c_str(), &status) == 0) return users_[process] = status.st_uid;
  const auto known = users_.find(process);
  return known == users_.end() ? std::nullopt : std::optional(known->second);
}

// Stores the user of a process after a fork or an exec, and the user who generated mapped code. If a new process has
// already ended, the user of its parent is stored if it is known.
void UserMemoryWatch::note_user(const SpaceChange& change) {
  if (change.kind == SpaceChange::Kind::forked) {
    if (user_of(change.process)) return;
    if (const auto user = user_of(change.parent)) users_[change.process] = *user;
  } else if (change.kind == SpaceChange::Kind::executed) {
    user_of(change.process);
  } else if (change.kind == SpaceChange::Kind::mapped) {
    const std::string& path = memory_.objects[change.object].path;
    if (!is_made_code_map(path)) return;
    if (const auto user = user_of(change.process)) makers_[path] = *user;
  }
}

// Handles a record from a perf ring. perf was requested to write the time at the end of each record.
void UserMemoryWatch::take_record(Bytes record, std::uint32_t type, std::uint16_t misc) {
  ByteReader in(record, kHostOrder);
  switch (type) {
    case PERF_RECORD_MMAP2: take_mapping(record, misc); break;
    case PERF_RECORD_FORK: {
      const auto process = static_cast<std::int32_t>(in.u32());
      const auto parent = static_cast<std::int32_t>(in.u32());
      in.skip(8);
      const std::uint64_t time_ns = trace_time(in.u64());
      if (process == parent) break;
      memory_.changes.push_back(
          {.time_ns = time_ns, .process = process, .kind = SpaceChange::Kind::forked, .parent = parent});
      ended_.erase(process);
      break;
    }
    case PERF_RECORD_EXIT: {
      const auto process = static_cast<std::int32_t>(in.u32());
      in.skip(4);
      const auto task = static_cast<std::int32_t>(in.u32());
      in.skip(4);
      if (task != process) break;
      ended_[process] = trace_time(in.u64());
      ended_now_.emplace_back(process, ended_[process]);
      break;
    }
    case PERF_RECORD_COMM: {
      if ((misc & PERF_RECORD_MISC_COMM_EXEC) == 0) break;
      const auto process = static_cast<std::int32_t>(in.u32());
      in.seek(record.size() - 8);
      memory_.changes.push_back(
          {.time_ns = trace_time(in.u64()), .process = process, .kind = SpaceChange::Kind::executed});
      break;
    }
    default: break;
  }
}

void UserMemoryWatch::take_mapping(Bytes record, std::uint16_t misc) {
  ByteReader in(record, kHostOrder);
  const auto process = static_cast<std::int32_t>(in.u32());
  const auto task = static_cast<std::int32_t>(in.u32());
  MapsLine line;
  line.start = in.u64();
  const std::uint64_t size = in.u64();
  if (size == 0 || process <= 0) return;
  line.end = line.start + size;
  line.file_offset = in.u64();
  const Bytes file = in.bytes(24);
  std::string build_id;
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    const unsigned bytes = std::min<unsigned>(file[0], 20);
    for (const std::uint8_t byte : file.subspan(4, bytes)) build_id += fmt::format("{:02x}", byte);
  } else {
    line.device = std::uint64_t{load<std::uint32_t>(file.data(), kHostOrder)} << 32 |
                  load<std::uint32_t>(file.data() + 4, kHostOrder);
    line.inode = load<std::uint64_t>(file.data() + 8, kHostOrder);
  }
  in.skip(8);
  line.path = in.c_string();
  in.seek(record.size() - 8);
  const std::uint64_t time_ns = trace_time(in.u64());
  if (build_id.empty()) build_id = known_build_id(task, line);
  memory_.changes.push_back(mapping(process, time_ns, line, std::move(build_id)));
}

SpaceChange UserMemoryWatch::mapping(std::int32_t process, std::uint64_t time_ns, const MapsLine& line,
                                     std::string build_id) {
  const bool made = is_made(line.path);
  std::string path = made ? made_code_map_path(process) : line.path;
  if (made) build_id.clear();
  const auto [object, is_new] =
      objects_.try_emplace({path, build_id}, static_cast<std::uint32_t>(memory_.objects.size()));
  if (is_new) {
    const std::string symbols = path == kVdso ? vdsos_.symbols_of(build_id) : "";
    memory_.objects.push_back({std::move(path), std::move(build_id), symbols});
  }
  SpaceChange change = place_of(process, time_ns, line);
  change.object = object->second;
  return change;
}

// Opens the file in the root directory of the task that mapped it, if the task still lives.
std::string UserMemoryWatch::known_build_id(std::int32_t task, const MapsLine& line) {
  if (line.path == kVdso) return vdsos_.at(task, line.start, line.end).build_id;
  if (!line.path.starts_with('/') || is_made(line.path)) return {};
  const auto [known, is_new] = build_ids_.try_emplace({line.device, line.inode, line.path});
  if (is_new)
    known->second = build_id_reader_.read(line.device, {fmt::format("/proc/{}/root{}", task, line.path), line.path});
  if (!known->second) ++unanswered_;
  return known->second.value_or("");
}

void UserMemoryWatch::scan_proc() {
  const std::size_t known = memory_.changes.size();
  for (const std::int32_t process : processes_now()) {
    if (scanned_.contains(process)) continue;
    const ProcessMaps maps = maps_of(process);
    const std::vector<MapsLine> lines = code_in_maps(maps.text);
    if (!lines.empty() && scanned_.insert(process).second) user_of(process);
    for (const MapsLine& line : lines)
      memory_.changes.push_back(mapping(process, 0, line, known_build_id(maps.task, line)));
  }
  learn(known);
}

// Adds mappings that no event has reported, with the time `since_ns`. If `since_ns` is empty, the time is unknown.
void UserMemoryWatch::scan_proc_again(std::optional<std::uint64_t> since_ns) {
  const ProcessCodes look = read_process_code(mapped_, {processes_now, maps_of, [this] { poll(); }});
  const std::size_t known = memory_.changes.size();
  const auto when = [&](std::int32_t process) { return std::max(since_ns.value_or(0), mapped_.began_ns(process)); };
  const auto forget = [&](std::int32_t process) {
    memory_.changes.push_back({.time_ns = when(process), .process = process, .kind = SpaceChange::Kind::executed});
  };
  // The code of these processes gets no names. They may have run other programs since that time, so names of the
  // earlier program might be wrong.
  if (since_ns) std::ranges::for_each(look.gone, forget);
  for (const ProcessCode& code : look.code) {
    const UnreportedCode unreported = unreported_code(mapped_, code);
    if (unreported.lines.empty()) continue;
    if (unreported.is_another) forget(code.process);
    for (const MapsLine& line : unreported.lines)
      memory_.changes.push_back(mapping(code.process, when(code.process), line, known_build_id(code.task, line)));
  }
  learn(known);
}

std::string UserMemoryWatch::lost_text() const { return fmt::format("{}", fmt::join(rings_.losses("records"), "; ")); }

std::string UserMemoryWatch::late_text() const {
  return gaps_ == 0 ? ""
                    : fmt::format(
                          "a CPU came online, {} times: programs that ended there before /proc was read remain unknown",
                          gaps_);
}

std::string UserMemoryWatch::unanswered_text() const {
  return unanswered_ == 0
             ? ""
             : fmt::format("{} mappings: the devices of their files did not answer during the recording", unanswered_);
}

UserMemory UserMemoryWatch::take_changes() {
  poll();
  UserMemory taken;
  // Maps an object's index in memory_ to its index in the returned memory.
  std::map<std::uint32_t, std::uint32_t> places;
  for (SpaceChange& change : memory_.changes) {
    if (change.kind != SpaceChange::Kind::mapped) continue;
    const auto [place, is_new] = places.try_emplace(change.object, static_cast<std::uint32_t>(taken.objects.size()));
    if (is_new) {
      CodeObject& object = memory_.objects[change.object];
      taken.objects.push_back({object.path, object.build_id, std::exchange(object.symbols, {})});
    }
    change.object = place->second;
  }
  taken.changes = std::exchange(memory_.changes, {});
  sort_by_time(taken);
  return taken;
}

void UserMemoryWatch::pass_on_changes(const std::function<void(UserMemory)>& taker) {
  if (taker) {
    taker(take_changes());
    ended_.clear();
    return;
  }
  poll();
  forget_ended();
}

// Forgets ended processes, and objects that no process maps.
void UserMemoryWatch::forget_ended() {
  constexpr std::size_t kMostChanges = 1 << 19;
  if (memory_.changes.size() <= std::max(kMostChanges, 2 * living_changes_)) return;
  kmt::forget_ended(memory_.changes, ended_, kMostChanges, is_process);
  // an approximate number is enough: the next search starts only after many new changes
  living_changes_ = memory_.changes.size();
  const std::vector<CodeObject> objects = std::exchange(memory_.objects, {});
  objects_.clear();
  build_ids_.clear();
  for (SpaceChange& change : memory_.changes) {
    if (change.kind != SpaceChange::Kind::mapped) continue;
    const CodeObject& object = objects[change.object];
    const auto [place, is_new] =
        objects_.try_emplace({object.path, object.build_id}, static_cast<std::uint32_t>(memory_.objects.size()));
    if (is_new) memory_.objects.push_back(object);
    change.object = place->second;
  }
  std::erase_if(makers_, [this](const auto& maker) { return !objects_.contains({maker.first, ""}); });
}

UserMemory UserMemoryWatch::memory() {
  poll();
  if (rings_.empty())
    scan_proc();
  else if (rings_.lacks_some())
    scan_proc_again({});
  // The recorder may read any file. Therefore a symbol file is accepted only if it belongs to the user of the program.
  for (CodeObject& object : memory_.objects) {
    // Without a build ID, this is a 32-bit vDSO whose program ended before the vDSO was read.
    if (object.path == kVdso && object.build_id.empty()) object.symbols = vdsos_.narrow().symbols;
    const auto maker = makers_.find(object.path);
    if (maker == makers_.end()) continue;
    if (const FileDescriptor file = open_made_code_map(object.path, {maker->second}))
      object.symbols = read_made_code_map(file);
  }
  UserMemory memory = memory_;
  sort_by_time(memory);
  return memory;
}

}  // namespace kmt
