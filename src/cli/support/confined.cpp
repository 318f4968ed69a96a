// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/confined.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <linux/capability.h>

#include "base/confinement/confine.hpp"
#include "base/confinement/outside.hpp"
#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "cli/support/replaced_file.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/relay/capture.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// These commands need neither the kernel nor another program, so they are always confined. Commands that are not listed
// call confine_reading() if they only read files.
constexpr std::array<std::string_view, 12> kOffline = {"check",    "report", "pages",      "leaks",
                                                       "timeline", "diff",   "flamegraph", "export",
                                                       "convert",  "repair", "simulate",   "fleet"};

std::vector<std::string> outputs_of(const Command& command) {
  std::vector<std::string> outputs;
  for (const char* const name : kOutputs)
    if (const Option* const option = command.find(name))
      outputs.insert(outputs.end(), option->given.begin(), option->given.end());
  std::erase_if(outputs, [](const std::string& path) { return path.empty() || path == "-"; });
  return outputs;
}

bool goes_to_a_server(const Command& command) {
  if (command.name == "fleet") return true;
  return command.has("--to") && command.find("--to")->given.back() == "clickhouse";  // of export
}

bool is_offline(const Command& command) { return std::ranges::find(kOffline, command.name) != kOffline.end(); }

// Capabilities for reading files of other users, setting the owner of outputs, and seeing addresses in /proc/kallsyms.
constexpr unsigned kReading[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN, CAP_FOWNER, CAP_SYSLOG};
// The capabilities of kReading that are needed only for creating outputs.
constexpr unsigned kNaming[] = {CAP_CHOWN, CAP_FOWNER};
// Additional capabilities for BPF programs, perf events, high-priority readers, and a port below 1024.
constexpr unsigned kWatching[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_NET_BIND_SERVICE};
// Additional capabilities that are needed only at the start. They permit mounting tracefs, measuring the cost of BPF
// programs, reading BTF of modules and mappings of all processes, and exceeding the memory limits for maps and rings.
constexpr unsigned kOpening[] = {CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYS_RESOURCE, CAP_IPC_LOCK};

template <typename... Lists>
std::vector<unsigned> all_of(const Lists&... lists) {
  std::vector<unsigned> all;
  (all.insert(all.end(), std::begin(lists), std::end(lists)), ...);
  return all;
}

// Libraries and the search for symbols read these files. Only some files of /etc are listed, because /etc contains
// secrets.
constexpr std::array kAlwaysRead = {"/usr",
                                    "/lib",
                                    "/lib64",
                                    "/boot",
                                    "/etc/ld.so.cache",
                                    "/etc/localtime",
                                    "/etc/timezone",
                                    "/proc/self",
                                    "/proc/sys",
                                    "/proc/stat",
                                    "/proc/kallsyms",
                                    "/proc/modules",
                                    "/proc/meminfo",
                                    "/proc/cpuinfo",
                                    "/sys/devices/system/cpu",
                                    "/sys/kernel/btf",
                                    "/sys/kernel/notes",
                                    "/sys/kernel/mm/transparent_hugepage",
                                    "/dev/null",
                                    "/dev/zero",
                                    "/dev/urandom",
                                    "/dev/random"};
// These files are needed to find the names of servers and to verify their certificates.
constexpr std::array kReadForNetwork = {"/etc/resolv.conf", "/etc/hosts",          "/etc/nsswitch.conf",
                                        "/etc/host.conf",   "/etc/gai.conf",       "/etc/services",
                                        "/etc/ssl",         "/run/systemd/resolve"};

