// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/user_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <set>
#include <span>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/build_id.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/sideband/ended_processes.hpp"

namespace kmt {

namespace {

constexpr std::size_t kRingBytes = 512 << 10;       // a CPU's, a power of two
constexpr std::uint64_t kMostNoteBytes = 64 << 10;  // of a file, in which the build-id is looked for
constexpr std::uint64_t kMostMapBytes = 16 << 20;   // of a perf-PID.map
constexpr std::string_view kVdso = "[vdso]";

// Takes a number of the base off the text.
template <typename Number>
bool take_number(std::string_view& text, Number& number, int base, char behind) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(1);
  return true;
}

// As proc(5) writes a line break in a path.
std::string unescaped(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path.substr(at).starts_with("\\012")) {
      text += '\n';
      at += 3;
    } else {
      text += path[at];
    }
  }
  return text;
}

std::optional<MapsLine> parse_line(std::string_view line) {
  MapsLine parsed;
  if (!take_number(line, parsed.start, 16, '-') || !take_number(line, parsed.end, 16, ' ')) return std::nullopt;
  if (line.size() < 5 || line[2] != 'x' || parsed.end <= parsed.start) return std::nullopt;
  line.remove_prefix(5);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (!take_number(line, parsed.file_offset, 16, ' ') || !take_number(line, major, 16, ':') ||
      !take_number(line, minor, 16, ' '))
    return std::nullopt;
  parsed.device = major << 32 | minor;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), parsed.inode);
  if (code != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  std::string_view path = trim(line);
  if (constexpr std::string_view kGone = " (deleted)"; path.ends_with(kGone)) path.remove_suffix(kGone.size());
  parsed.path = unescaped(path);
  return parsed;
}

// Code that programs make has no file (tools/perf/util/map.h, is_anon_memory()).
bool is_made(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/dev/zero") ||
         path.starts_with("/anon_hugepage") || path.starts_with("[anon") || path.starts_with("[heap]") ||
         path.starts_with("[stack");
}

std::string map_path(std::int32_t process) { return fmt::format("/tmp/perf-{}.map", process); }

// Whatever a program may have put there: no waiting for a pipe.
FileDescriptor open_regular(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.reset();
  return file;
}

std::vector<std::uint8_t> read_at(const FileDescriptor& file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  const ssize_t got = ::pread(file.get(), data.data(), data.size(), static_cast<off_t>(offset));
  data.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return data;
}

template <typename Header>
std::optional<Header> header_at(Bytes bytes, std::uint64_t offset) {
  Header header;
  if (offset > bytes.size() || bytes.size() - offset < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  return header;
}

template <typename ElfHeader, typename ProgramHeader, typename Read>
std::string build_id_in(Bytes begin, const Read& read) {
  const auto elf = header_at<ElfHeader>(begin, 0);
  if (!elf) return {};
  const std::vector<std::uint8_t> headers = read(elf->e_phoff, std::uint64_t{elf->e_phnum} * sizeof(ProgramHeader));
  for (std::uint64_t at = 0; const auto header = header_at<ProgramHeader>(headers, at); at += sizeof(ProgramHeader)) {
    if (header->p_type != PT_NOTE) continue;
    const std::vector<std::uint8_t> notes =
        read(header->p_offset, std::min<std::uint64_t>(header->p_filesz, kMostNoteBytes));
    if (std::string id = gnu_build_id(notes, kHostOrder); !id.empty()) return id;
  }
  return {};
}

// `read(offset, bytes)` gives what there is of them.
template <typename Read>
std::string build_id_of_elf(const Read& read) {
  const std::vector<std::uint8_t> begin = read(0, sizeof(Elf64_Ehdr));
  if (begin.size() < EI_NIDENT || std::memcmp(begin.data(), ELFMAG, SELFMAG) != 0) return {};
  return begin[EI_CLASS] == ELFCLASS32 ? build_id_in<Elf32_Ehdr, Elf32_Phdr>(begin, read)
                                       : build_id_in<Elf64_Ehdr, Elf64_Phdr>(begin, read);
}

// Of this program; the kernel maps whole pages of it.
Bytes vdso_image() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval(3) gives pointers so
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(::getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) return {};
  const std::string maps = try_read_file("/proc/self/maps").value_or("");
  for (const MapsLine& line : code_in_maps(maps))
    if (line.path == kVdso) return {begin, line.end - line.start};
  return {};
}

