// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/module_loads.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostChanges = 4096;
// Stand-in addresses start here. These addresses are not canonical on any 64-bit machine, and do not exist on 32-bit
// machines.
constexpr std::uint64_t kStandIns = 0x0100'0000'0000'0000;
constexpr unsigned kLoadShift = 30;
constexpr unsigned kPartShift = 28;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << kPartShift;
constexpr std::uint64_t kMostInitBytes = 1 << 20;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

// Parses the note `module_changes`. A line "+ NOTICED BEFORE NAME BEGIN BYTES BUILD-ID" is a load, followed by the
// symbols of the module. A line "- NOTICED BEFORE NAME" is a removal.
std::vector<ModuleChange> parse_module_changes(std::string_view text, const ClockScale& scale) {
  std::vector<ModuleChange> changes;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("+ ") && !line.starts_with("- ")) {
      if (changes.empty() || !changes.back().loaded) continue;
      ModuleChange& load = changes.back();
      const std::size_t blank = line.find(' ');
      if (blank != std::string_view::npos && line.substr(blank).starts_with(" i "))
        parse_number(line.substr(0, blank), load.init, 16);
      else
        load.symbols += fmt::format("{}\n", line);
      continue;
    }
    if (changes.size() == kMostChanges) break;
    const auto words = split(line, ' ');
    ModuleChange change;
    change.loaded = line.front() == '+';
    if (words.size() < 4 || !parse_number(words[1], change.noticed_ns) || !parse_number(words[2], change.before_ns))
      continue;
    change.noticed_ns = scale.to_ns(change.noticed_ns);
    change.before_ns = scale.to_ns(change.before_ns);
    change.name = words[3];
    if (change.loaded &&
        (words.size() < 6 || !parse_number(words[4], change.begin, 16) || !parse_number(words[5], change.bytes) ||
         change.bytes >= kMostBytes || change.begin == 0 || change.begin >= ~kMostBytes))
      continue;
    if (change.loaded && words.size() > 6) change.build_id = words[6];
    changes.push_back(std::move(change));
  }
  return changes;
}

ModuleLoads::ModuleLoads(std::span<const ModuleChange> changes, std::string_view modules, const ModuleEvents& events) {
  if (changes.empty()) return;
  const auto events_of = [&events](const std::string& name) -> const ModuleEvents::mapped_type* {
    const auto of_module = events.find(name);
    return of_module == events.end() ? nullptr : &of_module->second;
  };
  // Returns the time of a module's last load at or before `until`. Empty if the trace has no event of such a load.
  const auto loaded_at = [&](const std::string& name, std::uint64_t until) -> std::optional<std::uint64_t> {
    const auto* const loaded = events_of(name);
    if (loaded == nullptr) return std::nullopt;
    for (auto event = loaded->upper_bound(until); event != loaded->begin();)
      if ((--event)->second) return event->first;
    return std::nullopt;
  };
  // Sets the end time of a load. If the trace has an event of the removal, uses its time instead of the time at which
  // the recorder noticed the removal. The two times differ because the module's exit code runs between the event and
  // the removal.
  const auto end_load = [&](Load& load, const std::string& name, std::uint64_t noticed_ns) {
    if (load.to_ns != kNever) return;
    load.to_ns = noticed_ns;
    const auto* const loaded = events_of(name);
    if (loaded == nullptr) return;
    for (auto event = loaded->upper_bound(load.from_ns); event != loaded->end(); ++event)
      if (!event->second) {
        load.to_ns = event->first;
        return;
      }
  };
  std::map<std::string, std::size_t, std::less<>> last;  // by module name: index of the latest load

  // Loads in `changes` get the first indices, so that their stand-in addresses do not depend on other data.
  std::map<std::tuple<std::string_view, std::string_view, std::uint64_t>, std::size_t> builds;
  for (const ModuleChange& change : changes) {
    if (!change.loaded) continue;
    Load load{&change, change.begin, change.begin + change.bytes};
    load.first = loads_.size();
    if (!change.build_id.empty() && change.build_id != "-")
      load.first = builds.try_emplace({change.name, change.build_id, change.bytes}, loads_.size()).first->second;
    loads_.push_back(load);
  }
  for (const LoadedModule& module : parse_modules(modules)) {
    if (module.bytes >= kMostBytes || module.begin == 0) continue;
    Load load;
    load.begin = module.begin;
    load.end = module.end();
    load.first = loads_.size();
    last.insert_or_assign(module.name, loads_.size());
    loads_.push_back(load);
  }
  std::size_t next = 0;
  for (const ModuleChange& change : changes) {
    if (const auto before = last.find(change.name); before != last.end())
      end_load(loads_[before->second], change.name, change.noticed_ns);
    if (!change.loaded) continue;
    Load& load = loads_[next];
    // The recorder may have missed an earlier load and removal of the module. So the load that it noticed began with
    // the last load event before that time.
    load.from_ns = loaded_at(change.name, change.noticed_ns).value_or(change.before_ns);
    last.insert_or_assign(change.name, next++);
  }
  // Also use removals that are in the trace's events but were not noticed by the recorder.
  for (const auto& [name, at] : last) end_load(loads_[at], name, kNever);
  for (const Load& load : loads_) {
    times_.push_back(load.from_ns);
    times_.push_back(load.to_ns);
    if (load.change != nullptr) times_.push_back(load.change->noticed_ns + 1);
    lowest_ = std::min(lowest_, load.begin);
    highest_ = std::max(highest_, load.end);
    if (load.change != nullptr && load.change->init != 0) {
      lowest_ = std::min(lowest_, load.change->init);
      highest_ = std::max(highest_, load.change->init + kMostInitBytes);
    }
  }
  std::ranges::sort(times_);
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
}

