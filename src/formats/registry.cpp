// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/event_records.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/reader.hpp"
#include "formats/kmt/records.hpp"
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
      "files, relay files of kmemtrace, and text of ftrace, `trace-cmd report` and `perf script`");
  return error;
}

// Has a magic number, which no relay file has.
bool is_marked(const TraceFile& file) { return kmt_format::is_kmt(file.bytes) || tracedat::is_trace_dat(file.bytes); }

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

std::unique_ptr<Source> open_file(const TraceFile& file, const OpenOptions& options) {
  if (is_marked(file)) {
    refuse_relay_options(options);
    return kmt_format::is_kmt(file.bytes) ? kmt_format::open(file, options) : tracedat::open(file, options);
  }
  if (text::is_text(file.bytes)) {
    refuse_relay_options(options);
    return text::open(file, options);
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
    if (fs::is_directory(path, code)) return open_relay(path, options);
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
  if (kmt_format::is_kmt(file.bytes)) return kmt_format::read_records(file, sink, findings);
  if (tracedat::is_trace_dat(file.bytes)) return tracedat::read_records(file, sink, findings);
  if (text::is_text(file.bytes)) return text::read_records(file, sink, findings);
  read_event_records([&file] { return open_trace(file); }, sink, findings);
}

void read_records(const std::string& path, const OpenOptions& options, RecordSink& sink, Findings& findings) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    const auto mapping = std::make_shared<const MappedFile>(path);
    const TraceFile file{path, mapping->bytes(), mapping};
    if (is_marked(file) || text::is_text(file.bytes)) {
      refuse_relay_options(options);
      return read_records(file, sink, findings);
    }
  }
  read_event_records([&] { return open_trace(path, options); }, sink, findings);
}

}  // namespace kmt
