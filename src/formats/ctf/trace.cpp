// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/trace.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/ftrace/format_text.hpp"
#include "formats/kmt/file.hpp"

namespace kmt::ctf {

namespace {

using Environment = std::map<std::string, std::string>;

Environment environment_of(const bt_trace* trace) {
  Environment environment;
  for (std::uint64_t i = 0; i < bt_trace_get_environment_entry_count(trace); ++i) {
    const char* name = nullptr;
    const bt_value* value = nullptr;
    bt_trace_borrow_environment_entry_by_index_const(trace, i, &name, &value);
    if (bt_value_is_string(value) != 0)
      environment[name] = bt_value_string_get(value);
    else if (bt_value_is_signed_integer(value) != 0)
      environment[name] = std::to_string(bt_value_integer_signed_get(value));
  }
  return environment;
}

std::string tracer_of(const Environment& environment) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  std::string tracer = value("tracer_name");
  const std::string major = value("tracer_major"), minor = value("tracer_minor"), patch = value("tracer_patchlevel");
  if (!major.empty()) tracer += " " + major;
  if (!minor.empty()) tracer += "." + minor;
  if (!patch.empty()) tracer += "." + patch;
  return printable(tracer);
}

// Returns a word for the `uname` text. Blanks become "_", because they separate words.
std::string word_of_uname(const Environment& environment, const char* name, const char* unknown) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return unknown;
  std::string text = found->second;
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

const bt_clock_class* clock_of(const bt_stream* stream) {
  return bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
}

// Reports empty stream files. Their data is missing, because each stream that a tracer writes has at least one packet.
void find_empty_streams(const std::vector<std::vector<std::string>>& traces, const std::string& path,
                        Findings& findings) {
  namespace fs = std::filesystem;
  for (const auto& folders : traces)
    for (const std::string& folder : folders)
      for (const std::string& name : names_in(folder)) {
        const fs::path file = fs::path(folder) / name;
        std::error_code code;
        if (name.starts_with('.') || !fs::is_regular_file(file, code) || fs::file_size(file, code) != 0) continue;
        findings.add(
            {Imperfection::missing_cpu, printable(fs::relative(file, path).string()) + " is empty", {}, {}, {}});
      }
}

// Notes the machine of a trace. A trace has a UUID of its own, which all parts of a rotated recording share.
void note_host(const bt_trace* trace, std::map<std::string, std::string>& hosts_by_uuid) {
  const bt_uuid uuid = bt_trace_get_uuid(trace);
  if (uuid == nullptr) return;
  const Environment environment = environment_of(trace);
  const auto host = environment.find("hostname");
  hosts_by_uuid[std::string(reinterpret_cast<const char*>(uuid), 16)] =
      host == environment.end() ? std::string() : host->second;
}

// Throws Error if the traces are of several machines or sessions. Their events must not be matched with each other.
void refuse_several(const std::map<std::string, std::string>& hosts_by_uuid, const std::string& path) {
  if (hosts_by_uuid.size() < 2) return;
  std::set<std::string> hosts;
  for (const auto& [uuid, host] : hosts_by_uuid) hosts.insert(host.empty() ? "unknown" : printable(host));
  throw Error(hosts.size() > 1 ? fmt::format("The folder has traces of several machines: {}", fmt::join(hosts, ", "))
                               : fmt::format("The folder has {} recordings of the kernel", hosts_by_uuid.size()))
      .hint("Name the folder of one of them")
      .at({path, {}, {}});
}

}  // namespace

Trace::Trace(const std::string& path, Findings& findings) : folders_(find_folders(path)) {
  const auto shown = [&path](const std::string& below) {
    return printable(std::filesystem::relative(below, path).string());
  };
  for (const std::string& stream : folders_.missing)
    findings.add(
        {Imperfection::missing_cpu, fmt::format("{} is missing, but its index exists", shown(stream)), {}, {}, {}});
  for (const DoubtedStream& stream : folders_.doubted)
    findings.add({stream.is_cut_off ? Imperfection::cut_off_cpu : Imperfection::damaged_section,
                  fmt::format("{}: {}", shown(stream.path), stream.detail), stream.cpu});
  read_description(findings);
  if (!is_described) find_empty_streams(folders_.traces, path, findings);
  if (!folders_.kallsyms.empty()) description.kernel.kallsyms = read_file(folders_.kallsyms);
  try {
    graph_ = std::make_unique<Graph>(folders_.traces);
  } catch (const Error& refusal) {
    salvage_ = std::make_unique<Salvage>(folders_.traces, refusal, findings);
    graph_ = std::make_unique<Graph>(salvage_->traces());
  }
  // If there is a description.kmt, compare_streams() has already reported missing streams.
  const bool is_alone = folders_.traces.size() == 1;
  if (!is_alone || !is_described)
    for (const std::size_t empty : graph_->empty_traces())
      findings.add({Imperfection::missing_cpu,
                    (is_alone ? "the trace" : shown(folders_.traces[empty].front())) + " has no stream"});
  open_streams(path, findings);
  if (is_lttng)
    for (const MissingStreams& gap : folders_.gaps)
      findings.add(
          {Imperfection::missing_cpu,
           gap.count == 1 ? fmt::format("{} is missing: each channel has a stream for each CPU", shown(gap.first))
                          : fmt::format("{} streams from {} on are missing", gap.count, shown(gap.first)),
           {},
           {},
           {}},
          gap.count);
}

std::optional<TimeRange> Trace::time_range() const {
  return ctf::time_range(salvage_ ? salvage_->traces().front() : folders_.traces.front());
}

