// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/probe_definitions.hpp"

#include <map>

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostArgumentBytes = 63;  // bytes; MAX_ARGSTR_LEN in kernel/trace/trace_probe.h, Linux 5.10

Error cannot_record(const TracedFunction& function, const ValuePath& path, const char* why) {
  return Error(fmt::format("{}: {} cannot be recorded by kprobe events: {}", function.name, path.text, why),
               ExitCode::bad_input)
      .hint("--backend bpf can follow more pointers, if this kernel supports it");
}

// Returns the source of a value in the syntax of kprobe events, without the type: "+24(+8(%di))", "%si" or
// "+8($stack)".
std::string place_of(const ValuePath& path, const ProbeMachine& machine) {
  std::string place = path.argument == kStackPointer ? "$stack" : fmt::format("%{}", machine.arguments[path.argument]);
  for (const std::uint32_t offset : path.offsets) place = fmt::format("+{}({})", offset, place);
  return place;
}

struct Fetched {
  std::string name;
  std::string place;
  std::string type;
};

// Adds a value to the fields of a probe. If a number is unreadable, the kernel records old bytes of the buffer without
// an error. Therefore the probe also reads a string from the same address. If this string is empty, the address is
// unreadable.
void add_value(const ValuePath& path, std::size_t number, const ProbeMachine& machine, std::vector<Fetched>& fetched) {
  const std::string place = place_of(path, machine);
  // The number of offsets that are needed to reach the argument itself.
  const std::size_t own_steps = path.argument == kStackPointer ? 1 : 0;
  const bool is_of_user = !machine.has_user_memory && path.offsets.size() == 1 + own_steps;
  const std::string string = is_of_user ? "ustring" : "string";
  if (path.is_string) {
    const std::string most = path.counted_by
                                 ? fmt::format("_{}{}", path.counted_by_int ? "int" : "arg", *path.counted_by + 1)
                             : path.size != 0 ? fmt::format("_{}", path.size)
                                              : "";
    fetched.push_back({fmt::format("v{}{}", number, most), place, string});
    return;
  }
  fetched.push_back({fmt::format("v{}", number), place, fmt::format("x{}", 8 * path.size)});
  if (!path.offsets.empty()) fetched.push_back({fmt::format("r{}", number), place, string});
}

std::string line_of(char kind, const std::string& event, std::uint64_t address, const std::vector<Fetched>& fetched) {
  std::string line = fmt::format("{}:{} {:#x}", kind, event, address);
  for (const Fetched& one : fetched) line += fmt::format(" {}={}:{}", one.name, one.place, one.type);
  return line;
}

}  // namespace

std::optional<ProbeMachine> probe_machine(std::string_view machine) {
  if (machine == "x86_64") return ProbeMachine{{"di", "si", "dx", "cx", "r8", "r9"}, "ax"};
  // 32-bit x86 kernels are built with -mregparm=3: three arguments are in registers. Others are not recorded.
  if (machine.size() == 4 && machine.starts_with('i') && machine.ends_with("86"))
    return ProbeMachine{{"ax", "dx", "cx"}, "ax", 32};
  if (machine == "aarch64") return ProbeMachine{{"x0", "x1", "x2", "x3", "x4", "x5"}, "x0"};
  if (machine.starts_with("armv")) return ProbeMachine{{"r0", "r1", "r2", "r3"}, "r0", 32};
  if (machine == "s390x") return ProbeMachine{{"r2", "r3", "r4", "r5", "r6"}, "r2", 64, false};
  if (machine == "riscv64") return ProbeMachine{{"a0", "a1", "a2", "a3", "a4", "a5"}, "a0"};
  if (machine == "ppc64le") return ProbeMachine{{"gpr3", "gpr4", "gpr5", "gpr6", "gpr7", "gpr8"}, "gpr3"};
  return std::nullopt;
}

std::vector<ProbeDefinition> define_probes(const std::string& group, const std::vector<TracedFunction>& functions,
                                           const ProbeMachine& machine, unsigned open_calls) {
  const std::string word = fmt::format("x{}", machine.word_bits);
  std::vector<ProbeDefinition> definitions;
  // Indices of the events that record values, by the names and types of these values. Probes with equal names and types
  // share an event.
  std::map<std::string, std::size_t> events;
  for (const TracedFunction& function : functions) {
    // Old kernels reject a probe as a duplicate if another probe at the same address has equal arguments. This value
    // makes each probe unique.
    const std::vector<Fetched> fetched = {{"func", fmt::format("\\{:#x}", function.address), word},
                                          {"sp", "$stack", word}};
    std::vector<Fetched> at_exit = fetched;
    std::vector<Fetched> at_entry = fetched;
    at_exit.push_back({"retval", fmt::format("%{}", machine.result), word});
    for (std::size_t i = 0; i < machine.arguments.size(); ++i)
      at_entry.push_back({fmt::format("arg{}", i + 1), fmt::format("%{}", machine.arguments[i]), word});
    std::vector<std::vector<Fetched>> records = {fetched};
    for (std::size_t i = 0; i < function.values.size(); ++i) {
      const ValuePath& path = function.values[i];
      if (path.argument >= machine.arguments.size() && path.argument != kStackPointer)
        throw cannot_record(function, path, "its argument is not in a register");
      const bool is_alone = path.is_string && path.size == 0;
      std::vector<Fetched>& record = is_alone ? records.emplace_back(fetched) : records.front();
      add_value(path, i, machine, record);
      if (record.back().place.size() + record.back().type.size() + 8 > kMostArgumentBytes)
        throw cannot_record(function, path, "too many pointers lead to it");
    }
    ProbeDefinition& definition = definitions.emplace_back();
    definition.exit = line_of('r', fmt::format("{}/probe_exit", group), function.address, at_exit);
    definition.exit.insert(1, fmt::format("{}", open_calls));
    definition.entry = line_of('p', fmt::format("{}/probe_entry_0", group), function.address, at_entry);
    for (const std::vector<Fetched>& record : records) {
      if (record.size() == fetched.size()) continue;
      std::string shape;
      for (const Fetched& one : record) shape += fmt::format("{}:{} ", one.name, one.type);
      const std::size_t number = events.try_emplace(shape, events.size()).first->second;
      definition.values.push_back(
          line_of('p', fmt::format("{}/probe_values_{}", group, number), function.address, record));
    }
  }
  return definitions;
}

}  // namespace kmt
