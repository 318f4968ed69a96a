// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/confined.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include <linux/capability.h>

#include "base/confine.hpp"
#include "base/privileges.hpp"

namespace kmt {

namespace {

// These need neither the kernel nor another program. Others call confine_reading() when they only read files.
constexpr std::array<std::string_view, 12> kOffline = {"check",    "report", "pages",      "leaks",
                                                       "timeline", "diff",   "flamegraph", "export",
                                                       "convert",  "repair", "simulate",   "fleet"};

// The options that name outputs.
constexpr std::array<const char*, 3> kOutputs = {"--output", "OUTPUT", "--html"};

std::vector<std::string> outputs_of(const Command& command) {
  std::vector<std::string> outputs;
  const auto add = [&](const char* name) {
    if (const Option* const option = command.find(name))
      outputs.insert(outputs.end(), option->given.begin(), option->given.end());
  };
  std::ranges::for_each(kOutputs, add);
  if (command.name == "repair" && outputs.empty()) {  // repaired in place; FILE may be a symlink, so resolve it
    std::error_code code;
    for (const std::string& file : command.find("FILE")->given)
      outputs.push_back(std::filesystem::weakly_canonical(file, code));
  }
  return outputs;
}

bool goes_to_a_server(const Command& command) {
  if (command.name == "fleet") return true;
  return command.has("--to") && command.find("--to")->given.back() == "clickhouse";  // of export
}

bool is_offline(const Command& command) { return std::ranges::find(kOffline, command.name) != kOffline.end(); }

// Other users' files, ownership of outputs, and addresses in /proc/kallsyms.
constexpr unsigned kReading[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN, CAP_FOWNER, CAP_SYSLOG};
// Besides them: BPF programs and perf events, high-priority readers, a port below 1024.
constexpr unsigned kWatching[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_NET_BIND_SERVICE};
// Besides them: mounting tracefs, measuring BPF programs' cost, BTF of modules; mappings of all processes; memory of
// maps and rings beyond the limits.
constexpr unsigned kOpening[] = {CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYS_RESOURCE, CAP_IPC_LOCK};

template <typename... Lists>
std::vector<unsigned> all_of(const Lists&... lists) {
  std::vector<unsigned> all;
  (all.insert(all.end(), std::begin(lists), std::end(lists)), ...);
  return all;
}

}  // namespace

void confine_reading(std::vector<std::string> outputs) {
  std::erase(outputs, "");
  keep_capabilities(all_of(kReading));
  confine(outputs, Network::none);
}

void keep_watching() {
  // Before Linux 5.8 they were one with the capability for opening.
  if (!knows_capability(CAP_PERFMON) || !knows_capability(CAP_BPF)) return;
  keep_capabilities(all_of(kReading, kWatching));
  give_up_capabilities(kOpening);  // even if the process is not root
}

void confine_command(const Command& command) {
  keep_capabilities(is_offline(command) ? all_of(kReading) : all_of(kReading, kWatching, kOpening));
  // debuginfod-find needs the network and a cache of its own.
  if (is_offline(command) && !command.has("--debuginfod"))
    confine(outputs_of(command), goes_to_a_server(command) ? Network::as_before : Network::none);
}

}  // namespace kmt