bool is_folder(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

void add_existing(const std::string& path, std::vector<std::string>& paths) {
  std::error_code code;
  if (!path.empty() && fs::exists(path, code)) paths.push_back(path);
}

// Returns the values of an option or argument. This includes the default, and the parts of values that are lists with
// commas.
std::vector<std::string> words_of(const Option& option) {
  std::vector<std::string> words = option.given;
  if (const auto* const one = std::get_if<std::string*>(&option.target)) words.push_back(**one);
  if (const auto* const all = std::get_if<std::vector<std::string>*>(&option.target))
    words.insert(words.end(), (*all)->begin(), (*all)->end());
  for (const std::string& word : option.given)
    for (const std::string_view part : split(word, ',')) words.emplace_back(part);
  return words;
}

// If `file` belongs to a relay trace, allows reading the other files of this trace.
void add_relay(const fs::path& file, Access& access) {
  if (!relay::cpu_of_name(file)) return;
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  access.listed.push_back(folder);
  for (const std::string& name : names_in(folder))
    if (relay::cpu_of_name(name) || name == "kallsyms" || name == "total_overruns")
      access.read.push_back(fs::path(folder) / name);
}

// If `path` is the metadata file of a CTF trace, allows reading the folder of the trace and the extra files in the
// parent folder.
void add_ctf(const fs::path& path, Access& access) {
  const bool is_metadata = path.filename() == "metadata";
  const fs::path folder = is_metadata ? fs::absolute(path).parent_path() : fs::absolute(path);
  if (is_metadata) access.read.push_back(folder);
  if (!is_metadata && !is_folder(path)) return;
  for (const char* const name : {"kallsyms", ctf::kDescriptionName})
    add_existing(folder.parent_path() / name, access.read);
}

// Allows reading the files that the command line names, and the files that every command needs.
void add_read(const Command& command, Network network, Access& access) {
  access.read.insert(access.read.end(), kAlwaysRead.begin(), kAlwaysRead.end());
  if (network == Network::as_before)
    access.read.insert(access.read.end(), kReadForNetwork.begin(), kReadForNetwork.end());
  for (const Option& option : command.options) {
    if (std::ranges::any_of(kOutputs, [&](const char* name) { return option.has_name(name); })) continue;
    for (const std::string& word : words_of(option)) {
      if (word.empty()) continue;
      add_existing(word, access.read);
      add_relay(word, access);
      add_ctf(without_slash(word), access);
    }
  }
  // without an argument FILE, a command reads one of these files
  const auto is_given = [](const Option& one) { return one.is_argument() && !one.given.empty(); };
  if (std::ranges::any_of(command.options, &Option::is_argument) && std::ranges::none_of(command.options, is_given)) {
    for (const char* const name : {"trace.kmt", "trace.dat"}) add_existing(name, access.read);
    add_relay("cpu0.out", access);
  }
  std::error_code code;
  // standard input may be redirected from a file
  add_existing(fs::read_symlink("/proc/self/fd/0", code).string(), access.read);
}

bool reads_a_folder(const Command& command) {
  return std::ranges::any_of(command.options, [](const Option& option) {
    return option.is_argument() && std::ranges::any_of(words_of(option), is_folder);
  });
}

// Prepares a place for temporary files near the output. The page of an investigation, SQLite and the writer of
// trace.dat need temporary files. A damaged CTF trace is copied to a temporary folder.
void prepare_scratch_of(const Command& command, const std::vector<std::string>& outputs) {
  const bool sorts = command.name == "export" || command.name == "convert" || command.name == "investigate";
  if (sorts && !outputs.empty() && !open_number(outputs.front())) {
    prepare_scratch(without_slash(outputs.front()));
  } else if (reads_a_folder(command)) {
    std::error_code code;
    const fs::path place = fs::temp_directory_path(code);
    if (!code) prepare_scratch(place / "kmemtrace");
  }
}

void confine_to(const Command& command, const std::vector<std::string>& outputs, Access access, Network network) {
  for (const std::string& path : outputs) {
    if (command.name == "convert" && without_slash(path).ends_with(".ctf"))
      prepare_folder(without_slash(path));
    else
      prepare_file(path);
  }
  for (const std::string& path : access.written_folders) prepare_open_folder(path);
  prepare_scratch_of(command, outputs);
  start_outside();
  for (const PreparedOutput& output : prepared_outputs())
    (output.kind == PreparedOutput::Kind::file ? access.written_files : access.written_folders)
        .push_back(output.unfinished.empty() ? output.path : output.unfinished);
  add_read(command, network, access);
  give_up_capabilities(kNaming);
  confine(access, network);
}

// Allows writing a file that is repaired. The file is repaired in place or replaced by a new file.
void prepare_in_place(const std::string& file, const std::vector<std::string>& outputs, Access& access) {
  std::error_code code;
  if (!outputs.empty() && !fs::equivalent(file, outputs.front(), code)) return;
  access.written_files.push_back(file);
  const fs::path path = fs::canonical(file, code);
  if (code || (!outputs.empty() && path == outputs.front())) return;
  try {
    prepare_file(path);
  } catch (const Error&) {
    // a new file cannot be created in this folder, but the file may still be repaired in place
  }
}

}  // namespace

void confine_reading(const Command& command, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& written_folders) {
  keep_capabilities(all_of(kReading));
  std::vector<std::string> given = outputs;
  std::erase(given, "");
  confine_to(command, given, {.written_folders = written_folders}, Network::none);
}

void keep_watching() {
  // Before Linux 5.8, these capabilities were part of CAP_SYS_ADMIN, so CAP_SYS_ADMIN must be kept.
  if (!knows_capability(CAP_PERFMON) || !knows_capability(CAP_BPF)) return;
  keep_capabilities(all_of(kReading, kWatching));
  give_up_capabilities(kOpening);  // also applies to a process that has capabilities but is not root
}

void confine_command(const Command& command) {
  std::vector<unsigned> kept = is_offline(command) ? all_of(kReading) : all_of(kReading, kWatching, kOpening);
  // Only CAP_SYS_RAWIO permits opening /proc/kcore. With --from, an investigation keeps fewer capabilities later.
  if (command.has("--objects") || command.has("--pages") || command.name == "record" || command.name == "investigate")
    kept.push_back(CAP_SYS_RAWIO);
  keep_capabilities(kept);
  // debuginfod-find needs the network and a cache folder.
  if (!is_offline(command) || command.has("--debuginfod")) return;
  Access access;
  const std::vector<std::string> outputs = outputs_of(command);
  if (command.name == "repair") prepare_in_place(command.find("FILE")->given.front(), outputs, access);
  confine_to(command, outputs, std::move(access), goes_to_a_server(command) ? Network::as_before : Network::none);
}

}  // namespace kmt
