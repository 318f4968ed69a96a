// SPDX-License-Identifier: GPL-2.0-or-later
// Modules that were loaded or removed while a trace was recorded: the note "module_changes" of docs/formats/kmt.md.
//
// One address may be code of several modules, one after the other. Modules loaded during the recording get addresses of
// their own, which no kernel has, so that two modules never share one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/clock_scale.hpp"

namespace kmt {

struct ModuleChange {
  bool loaded = false;           // else removed
  std::uint64_t noticed_ns = 0;  // on the trace's clock
  std::uint64_t before_ns = 0;   // when it was not noticed yet
  std::string name;
  // For a load:
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t init = 0;  // address of the code that ran once, at the load; 0: not known
  std::string build_id;    // in hex; "-": not known
  std::string symbols;     // of its code, lines as in /proc/kallsyms
};

// Other lines, and changes after the 4096th, are skipped.
std::vector<ModuleChange> parse_module_changes(std::string_view text, const ClockScale& scale);

// By name: when a module was loaded (true) or removed, as events show.
using ModuleEvents = std::map<std::string, std::map<std::uint64_t, bool>>;

class ModuleLoads {
 public:
  // `modules`: the text of /proc/modules at the start. Without changes no address is replaced.
  ModuleLoads(std::span<const ModuleChange> changes, std::string_view modules, const ModuleEvents& events);

  bool empty() const { return loads_.empty(); }
  // Whether that depends on the time.
  bool covers(std::uint64_t address) const;
  // The address that stands for what was there then.
  std::uint64_t address_at(std::uint64_t address, std::uint64_t time_ns) const;
  // A number of the time: what it is equal for, addresses stand for the same.
  std::uint32_t epoch(std::uint64_t time_ns) const;

  std::uint64_t real_address(std::uint64_t address) const;
  // The address that stands for the same code of the same build when that was loaded first.
  std::uint64_t first_address(std::uint64_t address) const;
  // Names for the addresses that stand for others; they do not depend on the events.
  std::string symbols() const;

 private:
  // From its load, or the start, until its removal.
  struct Load {
    const ModuleChange* change = nullptr;  // null: it was there at the start
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = ~std::uint64_t{0};
    std::size_t first = 0;  // load of the same build
  };
  enum class Part : std::uint8_t { code, init, gone };

  static std::uint64_t stand_in(std::size_t load, Part part, std::uint64_t offset);

  std::vector<Load> loads_;
  std::vector<std::uint64_t> times_;  // of changes
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint64_t highest_ = 0;
};

}  // namespace kmt
