// SPDX-License-Identifier: GPL-2.0-or-later
// Records changes of the system: modules that are loaded and removed, CPUs that go online and offline, time of
// suspension, and settings of the wall clock. docs/formats/kmt.md, "Notes", describes the texts.
//
// The kernel reports changes immediately by uevents (netlink). If uevents are unavailable, the state is compared four
// times per second. /proc/kallsyms is slow to read, mainly because of symbols that do not change. Therefore the part
// before the modules' symbols is read in advance, after one second without changes. The rest is read after a module was
// loaded, because the module may be removed soon.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "trace/code/kallsyms_text.hpp"

namespace kmt {

struct CpuChange {
  unsigned cpu = 0;
  bool online = false;
};

class KernelChanges {
 public:
  // Receives changes in order. `since_ticks` is a time before the first change.
  using CpusChanged = std::function<void(const std::vector<CpuChange>& changes, std::uint64_t since_ticks)>;

  // `now` returns the trace clock's time in ticks. `kallsyms` is the current text of /proc/kallsyms.
  KernelChanges(std::function<std::uint64_t()> now, const KallsymsText& kallsyms);

  // Sets the callback for changes of CPUs.
  void on_cpu_changes(CpusChanged changed) { cpus_changed_ = std::move(changed); }

  // Sleeps for this time, but records changes that happen meanwhile.
  void wait(std::chrono::nanoseconds time);
  void look();
  // Returns the notes "module_changes", "cpu_changes", "suspended_ns" and "wall_clock_set_ns", if there are any.
  std::map<std::string, std::string> notes() const;

 private:
  using Modules = std::map<std::string, LoadedModule>;
  struct ModuleChange {
    bool loaded = false;
    std::uint64_t noticed = 0;  // time of the trace clock at which the change was noticed, in ticks
    std::uint64_t before = 0;
    std::string name;
    std::string build = {};  // name, build ID and size of the module
    std::string build_id = {};
    LoadedModule module = {};
    std::uint64_t text = 0;  // start address of the module's code
    std::uint64_t init = 0;  // start address that the module's init code had
  };
  // The code symbols of one build of a module. The addresses are from the time of reading.
  struct Build {
    std::uint64_t text = 0;
    std::string lines;  // lines as in /proc/kallsyms
  };
  // The state of reading /proc/kallsyms in steps. During one long read, changes would be noticed too late.
  struct Reading {
    FileDescriptor file;
    std::uint64_t at = 0;  // number of bytes read so far
  };

  static Modules initialised_modules();
  bool read_uevents();
  void compare_modules();
  void compare_cpus(std::vector<CpuChange>& changes);
  void add_cpu(unsigned cpu, bool online, std::vector<CpuChange>& changes);
  void note_cpus(const std::vector<CpuChange>& changes, std::uint64_t looked_at);
  void note_load(const LoadedModule& module);
  bool has_to_read() const;
  void read_symbols();
  void keep_symbols(std::string_view kallsyms);

  std::function<std::uint64_t()> now_;
  CpusChanged cpus_changed_;
  FileDescriptor uevents_;
  std::chrono::steady_clock::time_point next_look_;
  std::chrono::steady_clock::time_point may_read_ahead_;
  std::uint64_t cpus_looked_at_ = 0;     // start of the last check for changes of CPUs, in ticks
  std::uint64_t modules_looked_at_ = 0;  // start of the last check for changes of modules, in ticks
  Modules modules_;
  std::map<std::string, Build> builds_;  // key: ModuleChange::build
  std::vector<ModuleChange> changes_;
  std::vector<std::size_t> wanted_;  // indices in changes_ of modules whose symbols are not read yet
  std::optional<Reading> reading_;
  // offset in bytes in /proc/kallsyms, at or before the first line of a module; 0: unknown
  std::uint64_t modules_at_ = 0;
  std::set<unsigned> online_;
  std::string cpu_changes_;
  std::int64_t suspended_at_begin_ns_ = 0;
  std::int64_t wall_offset_at_begin_ns_ = 0;
};

}  // namespace kmt
