// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/boot.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/features/tsc_scale.hpp"
#include "capture/ftrace/ring_readers.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

// The size in KiB per CPU to which the kernel sets the top-level buffer on first use (TRACE_BUF_SIZE_DEFAULT in
// kernel/trace/trace.c).
constexpr const char* kDefaultKilobytes = "1408";

// Splits kernel parameters as the kernel does (next_arg in lib/cmdline.c). Blanks in quotes do not separate parameters,
// and quotes are removed. Parameters after "--" are for init, so they are ignored.
std::vector<std::string> split_parameters(std::string_view cmdline) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool any = false;
  const auto end_word = [&] {
    if (any) words.push_back(std::move(word));
    word.clear();
    any = false;
  };
  for (const char c : cmdline) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
      end_word();
    } else {
      word += c;
      any = true;
    }
  }
  end_word();
  words.erase(std::find(words.begin(), words.end(), "--"), words.end());
  return words;
}

void add_list(std::vector<std::string>& list, std::string_view text) {
  for (const std::string_view part : split(text, ','))
    if (!part.empty()) list.emplace_back(part);
}

// Parses a decimal size such as "64M", with the suffixes K, M and G of the kernel's memparse(). Ignores text after the
// size. Returns 0 if the text does not start with a number, or if the number without its suffix exceeds 2^32.
std::uint64_t parse_kernel_size(std::string_view text) {
  const std::uint64_t size = take_number<std::uint64_t>(text).value_or(0);
  if (size > (1ull << 32)) return 0;
  switch (text.empty() ? '\0' : text.front()) {
    case 'K':
    case 'k': return size << 10;
    case 'M':
    case 'm': return size << 20;
    case 'G':
    case 'g': return size << 30;
    default: return size;
  }
}

bool names_event(const std::string& pattern, const EventName& event) {
  const std::size_t colon = pattern.find(':');
  if (colon == std::string::npos) return pattern == event.system || pattern == event.name || pattern == "*";
  const auto fits = [](std::string_view part, const std::string& name) {
    return part.empty() || part == "*" || part == name;
  };
  const std::string_view text = pattern;
  return fits(text.substr(0, colon), event.system) && fits(text.substr(colon + 1), event.name);
}

// Parses the lines of set_event, such as "kmem:kmalloc".
std::vector<EventName> enabled_events(const std::string& buffer) {
  std::vector<EventName> events;
  const std::string text = try_read_file(buffer + "/set_event").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      events.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
  }
  return events;
}

bool has_tracer(const std::string& buffer) { return trim(read_file(buffer + "/current_tracer")) != "nop"; }

bool is_empty(const std::string& buffer) {
  const std::vector<unsigned> cpus = ring_buffer_cpus(buffer);
  return std::all_of(cpus.begin(), cpus.end(), [&buffer](unsigned cpu) {
    return parse_buffer_counters(read_buffer_statistics(buffer, cpu)).unread == 0;
  });
}

// True if the ring buffer has the size that the boot parameters request. The kernel rounds the requested size up to
// whole pages, and uses some bytes of each page itself.
bool has_size_of_boot(const std::string& tracefs, const BootParameters& parameters) {
  const std::uint64_t asked = parameters.buffer_bytes;
  const std::vector<unsigned> cpus = ring_buffer_cpus(tracefs);
  const std::uint64_t size = cpus.empty() ? 0 : read_buffer_size(tracefs, cpus.front());
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return asked > 0 && size >= asked && size <= asked + asked / 32 + 3 * page;
}

// True if the parameters of this boot set up the top-level buffer. The size is compared too, because someone may have
// released that buffer and then used it for other tracing.
bool is_top_level_ours(const std::string& tracefs, const BootParameters& parameters,
                       const std::vector<EventName>& available) {
  const bool of_memory = std::any_of(available.begin(), available.end(), [&parameters](const EventName& event) {
    return event.system == "kmem" && names_event(parameters.events, event);
  });
  if (!of_memory || !has_size_of_boot(tracefs, parameters)) return false;
  return !enabled_events(tracefs).empty() || !is_empty(tracefs);
}

void refuse_if_others_use(const std::string& tracefs, const BootParameters& parameters) {
  std::string use;
  if (has_tracer(tracefs)) use = fmt::format("the tracer {}", trim(read_file(tracefs + "/current_tracer")));
  for (const EventName& event : enabled_events(tracefs))
    if (!names_event(parameters.events, event)) use = to_string(event);
  if (use.empty()) return;
  throw Error(
      fmt::format(
          "The top-level ring buffer has another user: {} is enabled, but is not in the parameters of this boot",
          printable(use)),
      ExitCode::unsupported)
      .hint("End the other tracing first; otherwise, its events would be taken for events of the boot")
      .at({tracefs, {}, {}});
}

// Returns the options of the top-level buffer that must be reset, because new instances inherit them.
std::vector<std::pair<std::string, std::string>> options_to_restore(const std::string& tracefs,
                                                                    const BootParameters& parameters) {
  std::vector<std::pair<std::string, std::string>> restore;
  if (has_tracer(tracefs)) return restore;
  for (const std::string& option : parameters.options) {
    if (option == "nooverwrite") restore.emplace_back("overwrite", "1");
    if (option == "stacktrace") restore.emplace_back("stacktrace", "0");
  }
  return restore;
}

