// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/persistent.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "capture/ftrace/boot.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/code/kallsyms_text.hpp"

namespace kmt {

namespace {

// Returns the name of the instance that a backup instance copies: "flight" for trace_instance=copy=flight. `value` is
// the value of a parameter trace_instance. Empty if the parameter makes no backup instance.
std::string original_of(const std::string& value) {
  const std::size_t end = std::min(value.find_first_of(",^@"), value.size());
  const std::size_t equals = value.find('=');
  return equals < end ? value.substr(equals + 1, end - equals - 1) : "";
}

std::string original_of(std::string_view arguments, const std::string& backup) {
  for (const std::string& value : parse_boot_parameters(arguments).instances)
    if (value.starts_with(backup + "=")) return original_of(value);
  return {};
}

std::vector<std::string> names_of(const std::vector<PersistentInstance>& instances) {
  std::vector<std::string> names;
  for (const PersistentInstance& instance : instances)
    if (instance.backup_of.empty()) names.push_back(instance.name);
  return names;
}

}  // namespace

std::vector<PersistentInstance> persistent_instances(const std::string& tracefs, std::string_view arguments) {
  std::vector<PersistentInstance> found;
  for (const std::string& name : names_in(tracefs + "/instances")) {
    const std::string path = fmt::format("{}/instances/{}", tracefs, name);
    if (::access((path + "/last_boot_info").c_str(), F_OK) == 0)
      found.push_back({name, path, original_of(arguments, name)});
  }
  return found;
}

PersistentInstance choose_persistent(const std::vector<PersistentInstance>& instances, const std::string& name) {
  const std::vector<std::string> names = names_of(instances);
  const std::string wanted = !name.empty() ? name : names.size() == 1 ? names.front() : "";
  for (const PersistentInstance& instance : instances)
    if (instance.backup_of.empty() && instance.name == wanted) return instance;
  if (names.empty())
    throw Error("This boot has no ring buffer that survives a crash", ExitCode::unsupported)
        .hint("`kmemtrace list` prints the kernel parameters that make one");
  throw Error(name.empty() ? "There are several persistent tracing instances"
                           : fmt::format("No persistent tracing instance has the name \"{}\"", printable(name)))
      .hint(fmt::format("Name one of: {}", fmt::join(names, ", ")));
}

PersistentInstance with_previous_events(const std::vector<PersistentInstance>& instances,
                                        const PersistentInstance& instance) {
  const auto backup = std::ranges::find(instances, instance.name, &PersistentInstance::backup_of);
  return backup == instances.end() ? instance : *backup;
}

bool has_backup(std::string_view arguments, const std::string& name) {
  return std::ranges::any_of(parse_boot_parameters(arguments).instances,
                             [&](const std::string& value) { return original_of(value) == name; });
}

bool supports_persistent(std::string_view kallsyms) {
  // reserve_mem() parses the parameter, and the other function makes a ring buffer in given memory
  return kallsyms.find(" reserve_mem\n") != kallsyms.npos &&
         kallsyms.find(" __ring_buffer_alloc_range\n") != kallsyms.npos;
}

std::string persistent_parameters(std::uint64_t bytes) {
  return fmt::format("reserve_mem={}M:4096:kmemtrace trace_instance=kmemtrace@kmemtrace", bytes >> 20);
}

std::string parameters_for_this_machine(unsigned cpus) {
  // the available memory would differ from run to run
  const auto total = find_proc_value(try_read_file("/proc/meminfo").value_or(""), "MemTotal");
  return persistent_parameters(suitable_persistent_bytes(cpus, total ? total->value : 0));
}

std::uint64_t suitable_persistent_bytes(unsigned cpus, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const std::uint64_t wanted = std::max(cpus, 1u) * 8 * kMiB;
  return std::max(std::min(wanted, memory_bytes / 16 / kMiB * kMiB), kMiB);
}

std::uint64_t buffer_bytes_of(const std::string& instance) {
  std::uint64_t bytes = 0;
  for (const unsigned cpu : ring_buffer_cpus(instance)) bytes += read_buffer_size(instance, cpu);
  return bytes;
}

std::uint64_t count_unread(const std::string& instance) {
  std::uint64_t unread = 0;
  for (const unsigned cpu : ring_buffer_cpus(instance))
    unread += parse_buffer_counters(read_buffer_statistics(instance, cpu)).unread;
  return unread;
}

std::string current_use(const std::string& instance) {
  const std::string tracer(trim(try_read_file(instance + "/current_tracer").value_or("nop")));
  if (tracer != "nop") return fmt::format("the tracer {}", printable(tracer));
  const std::string events = try_read_file(instance + "/set_event").value_or("");
  return printable(events.substr(0, events.find('\n')));
}

LastBoot parse_last_boot_info(std::string_view text) {
  LastBoot found;
  for (const std::string_view line : split(text, '\n')) {
    constexpr std::string_view kDelta = "text delta:";
    if (trim(line) == "# Current") found.is_current = true;
    if (line.starts_with(kDelta)) {
      if (const auto delta = parse_number<std::int64_t>(trim(line.substr(kDelta.size()))))
        found.text_delta = static_cast<std::uint64_t>(*delta);
      continue;
    }
    std::string_view rest = line;
    const auto address = take_number<std::uint64_t>(rest, 16);
    if (!address || *address == 0 || rest.empty() || rest.front() != '\t') continue;
    const std::string_view name = trim(rest);
    if (name == "[kernel]")
      found.kernel_text = *address;
    else if (!name.empty())
      found.modules[std::string(name)] = *address;
  }
  return found;
}

LastBoot last_boot_of(const std::string& instance) {
  return parse_last_boot_info(read_file(instance + "/last_boot_info"));
}

// Kernels that restore the clock also save addresses. Their last_boot_info has no line "text delta".
bool restores_clock(const LastBoot& last) { return !last.text_delta; }

std::string kallsyms_of_earlier_boot(std::string_view kallsyms, std::uint64_t text,
                                     const std::map<std::string, std::uint64_t>& modules,
                                     std::string_view modules_now) {
  const auto text_now = kernel_text_address(kallsyms);
  if (!text_now) return {};
  std::map<std::string, std::uint64_t, std::less<>> moved;  // by how much the code of a module lay higher, modulo 2^64
  for (const LoadedModule& module : parse_modules(modules_now))
    if (const auto earlier = modules.find(module.name); earlier != modules.end() && module.begin != 0)
      moved[module.name] = earlier->second - module.begin;
  std::string earlier;
  earlier.reserve(kallsyms.size());
  for (std::size_t at = 0; at < kallsyms.size();) {
    const std::size_t end = std::min(kallsyms.find('\n', at), kallsyms.size());
    std::string_view rest = kallsyms.substr(at, end - at);
    at = end + 1;
    const auto address = take_number<std::uint64_t>(rest, 16);
    if (!address || rest.size() < 4) continue;  // a line is " T NAME" or " T NAME\t[MODULE]" after its address
    std::uint64_t shift = text - *text_now;
    if (const std::size_t open = rest.find("\t["); open != rest.npos) {
      const auto found = moved.find(rest.substr(open + 2, rest.size() - open - 3));
      const bool is_code = std::string_view("tTwW").find(rest[1]) != std::string_view::npos;
      if (found == moved.end() || !is_code) continue;
      shift = found->second;
    } else if (*address < *text_now) {
      shift = 0;  // an absolute symbol
    }
    earlier += fmt::format("{:016x}{}\n", *address + shift, rest);
  }
  return earlier;
}

}  // namespace kmt
