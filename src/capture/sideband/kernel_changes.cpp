// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/kernel_changes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/build_id.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 250ms;
constexpr auto kQuiet = 1s;  // if nothing changes for this long, symbols are read in advance
constexpr int kReceiveBytes = 4 << 20;
// Maximum size of the symbols of modules, in bytes. Limits the trace's size if modules are loaded and removed
// repeatedly.
constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::size_t kMostChanges = 4096;
// Smaller jumps of the wall clock are adjustments, which are not recorded.
constexpr std::int64_t kMostSlewNs = 1'000'000'000;
constexpr unsigned kPieces = 4;  // number of pieces of /proc/kallsyms to read at once; a piece is some pages

FileDescriptor open_uevents() {
  FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!socket) return socket;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes, sizeof kReceiveBytes);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = 1;  // group of the kernel's own uevents
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  return socket;
}

std::int64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Returns how long the machine has been suspended since its boot. Boot time continues while the machine is suspended;
// monotonic time does not.
std::int64_t suspended_ns() { return nanoseconds_of(CLOCK_BOOTTIME) - nanoseconds_of(CLOCK_MONOTONIC); }

// Returns the difference between the wall clock and boot time. The difference hardly changes unless the wall clock is
// set.
std::int64_t wall_offset_ns() { return nanoseconds_of(CLOCK_REALTIME) - nanoseconds_of(CLOCK_BOOTTIME); }