double seconds_since_boot() { return static_cast<double>(boottime_ns()) / 1e9; }

}  // namespace

BootParameters parse_boot_parameters(std::string_view cmdline) {
  BootParameters parameters;
  for (const std::string& word : split_parameters(cmdline)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string_view value = std::string_view(word).substr(equals + 1);
    if (key == "trace_event") add_list(parameters.events, value);
    if (key == "trace_options") add_list(parameters.options, value);
    if (key == "trace_buf_size") parameters.buffer_bytes = parse_kernel_size(value);
    if (key != "trace_instance") continue;
    parameters.instances.emplace_back(value);
    const std::string_view first = value.substr(0, value.find(','));  // the value is NAME, NAME^flag or NAME@place
    if (first.substr(0, first.find_first_of("^@")) == kBootInstance)
      add_list(parameters.instance_events, value.substr(first.size()));
  }
  return parameters;
}

bool names_event(const std::vector<std::string>& patterns, const EventName& event) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&event](const std::string& pattern) { return names_event(pattern, event); });
}

std::string current_clock(const std::string& buffer) {
  const std::string text = read_file(buffer + "/trace_clock");  // content of trace_clock, such as "local [global] …"
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) throw Error("Cannot determine the buffer's trace clock");
  return text.substr(open + 1, close - open - 1);
}

std::optional<BootBuffer> find_boot_buffer(const std::string& tracefs, const BootParameters& parameters) {
  BootBuffer buffer;
  buffer.path = fmt::format("{}/instances/{}", tracefs, kBootInstance);
  const std::vector<EventName> available = available_events(tracefs);
  buffer.top_level = ::access(buffer.path.c_str(), F_OK) != 0;
  if (buffer.top_level) {
    if (!is_top_level_ours(tracefs, parameters, available)) return std::nullopt;
    refuse_if_others_use(tracefs, parameters);
    buffer.path = tracefs;
  }
  const std::vector<std::string>& named = buffer.top_level ? parameters.events : parameters.instance_events;
  const std::vector<EventName> enabled = enabled_events(buffer.path);
  for (const EventName& event : available)
    if (names_event(named, event) || std::find(enabled.begin(), enabled.end(), event) != enabled.end())
      buffer.events.push_back(event);
  buffer.clock = current_clock(buffer.path);
  buffer.to_restore = options_to_restore(tracefs, parameters);
  return buffer;
}

RecordOutcome collect_boot_buffer(const std::string& tracefs, const BootBuffer& buffer,
                                  const std::string& scratch_directory, const RecordHooks& hooks) {
  RecordOutcome outcome;
  const ClockScale scale = scale_of_clock(buffer.clock);
  write_file(buffer.path + "/tracing_on", "0");
  outcome.seconds = seconds_since_boot();
  const std::vector<unsigned> cpus = ring_buffer_cpus(buffer.path);
  for (const unsigned cpu : cpus) {
    const std::uint64_t size = read_buffer_size(buffer.path, cpu);
    outcome.cost.ring_buffer_bytes += size;
    const auto unread =
        static_cast<double>(parse_buffer_counters(read_buffer_statistics(buffer.path, cpu)).unread_bytes);
    if (size > 0)
      outcome.cost.fullest_buffer = std::max(outcome.cost.fullest_buffer, unread / static_cast<double>(size));
  }

  KernelDescription& kernel = outcome.recording.kernel;
  kernel = describe_kernel(tracefs, buffer.path, buffer.events, buffer.clock);
  kernel.clock_scale = scale;
  Tasks tasks;
  tasks.add_saved_cmdlines(tracefs);
  tasks.scan_proc();
  tasks.describe(kernel);
  PageSink* const sink = hooks.described ? hooks.described(kernel, cpus) : nullptr;
  if (hooks.sampled) {
    StateSample sample = sample_memory_state();
    sample.ticks = parse_buffer_counters(read_buffer_statistics(buffer.path, cpus.front())).now_ticks;
    hooks.sampled(sample);
  }

  RingReaders readers(buffer.path, kernel.sub_buffer_bytes, scratch_directory, sink);
  readers.start();
  outcome.recording.cpus = readers.finish(outcome.write_error);
  if (!outcome.write_error.empty()) outcome.end = RecordEnd::cannot_write;
  for (RawCpu& cpu : outcome.recording.cpus) cpu.statistics = read_buffer_statistics(buffer.path, cpu.cpu);
  add_own_cost(outcome.cost);
  return outcome;
}

bool release_boot_buffer(const std::string& tracefs, const BootBuffer& buffer) {
  for (const auto& [option, value] : buffer.to_restore)
    write_file(fmt::format("{}/options/{}", tracefs, option), value);
  if (!buffer.top_level) return remove_own_instance(buffer.path, 2);
  for (const EventName& event : buffer.events)
    write_file(fmt::format("{}/events/{}/{}/enable", tracefs, event.system, event.name), "0");
  open_file(tracefs + "/trace", O_WRONLY | O_TRUNC);  // clears the buffer and its counters
  write_file(tracefs + "/buffer_size_kb", kDefaultKilobytes);
  write_file(tracefs + "/tracing_on", "1");
  return true;
}

}  // namespace kmt
