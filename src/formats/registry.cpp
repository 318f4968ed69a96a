// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/records.hpp"
#include "formats/event_records.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/reader.hpp"
#include "formats/kmt/records.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/reader.hpp"
#include "formats/perfdata/records.hpp"
#include "formats/relay/reader.hpp"
#include "formats/text/reader.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/reader.hpp"
#include "formats/tracedat/records.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

Error not_a_trace(const TraceFile& file) {
  Error error(file.bytes.empty() ? "The file is empty" : "The file is no trace that kmemtrace knows");
  error.at({file.path, {}, {}});
  error.hint(
      "Known are trace.dat files, versions 6 and 7, as `kmemtrace record` and `trace-cmd record` write them, .kmt "
      "files, perf.data files, folders with a CTF trace, as LTTng writes them, relay files of kmemtrace, and text of "
      "ftrace, "
      "`trace-cmd report` and `perf script`");
  return error;
}

// Formats that are told by how their files begin. Relay files are none, theirs is guessed, and they come in
// folders, as CTF does.
struct Format {
  bool (*is_of)(Bytes);
  std::unique_ptr<Source> (*open)(const TraceFile&, const OpenOptions&);
  void (*read_records)(const TraceFile&, RecordSink&, Findings&);
};
constexpr std::array kFormats = {Format{kmt_format::is_kmt, kmt_format::open, kmt_format::read_records},
                                 Format{tracedat::is_trace_dat, tracedat::open, tracedat::read_records},
                                 Format{perfdata::is_perf_data, perfdata::open, perfdata::read_records},
                                 Format{text::is_text, text::open, text::read_records}};

// Null when it is of none of them.
const Format* format_of(const TraceFile& file) {
  const auto found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& format) { return format.is_of(file.bytes); });
  return found == kFormats.end() ? nullptr : &*found;
}

void refuse_relay_options(const OpenOptions& options) {
  if (!options.abi.empty()) throw Error("--abi is for relay files, and the trace is none");
  if (!options.more_files.empty()) throw Error("Only relay files make up one trace together, and the trace is none");
}

bool is_relay(const TraceFile& file, const OpenOptions& options) {
  if (!options.abi.empty() || !options.more_files.empty()) return true;
  if (file.bytes.empty()) return relay::cpu_of_name(file.path).has_value();  // nothing happened on that CPU
  return relay::is_relay(file.bytes);
}

// With what is beside the files.
std::unique_ptr<Source> open_relay(const std::string& path, const OpenOptions& options) {
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.more_files.begin(), options.more_files.end());
  return relay::open(relay::find_capture(paths), options);
}

std::unique_ptr<Source> open_folder(const std::string& path, const OpenOptions& options) {
  if (!ctf::is_ctf(path)) return open_relay(path, options);
  refuse_relay_options(options);
  return ctf::open({path, {}, nullptr}, options);
}

std::unique_ptr<Source> open_file(const TraceFile& file, const OpenOptions& options) {
  if (const Format* const format = format_of(file)) {
    refuse_relay_options(options);
    return format->open(file, options);
  }
  if (!is_relay(file, options)) throw not_a_trace(file);
  std::error_code code;
  const bool in_folder = file.mapping && fs::is_regular_file(file.path, code);
  return in_folder ? open_relay(file.path, options) : relay::open(relay::capture_of(file), options);
}

}  // namespace

std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options) {
  try {
    std::error_code code;
    if (fs::is_directory(path, code)) return open_folder(path, options);
    const auto file = std::make_shared<const MappedFile>(path);
    return open_file(TraceFile{path, file->bytes(), file}, options);
  } catch (Error& error) {
    throw error.at({path, {}, {}});  // no reader has to say it
  }
}

std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options) {
  try {
    return open_file(file, options);
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});
  }
}

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  if (const Format* const format = format_of(file)) return format->read_records(file, sink, findings);
  read_event_records([&file] { return open_trace(file); }, sink, findings);
}

void read_records(const std::string& path, const OpenOptions& options, RecordSink& sink, Findings& findings) {
  std::error_code code;
  if (ctf::is_ctf(path)) {
    refuse_relay_options(options);
    return ctf::read_records({path, {}, nullptr}, sink, findings);
  }
  if (!fs::is_directory(path, code)) {
    const auto mapping = std::make_shared<const MappedFile>(path);
    const TraceFile file{path, mapping->bytes(), mapping};
    if (format_of(file) != nullptr) {
      refuse_relay_options(options);
      return read_records(file, sink, findings);
    }
  }
  read_event_records([&] { return open_trace(path, options); }, sink, findings);
}

}  // namespace kmt