std::vector<std::int32_t> processes_now() {
  std::vector<std::int32_t> processes;
  for (const std::string& name : names_in("/proc")) {
    std::int32_t process = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (code == std::errc{} && end == name.data() + name.size()) processes.push_back(process);
  }
  return processes;
}

int clock_id(const std::string& clock) {
  if (clock == "mono") return CLOCK_MONOTONIC;
  if (clock == "mono_raw" || clock == "x86-tsc") return CLOCK_MONOTONIC_RAW;
  if (clock == "boot") return CLOCK_BOOTTIME;
  if (clock == "tai") return CLOCK_TAI;
  return -1;  // the scheduler's, which is that of `local`, `global` and `perf`
}

}  // namespace

std::vector<MapsLine> code_in_maps(std::string_view text) {
  std::vector<MapsLine> lines;
  for (const std::string_view line : split(text, '\n'))
    if (auto parsed = parse_line(line)) lines.push_back(std::move(*parsed));
  return lines;
}

ProcessMaps maps_of(std::int32_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  ProcessMaps maps{try_read_file(folder + "/maps").value_or(""), process};
  if (!maps.text.empty()) return maps;
  for (const std::string& name : names_in(folder + "/task")) {
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), maps.task);
    if (code != std::errc{} || maps.task == process) continue;
    maps.text = try_read_file(fmt::format("{}/task/{}/maps", folder, name)).value_or("");
    if (!maps.text.empty()) break;
  }
  return maps;
}

std::string build_id_of_file(const std::string& path) {
  const FileDescriptor file = open_regular(path);
  if (!file) return {};
  return build_id_of_elf([&](std::uint64_t offset, std::uint64_t bytes) { return read_at(file, offset, bytes); });
}

std::string unanswered_text(std::uint64_t mappings) {
  return fmt::format("{} mappings: while recording, the devices of their files did not answer", mappings);
}

std::string vdso_build_id() {
  const Bytes image = vdso_image();
  return build_id_of_elf([&](std::uint64_t offset, std::uint64_t bytes) {
    const Bytes part = offset < image.size() ? image.subspan(offset, std::min(bytes, image.size() - offset)) : Bytes();
    return std::vector<std::uint8_t>(part.begin(), part.end());
  });
}

// The vDSO is linked at address 0, and its file is its memory.
std::string vdso_symbols() {
  const Bytes image = vdso_image();
  std::string lines;
  const auto elf = header_at<Elf64_Ehdr>(image, 0);
  if (!elf || elf->e_ident[EI_CLASS] != ELFCLASS64) return lines;
  const auto section = [&](std::uint64_t index) {
    return header_at<Elf64_Shdr>(image, elf->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (unsigned i = 0; i < elf->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_DYNSYM) continue;
    const auto names = section(symbols->sh_link);
    if (!names || names->sh_offset > image.size() || names->sh_size > image.size() - names->sh_offset) continue;
    const std::string_view texts(reinterpret_cast<const char*>(image.data()) + names->sh_offset, names->sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = header_at<Elf64_Sym>(image, symbols->sh_offset + at);
      if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name >= texts.size()) continue;
      const std::string_view name = texts.substr(symbol->st_name);
      lines += fmt::format("{:x} {:x} {}\n", symbol->st_value, symbol->st_size, name.substr(0, name.find('\0')));
    }
  }
  return lines;
}