std::set<unsigned> cpus_in(std::string_view list) {
  std::set<unsigned> cpus;
  for (std::string_view range : split(trim(list), ',')) {
    const auto first = take_number<unsigned>(range);
    if (!first) continue;
    const unsigned last = range.empty() ? *first : parse_leading<unsigned>(range.substr(1)).value_or(*first);
    for (unsigned cpu = *first; cpu <= last && cpu < 0x10000; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::set<unsigned> online_cpus() { return cpus_in(try_read_file("/sys/devices/system/cpu/online").value_or("")); }

std::uint64_t section(const std::string& module, const char* name) {
  const std::string text =
      std::string(trim(try_read_file(fmt::format("/sys/module/{}/sections/{}", module, name)).value_or("")));
  return parse_hexadecimal(text).value_or(0);
}

std::string build_id_of(const std::string& module) {
  const std::string text = try_read_file(fmt::format("/sys/module/{}/notes/.note.gnu.build-id", module)).value_or("");
  const std::string id = gnu_build_id({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, kHostOrder);
  return id.empty() ? "-" : id;
}

// Returns the lines of a module's code symbols, such as "ffffffffc0481000 t brd_init  [brd]".
std::string code_lines(std::string_view kallsyms, const std::string& module) {
  const std::string in_brackets = fmt::format("\t[{}]", module);
  std::string lines;
  for (std::size_t at = kallsyms.find(in_brackets); at != std::string_view::npos;
       at = kallsyms.find(in_brackets, at + 1)) {
    const std::size_t begin = kallsyms.rfind('\n', at) + 1;  // if rfind() returns npos, npos + 1 is 0
    const std::string_view line = kallsyms.substr(begin, at + in_brackets.size() - begin);
    const std::size_t type = line.find(' ') + 1;
    if (type < line.size() && std::string_view("tTwW").find(line[type]) != std::string_view::npos)
      lines += fmt::format("{}\n", line);
  }
  return lines;
}

std::string moved(std::string_view lines, std::uint64_t by) {
  std::string out;
  for (std::string_view line : split(lines, '\n'))
    if (const auto address = take_number<std::uint64_t>(line, 16))
      out += fmt::format("{:016x}{}\n", *address + by, line);
  return out;
}

}  // namespace

KernelChanges::KernelChanges(std::function<std::uint64_t()> now, const KallsymsText& kallsyms)
    : now_(std::move(now)),
      uevents_(open_uevents()),
      next_look_(std::chrono::steady_clock::now() + kLookEvery),
      may_read_ahead_(std::chrono::steady_clock::now() + kQuiet),
      cpus_looked_at_(now_()),
      modules_looked_at_(cpus_looked_at_),
      modules_(initialised_modules()),
      modules_at_(kallsyms.in_front_of_modules()),
      online_(online_cpus()),
      suspended_at_begin_ns_(suspended_ns()),
      wall_offset_at_begin_ns_(wall_offset_ns()) {}

// Returns the loaded modules by name. A module that is still loading is omitted until its initialisation has run.
KernelChanges::Modules KernelChanges::initialised_modules() {
  Modules modules;
  for (LoadedModule& module : loaded_modules())
    if (!module.is_loading) modules.emplace(module.name, std::move(module));
  return modules;
}

void KernelChanges::wait(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    const auto left = std::max(end - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration(0));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const bool reads = has_to_read();
    const std::chrono::nanoseconds rest = left - seconds;
    const timespec timeout{reads ? 0 : seconds.count(), reads ? 0 : static_cast<long>(rest.count())};
    pollfd polled{uevents_.get(), POLLIN, 0};
    ::ppoll(&polled, uevents_ ? 1 : 0, &timeout, nullptr);
    // Comparing the state takes time. So without uevents, the state is compared only at intervals.
    const bool has_changed = uevents_ && (polled.revents & POLLIN) != 0 && read_uevents();
    if (has_changed || std::chrono::steady_clock::now() >= next_look_) look();
    if (has_to_read()) read_symbols();
  } while (std::chrono::steady_clock::now() < end);
}

// Reads the kernel's messages about changes. Returns true if modules have changed. A message is "add@/module/brd" or
// "offline@/devices/system/cpu/cpu1", then "KEY=VALUE".
bool KernelChanges::read_uevents() {
  bool modules = false;
  const std::uint64_t looking = now_();
  std::vector<CpuChange> cpus;
  std::array<char, 8192> message;
  for (;;) {
    const ssize_t size = ::recv(uevents_.get(), message.data(), message.size(), MSG_DONTWAIT);
    if (size < 0 && errno == ENOBUFS) {  // messages were lost, so compare everything
      compare_cpus(cpus);
      modules = true;
      break;
    }
    if (size <= 0) break;
    const std::string_view text(message.data(), static_cast<std::size_t>(size));
    const std::string_view what = text.substr(0, text.find('\0'));
    if (what.find("@/module/") != std::string_view::npos) modules = true;
    constexpr std::string_view kCpu = "@/devices/system/cpu/cpu";
    const std::size_t at = what.find(kCpu);
    if (at == std::string_view::npos) continue;
    const std::string_view action = what.substr(0, at);
    const auto cpu = parse_leading<unsigned>(what.substr(at + kCpu.size()));
    if (!cpu) continue;
    if (action == "online" || action == "offline") add_cpu(*cpu, action == "online", cpus);
  }
  note_cpus(cpus, looking);
  return modules;
}

void KernelChanges::look() {
  next_look_ = std::chrono::steady_clock::now() + kLookEvery;
  if (uevents_) {
    read_uevents();
  } else {
    const std::uint64_t looking = now_();
    std::vector<CpuChange> changes;
    compare_cpus(changes);
    note_cpus(changes, looking);
  }
  compare_modules();
}

void KernelChanges::add_cpu(unsigned cpu, bool online, std::vector<CpuChange>& changes) {
  changes.push_back({cpu, online});
  if (online)
    online_.insert(cpu);
  else
    online_.erase(cpu);
}

void KernelChanges::compare_cpus(std::vector<CpuChange>& changes) {
  const std::set<unsigned> before = online_;
  const std::set<unsigned> now = online_cpus();
  for (const unsigned cpu : before)
    if (!now.contains(cpu)) add_cpu(cpu, false, changes);
  for (const unsigned cpu : now)
    if (!before.contains(cpu)) add_cpu(cpu, true, changes);
}

// Adds changes of CPUs to the notes. They happened between the previous check of CPUs and this check, which started at
// the time `looked_at`.
void KernelChanges::note_cpus(const std::vector<CpuChange>& changes, std::uint64_t looked_at) {
  const std::uint64_t since = std::exchange(cpus_looked_at_, looked_at);
  if (changes.empty()) return;
  const std::uint64_t noticed = now_();
  if (cpus_changed_) cpus_changed_(changes, since);
  for (const auto& [cpu, online] : changes)
    if (cpu_changes_.size() < kMostBytes)
      cpu_changes_ += fmt::format("{} {} {}\n", noticed, cpu, online ? "online" : "offline");
}

void KernelChanges::compare_modules() {
  const std::uint64_t looking = now_();
  Modules now = initialised_modules();
  if (now != modules_ && changes_.size() < kMostChanges) {
    for (const auto& [name, module] : modules_)
      if (const auto still = now.find(name); still == now.end() || still->second != module) {
        // Symbols that are read now may belong to another module that was loaded at the same address. So the symbols of
        // the removed module are no longer wanted.
        std::erase_if(wanted_, [&gone = name, this](std::size_t change) { return changes_[change].name == gone; });
        changes_.push_back({false, now_(), modules_looked_at_, name});
      }
    for (const auto& [name, module] : now)
      if (const auto before = modules_.find(name); before == modules_.end() || before->second != module)
        note_load(module);
  }
  modules_ = std::move(now);
  modules_looked_at_ = looking;
}

void KernelChanges::note_load(const LoadedModule& module) {
  if (module.begin == 0) return;  // the address is hidden, because this process is not permitted to see addresses
  ModuleChange change{true, now_(), modules_looked_at_, module.name};
  change.build_id = build_id_of(module.name);
  change.build = fmt::format("{} {} {}", module.name, change.build_id, module.bytes);
  change.module = module;
  const std::uint64_t text = section(module.name, ".text");
  change.text = text == 0 ? module.begin : text;
  change.init = section(module.name, ".init.text");
  if (!builds_.contains(change.build)) wanted_.push_back(changes_.size());
  changes_.push_back(std::move(change));
}

bool KernelChanges::has_to_read() const {
  if (!wanted_.empty()) return true;
  return (!reading_ || reading_->at < modules_at_) && std::chrono::steady_clock::now() >= may_read_ahead_;
}

void KernelChanges::read_symbols() {
  if (!reading_) reading_ = Reading{FileDescriptor(::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC))};
  std::array<char, 65536> bytes;
  const auto read = [&](std::uint64_t most) {
    const ssize_t size =
        ::read(reading_->file.get(), bytes.data(), to_size(std::min<std::uint64_t>(most, bytes.size())));
    reading_->at = size > 0 ? reading_->at + static_cast<std::uint64_t>(size) : std::max(reading_->at, modules_at_);
    return std::string_view(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  for (unsigned pieces = 0; pieces < kPieces && reading_->at < modules_at_; ++pieces) read(modules_at_ - reading_->at);
  if (reading_->at < modules_at_ || wanted_.empty()) return;
  std::string lines;
  for (std::string_view piece = read(bytes.size()); !piece.empty(); piece = read(bytes.size())) lines += piece;
  reading_.reset();
  may_read_ahead_ = std::chrono::steady_clock::now() + kQuiet;
  keep_symbols(lines);
}

void KernelChanges::keep_symbols(std::string_view kallsyms) {
  const std::size_t before = changes_.size();
  compare_modules();  // removes unloaded modules from wanted_
  const auto was_read = [before](std::size_t change) { return change < before; };
  for (const std::size_t number : wanted_) {
    const ModuleChange& change = changes_[number];
    if (std::string lines = was_read(number) ? code_lines(kallsyms, change.name) : ""; !lines.empty())
      builds_[change.build] = {change.text, std::move(lines)};
  }
  std::erase_if(wanted_, was_read);
}

std::map<std::string, std::string> KernelChanges::notes() const {
  std::map<std::string, std::string> notes;
  std::string text;
  for (const ModuleChange& change : changes_) {
    text += fmt::format("{} {} {} {}", change.loaded ? '+' : '-', change.noticed, change.before, change.name);
    if (change.loaded) text += fmt::format(" {:x} {} {}", change.module.begin, change.module.bytes, change.build_id);
    text += '\n';
    // This module may have been removed before its symbols were read. If the same build was loaded again later, the
    // symbols of the later module are used.
    if (const auto build = builds_.find(change.build); change.loaded && build != builds_.end())
      text += moved(build->second.lines, change.text - build->second.text);
    // The symbols of a module's init code no longer exist. Init code is at a separate address, so one symbol stands for
    // all of it.
    if (change.init != 0) text += fmt::format("{:016x} i .init.text\t[{}]\n", change.init, change.name);
  }
  if (!text.empty()) notes["module_changes"] = std::move(text);
  if (!cpu_changes_.empty()) notes["cpu_changes"] = cpu_changes_;
  const std::int64_t suspended = suspended_ns() - suspended_at_begin_ns_;
  if (suspended > 1'000'000) notes["suspended_ns"] = fmt::format("{}", suspended);
  const std::int64_t set = wall_offset_ns() - wall_offset_at_begin_ns_;
  if (std::abs(set) > kMostSlewNs) notes["wall_clock_set_ns"] = fmt::format("{}", set);
  return notes;
}

}  // namespace kmt