void Trace::read_description(Findings& findings) {
  KernelDescription& kernel = description.kernel;
  if (!folders_.description.empty()) try {
      const MappedFile file(folders_.description);
      if (!kmt_format::is_kmt(file.bytes())) throw Error("it is not a .kmt file");
      description = kmt_format::parse_file(file.bytes(), findings).description;
      is_described = true;
    } catch (const Error& error) {
      findings.add({Imperfection::damaged_section, fmt::format("{}: {}", kDescriptionName, error.what())});
    }
  if (const auto streams = kernel.notes.extract(kStreamsNote)) compare_streams(streams.mapped(), findings);
  if (is_described) return;
  kernel.byte_order = folders_.byte_order;
  findings.add({Imperfection::assumed_page_size});
}

// Compares the stream files with the sizes in the note kStreamsNote. Without the note, a missing file or a truncated
// file would not be noticed.
void Trace::compare_streams(std::string_view streams, Findings& findings) const {
  for (std::string_view line : split(streams, '\n')) {
    const auto cpu = take_number<unsigned>(line);
    if (!cpu || line.empty()) continue;
    const auto bytes = parse_leading<std::uint64_t>(line.substr(1));
    if (!bytes) continue;
    const std::string name = written_stream(*cpu);
    std::error_code missing;
    const std::uint64_t left =
        std::filesystem::file_size(std::filesystem::path(folders_.description).parent_path() / name, missing);
    if (missing)
      findings.add({Imperfection::missing_cpu, fmt::format("{} is missing", name), *cpu});
    else if (left < *bytes)
      findings.add({Imperfection::cut_off_cpu, fmt::format("{} has {} of {} bytes", name, left, *bytes), *cpu});
  }
}

void Trace::open_streams(const std::string& path, Findings& findings) {
  records = std::make_unique<RecordBuilder>(description.kernel.formats, description.kernel.byte_order, findings);
  const bt_stream* first = nullptr;
  std::map<std::string, std::string> hosts_by_uuid;
  std::vector<std::unique_ptr<StreamCursor>> streams;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < graph_->streams(); ++i) {
    auto stream = std::make_unique<StreamCursor>(*graph_, i, folders_.earlier_packets);
    const bool has_any = stream->advance();
    if (stream->stream() != nullptr) {
      const bt_trace* const trace = bt_stream_borrow_trace_const(stream->stream());
      const Environment environment = environment_of(trace);
      if (const auto domain = environment.find("domain"); domain != environment.end() && domain->second == "ust") {
        findings.add({Imperfection::unknown_section, "a trace of programs, not of the kernel"});
        continue;
      }
      if (first == nullptr) first = stream->stream();
      records->add(bt_trace_borrow_class_const(trace));
      if (has_any) note_host(trace, hosts_by_uuid);
    }
    if (!has_any) continue;
    first_ns = std::min(first_ns, stream->step().time_ns);
    streams.push_back(std::move(stream));
  }
  for (auto& stream : streams) {
    if (!stream->begin_at(first_ns)) continue;
    if (!stream->has_cpu() && findings.count_of(Imperfection::unknown_cpus) == 0)
      findings.add({Imperfection::unknown_cpus, "the packets have no CPU"});
    const unsigned cpu = stream->cpu();
    cpus.try_emplace(cpu, *records).first->second.add(std::move(stream));
  }
  refuse_several(hosts_by_uuid, path);
  records->finish(findings);
  describe_by_environment(first, findings);
}

void Trace::describe_by_environment(const bt_stream* stream, Findings& findings) {
  const Environment environment =
      stream != nullptr ? environment_of(bt_stream_borrow_trace_const(stream)) : Environment();
  const std::string tracer = tracer_of(environment);
  is_lttng = tracer.starts_with("lttng");
  format = tracer.empty() ? "CTF" : "CTF of " + tracer;
  KernelDescription& kernel = description.kernel;
  kernel.formats = records->texts();
  if (!cpus.empty()) kernel.cpus = std::max(kernel.cpus, cpus.rbegin()->first + 1);
  if (!is_described) kernel.cpus = std::max(kernel.cpus, folders_.streams_of_channel);
  if (is_described) return;

  kernel.long_bytes = records->long_bytes();
  kernel.header_page = header_page_text(kernel.long_bytes, 4096);
  kernel.header_event = header_event_text();
  const bt_clock_class* const clock = stream != nullptr ? clock_of(stream) : nullptr;
  const char* const clock_name = clock != nullptr ? bt_clock_class_get_name(clock) : nullptr;
  kernel.clock = clock_name != nullptr ? clock_name : "";
  kernel.clock_choices = fmt::format("[{}]", kernel.clock);
  kernel.clock_scale.mult = 1;  // one tick is 1 ns, because libbabeltrace2 converts times to nanoseconds
  if (stream != nullptr && clock == nullptr) {
    kernel.clock_scale.mult = 0;
    findings.add({Imperfection::clock_not_nanoseconds, "its streams have no clock"});
  }
  description.uname = fmt::format(
      "{} {} {} {}", word_of_uname(environment, "sysname", "Linux"), word_of_uname(environment, "hostname", "unknown"),
      word_of_uname(environment, "kernel_release", "unknown"), word_of_uname(environment, "architecture", "unknown"));
  const auto note = [&](const char* name, const char* variable) {
    if (const auto found = environment.find(variable); found != environment.end()) kernel.notes[name] = found->second;
  };
  if (!tracer.empty()) kernel.notes["recorder"] = tracer;
  note("kernel_version", "kernel_version");
  note("recorded_at", "trace_creation_datetime");
}

}  // namespace kmt::ctf