struct UserMemoryWatch::Ring {
  Ring(FileDescriptor event_fd, std::size_t page) : event(std::move(event_fd)), page_bytes(page) {
    mapped = ::mmap(nullptr, page_bytes + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
  }
  ~Ring() {
    if (mapped != MAP_FAILED) ::munmap(mapped, page_bytes + kRingBytes);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // give(record, type, misc), in the order in which they were written.
  template <typename Give>
  void read(Give&& give) {
    auto* const control = static_cast<perf_event_mmap_page*>(mapped);
    const std::uint8_t* const data = static_cast<const std::uint8_t*>(mapped) + page_bytes;
    const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
    std::uint64_t tail = control->data_tail;
    while (head - tail >= sizeof(perf_event_header)) {
      const auto copy = [&](void* to, std::uint64_t bytes) {
        for (std::uint64_t done = 0; done < bytes;) {
          const std::uint64_t at = (tail + done) % kRingBytes;
          const std::uint64_t part = std::min(bytes - done, kRingBytes - at);
          std::memcpy(static_cast<std::uint8_t*>(to) + done, data + at, part);
          done += part;
        }
      };
      perf_event_header header;
      copy(&header, sizeof header);
      if (header.size < sizeof header || header.size > head - tail) break;
      record.resize(header.size);
      copy(record.data(), header.size);
      tail += header.size;
      give(Bytes(record).subspan(sizeof header), header.type, header.misc);
    }
    std::atomic_ref(control->data_tail).store(tail, std::memory_order_release);
  }

  FileDescriptor event;
  std::size_t page_bytes;
  void* mapped = MAP_FAILED;
  std::vector<std::uint8_t> record;
};

UserMemoryWatch::UserMemoryWatch(const std::vector<unsigned>& cpus, const std::string& clock, const ClockScale& scale)
    : clock_(clock), scale_(scale), build_id_reader_(build_id_of_file) {
  for (const unsigned cpu : cpus) {
    if (reason_.empty()) open_ring(cpu);
  }
  scan_proc();
}

UserMemoryWatch::~UserMemoryWatch() = default;

std::uint64_t UserMemoryWatch::ring_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [cpu, ring] : rings_) bytes += ring->page_bytes + kRingBytes;
  return bytes;
}

// None where the CPU is off line.
void UserMemoryWatch::open_ring(unsigned cpu) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.build_id = 1;  // since Linux 5.12
  if (const int id = clock_id(clock_); id >= 0) {
    attributes.use_clockid = 1;
    attributes.clockid = id;
  }
  const auto open = [&] {
    return FileDescriptor(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
  };
  FileDescriptor event = open();
  if (!event && errno == EINVAL) {
    attributes.build_id = 0;
    event = open();
  }
  if (!event && errno == ENODEV) return;
  const std::string why = event ? "" : std::strerror(errno);
  std::unique_ptr<Ring> ring;
  if (event) ring = std::make_unique<Ring>(std::move(event), page_bytes);
  if (ring && ring->mapped != MAP_FAILED) {
    rings_[cpu] = std::move(ring);
    return;
  }
  reason_ = ring ? fmt::format("no memory for its buffers: {}", std::strerror(errno)) : why;
  rings_.clear();
}

void UserMemoryWatch::cpu_changed(unsigned cpu, bool online, std::uint64_t since_ticks) {
  if (!reason_.empty()) return;
  poll();
  rings_.erase(cpu);
  if (!online) return;
  open_ring(cpu);
  if (!rings_.contains(cpu)) return;  // it has gone again
  ++gaps_;
  scan_proc_again(scale_.to_ns(since_ticks));
}

void UserMemoryWatch::poll() {
  // The cycles' clock is scaled by a factor that is a little wrong, so its distance to the kernel's changes.
#if defined(__x86_64__) || defined(__i386__)
  if (clock_ == "x86-tsc") {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    offset_ns_ = scale_.to_ns(__builtin_ia32_rdtsc()) - static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 -
                 static_cast<std::uint64_t>(now.tv_nsec);
  }
#endif
  const std::size_t known = memory_.changes.size();
  for (const auto& [cpu, ring] : rings_)
    ring->read([this](Bytes record, std::uint32_t type, std::uint16_t misc) {
      try {
        take_record(record, type, misc);
      } catch (const Error&) {
        ++lost_;  // shorter than this program knows them
      }
    });
  learn(known);
}

// What was added to the changes, of all CPUs. Who ended is known to have ended when all is known that came before.
void UserMemoryWatch::learn(std::size_t from) {
  const auto begin = memory_.changes.begin() + static_cast<std::ptrdiff_t>(from);
  std::ranges::stable_sort(begin, memory_.changes.end(), {}, &SpaceChange::time_ns);
  for (auto change = begin; change != memory_.changes.end(); ++change)
    mapped_.add(*change, change->kind == SpaceChange::Kind::mapped ? memory_.objects[change->object].path : "");
  for (const auto& [process, time_ns] : std::exchange(ended_now_, {})) mapped_.ended(process, time_ns);
}

