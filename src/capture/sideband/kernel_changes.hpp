// SPDX-License-Identifier: GPL-2.0-or-later
// What changes under a recording: modules that are loaded and removed, CPUs that go on and off line, time in which the
// machine was suspended, the wall clock when it is set. As notes of a trace: docs/formats/kmt.md, "Notes".
//
// The kernel tells of changes by its uevents (netlink), at once; where they cannot be had, what is there is compared
// four times a second. /proc/kallsyms takes long to read, most of it for symbols that do not change: it is read up to
// those of modules after a quiet second, and the rest when a module was loaded, which may be gone soon.
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

namespace kmt {

struct CpuChange {
  unsigned cpu = 0;
  bool online = false;
};

class KernelChanges {
 public:
  // In their order. `since_ticks`: when none of it was so yet.
  using CpusChanged = std::function<void(const std::vector<CpuChange>& changes, std::uint64_t since_ticks)>;

  // `now` reads the trace's clock, in ticks; `kallsyms` is /proc/kallsyms as it is now.
  KernelChanges(std::function<std::uint64_t()> now, std::string_view kallsyms);

  // Who is told of CPUs, when it is noticed, from now on.
  void tell_of_cpus(CpusChanged changed) { cpus_changed_ = std::move(changed); }

  // Sleeps that long, but looks at what changes meanwhile.
  void wait(std::chrono::nanoseconds time);
  // Looks once more.
  void look();
  // "module_changes", "cpu_changes", "suspended_ns" and "wall_clock_set_ns", where there are any.
  std::map<std::string, std::string> notes() const;

 private:
  using Modules = std::map<std::string, LoadedModule>;
  struct ModuleChange {
    bool loaded = false;
    std::uint64_t noticed = 0;  // ticks
    std::uint64_t before = 0;
    std::string name;
    std::string build = {};  // its name, build-id and size
    std::string build_id = {};
    LoadedModule module = {};
    std::uint64_t text = 0;  // where its code begins
    std::uint64_t init = 0;  // where that lay which ran once
  };
  // The symbols of code of one build of a module, where it lay when they were read.
  struct Build {
    std::uint64_t text = 0;
    std::string lines;  // as in /proc/kallsyms
  };
  // Piece by piece, so that no change waits for it.
  struct Reading {
    FileDescriptor file;
    std::uint64_t at = 0;  // bytes that were read
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
  std::uint64_t cpus_looked_at_ = 0;     // ticks, before the last look
  std::uint64_t modules_looked_at_ = 0;  // likewise
  Modules modules_;
  std::map<std::string, Build> builds_;  // by ModuleChange::build
  std::vector<ModuleChange> changes_;
  std::vector<std::size_t> wanted_;  // of changes_: whose builds have no symbols yet
  std::optional<Reading> reading_;
  std::uint64_t modules_at_ = 0;  // a line of /proc/kallsyms at or in front of the first module's; 0: not known
  std::set<unsigned> online_;
  std::string cpu_changes_;
  std::int64_t suspended_at_begin_ns_ = 0;
  std::int64_t wall_offset_at_begin_ns_ = 0;
};

}  // namespace kmt
