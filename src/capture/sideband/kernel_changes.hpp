// SPDX-License-Identifier: GPL-2.0-or-later
// What changes under a recording: modules that are loaded and removed, CPUs that go on and off line, time in which the
// machine was suspended. As notes of a trace: docs/formats/kmt.md, "Notes".
//
// The kernel tells of changes by its uevents (netlink), at once; where they cannot be had, what is there is compared
// four times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"

namespace kmt {

class KernelChanges {
 public:
  // `now` reads the trace's clock, in ticks.
  explicit KernelChanges(std::function<std::uint64_t()> now);

  // Sleeps that long, but looks at what changes meanwhile.
  void wait(std::chrono::nanoseconds time);
  // Looks once more.
  void look();
  // "module_changes", "cpu_changes" and "suspended_ns", where there are any.
  std::map<std::string, std::string> notes() const;

 private:
  struct Module {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Module&) const = default;
  };
  using Modules = std::map<std::string, Module>;
  struct ModuleChange {
    bool loaded = false;
    std::uint64_t noticed = 0;  // ticks
    std::uint64_t before = 0;
    std::string name;
    std::string build = {};  // its name, build-id and size
    std::string build_id = {};
    Module module = {};
    std::uint64_t text = 0;  // where its code begins
    std::uint64_t init = 0;  // where that lay which ran once
  };
  // The symbols of code of one build of a module, where it lay when they were read.
  struct Build {
    std::uint64_t text = 0;
    std::string lines;  // as in /proc/kallsyms
  };
  // /proc/kallsyms takes long to read: piece by piece, so that no change waits for it.
  struct Reading {
    FileDescriptor file;
    std::string rest;                 // of a line
    std::string lines;                // those of modules
    std::vector<std::size_t> wanted;  // of changes_: whose builds have no symbols yet
  };

  static Modules loaded_modules();
  bool read_uevents();
  void compare_modules();
  void compare_cpus();
  void note_cpu(unsigned cpu, bool online);
  void note_load(const std::string& name, const Module& module);
  void read_symbols();
  void keep_symbols();

  std::function<std::uint64_t()> now_;
  FileDescriptor uevents_;
  std::chrono::steady_clock::time_point next_look_;
  std::uint64_t looked_at_ = 0;  // ticks
  Modules modules_;
  std::map<std::string, Build> builds_;  // by ModuleChange::build
  std::vector<ModuleChange> changes_;
  std::vector<std::size_t> wanted_;  // as of Reading, by the next one
  std::optional<Reading> reading_;
  std::string online_;
  std::string cpu_changes_;
  std::int64_t suspended_at_begin_ns_ = 0;
};

}  // namespace kmt