// The time stands at the end of each, as asked for.
void UserMemoryWatch::take_record(Bytes record, std::uint32_t type, std::uint16_t misc) {
  ByteReader in(record, kHostOrder);
  switch (type) {
    case PERF_RECORD_MMAP2: take_mapping(record, misc); break;
    case PERF_RECORD_LOST:
      in.skip(8);
      lost_ += in.u64();
      break;
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
  std::string path = made ? map_path(process) : line.path;
  if (made) build_id.clear();
  const auto [object, is_new] =
      objects_.try_emplace({path, build_id}, static_cast<std::uint32_t>(memory_.objects.size()));
  if (is_new) {
    const std::string symbols = path == kVdso ? vdso_symbols() : "";
    memory_.objects.push_back({std::move(path), std::move(build_id), symbols});
  }
  return {.time_ns = time_ns,
          .process = process,
          .kind = SpaceChange::Kind::mapped,
          .object = object->second,
          .start = line.start,
          .size = line.end - line.start,
          .file_offset = made                 ? line.start
                         : line.path == kVdso ? 0
                                              : line.file_offset};
}

// A file is read as the task that mapped it sees it, while that lives.
std::string UserMemoryWatch::known_build_id(std::int32_t task, const MapsLine& line) {
  if (line.path == kVdso) return vdso_build_id();
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
    if (!lines.empty()) scanned_.insert(process);
    for (const MapsLine& line : lines)
      memory_.changes.push_back(mapping(process, 0, line, known_build_id(maps.task, line)));
  }
  learn(known);
}

// What nobody told of, as of then. A process of whose files none was told runs another program.
void UserMemoryWatch::scan_proc_again(std::uint64_t since_ns) {
  const std::size_t known = memory_.changes.size();
  for (const std::int32_t process : processes_now()) {
    const ProcessMaps maps = maps_of(process);
    const std::uint64_t time_ns = std::max(since_ns, mapped_.changed_ns(process));
    std::vector<SpaceChange> untold;
    bool is_another = true;
    for (const MapsLine& line : code_in_maps(maps.text)) {
      SpaceChange change = mapping(process, time_ns, line, known_build_id(maps.task, line));
      const std::string& path = memory_.objects[change.object].path;
      if (!mapped_.has(change, path))
        untold.push_back(change);
      else if (path.starts_with('/'))
        is_another = false;
    }
    if (untold.empty()) continue;
    if (is_another)
      memory_.changes.push_back({.time_ns = time_ns, .process = process, .kind = SpaceChange::Kind::executed});
    memory_.changes.insert(memory_.changes.end(), untold.begin(), untold.end());
  }
  learn(known);
}

std::string UserMemoryWatch::lost_text() const {
  std::string text = lost_ == 0 ? "" : fmt::format("{} records", lost_);
  if (gaps_ > 0)
    text +=
        fmt::format("{}a CPU came on line, {} times: programs that began there at once and ended soon are not known",
                    text.empty() ? "" : "; ", gaps_);
  return text;
}

UserMemory UserMemoryWatch::news() {
  poll();
  UserMemory news;
  std::map<std::uint32_t, std::uint32_t> places;  // of the objects that are named
  for (SpaceChange& change : memory_.changes) {
    if (change.kind != SpaceChange::Kind::mapped) continue;
    const auto [place, is_new] = places.try_emplace(change.object, static_cast<std::uint32_t>(news.objects.size()));
    if (is_new) {
      CodeObject& object = memory_.objects[change.object];
      news.objects.push_back({object.path, object.build_id, std::exchange(object.symbols, {})});
    }
    change.object = place->second;
  }
  news.changes = std::exchange(memory_.changes, {});
  sort_by_time(news);
  return news;
}

void UserMemoryWatch::give_news(const std::function<void(UserMemory)>& taker) {
  if (taker) {
    taker(news());
    ended_.clear();
    return;
  }
  poll();
  forget_ended();
}

// And what no process maps any more.
void UserMemoryWatch::forget_ended() {
  constexpr std::size_t kMostChanges = 1 << 19;
  if (memory_.changes.size() <= std::max(kMostChanges, 2 * living_changes_)) return;
  kmt::forget_ended(memory_.changes, ended_, kMostChanges, is_process);
  living_changes_ = memory_.changes.size();  // as good as: what is left anyway is not looked through each time
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
}

UserMemory UserMemoryWatch::memory() {
  poll();
  if (rings_.empty()) scan_proc();
  for (CodeObject& object : memory_.objects) {
    if (!object.path.starts_with("/tmp/perf-")) continue;
    const FileDescriptor file = open_regular(object.path);
    if (!file) continue;
    const std::vector<std::uint8_t> text = read_at(file, 0, kMostMapBytes);
    object.symbols.assign(text.begin(), text.end());
  }
  UserMemory memory = memory_;
  sort_by_time(memory);
  return memory;
}

}  // namespace kmt