bool ModuleLoads::covers(std::uint64_t address) const { return lowest_ <= address && address < highest_; }

std::uint32_t ModuleLoads::epoch(std::uint64_t time_ns) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(times_, time_ns) - times_.begin());
}

std::uint64_t ModuleLoads::stand_in(std::size_t load, Part part, std::uint64_t offset) {
  return kStandIns + (std::uint64_t{load} << kLoadShift) + (static_cast<std::uint64_t>(part) << kPartShift) + offset;
}

// Returns the stand-in address of the code that was at `address` at this time; `address` itself if it has none. The
// size of a module includes all of its parts, which may be at separate addresses since Linux 6.4, so ranges may
// overlap. If several ranges contain an address, the module with the highest start address is used.
std::uint64_t ModuleLoads::address_at(std::uint64_t address, std::uint64_t time_ns) const {
  if (!covers(address)) return address;
  struct Found {
    const Load* load = nullptr;
    std::uint64_t begin = 0;
    Part part = Part::code;
  };
  Found live;
  Found gone;
  Found later;
  const auto take = [address](Found& found, const Load& load, std::uint64_t begin, std::uint64_t end, Part part) {
    if (begin <= address && address < end && (found.load == nullptr || begin >= found.begin))
      found = {&load, begin, part};
  };
  for (const Load& load : loads_) {
    if (load.from_ns > time_ns)
      take(later, load, load.begin, load.end, Part::code);
    else if (load.to_ns <= time_ns)
      take(gone, load, load.begin, load.end, Part::gone);
    else
      take(live, load, load.begin, load.end, Part::code);
    if (load.change != nullptr && load.change->init != 0 && load.from_ns <= time_ns &&
        time_ns <= load.change->noticed_ns)
      take(live, load, load.change->init, load.change->init + kMostInitBytes, Part::init);
  }
  // If no module was loaded here at this time, use a module that was removed before or, if there is none, the next
  // load. Its code ran, so the recorded time of this load must be inexact.
  const Found& found = live.load != nullptr ? live : gone.load != nullptr ? gone : later;
  if (found.load == nullptr || (found.part == Part::code && found.load->change == nullptr)) return address;
  return stand_in(static_cast<std::size_t>(found.load - loads_.data()), found.part, address - found.begin);
}

std::uint64_t ModuleLoads::real_address(std::uint64_t address) const {
  const std::uint64_t load = (address - kStandIns) >> kLoadShift;
  if (address < kStandIns || load >= loads_.size()) return address;
  const std::uint64_t offset = address & (kMostBytes - 1);
  const bool init = (address >> kPartShift & 3) == static_cast<std::uint64_t>(Part::init);
  return offset + (init ? loads_[to_size(load)].change->init : loads_[to_size(load)].begin);
}

std::uint64_t ModuleLoads::first_address(std::uint64_t address) const {
  const std::uint64_t load = (address - kStandIns) >> kLoadShift;
  if (address < kStandIns || load >= loads_.size()) return address;
  // The address belongs to a module that was removed, but it is unknown which one. Therefore no earlier load of the
  // same code is known.
  if ((address >> kPartShift & 3) == static_cast<std::uint64_t>(Part::gone)) return address;
  return address - (load << kLoadShift) + (std::uint64_t{loads_[to_size(load)].first} << kLoadShift);
}

std::string ModuleLoads::symbols() const {
  std::string lines;
  const auto add = [&lines](std::uint64_t address, std::string_view rest) {
    fmt::format_to(std::back_inserter(lines), "{:016x}{}\n", address, rest);
  };
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const Load& load = loads_[i];
    if (load.change != nullptr) {
      for (const std::string_view line : split(load.change->symbols, '\n')) {
        std::uint64_t address = 0;
        const std::size_t blank = line.find(' ');
        if (blank == std::string_view::npos || !parse_number(line.substr(0, blank), address, 16)) continue;
        if (address >= load.begin && address < load.end)
          add(stand_in(i, Part::code, address - load.begin), line.substr(blank));
      }
      add(stand_in(i, Part::code, 0), fmt::format(" t .text\t[{}]", load.change->name));
      add(stand_in(i, Part::init, 0), fmt::format(" t .init.text\t[{}]", load.change->name));
    }
    add(stand_in(i, Part::gone, 0), " t unknown\t[removed]");
  }
  return lines;
}

}  // namespace kmt
