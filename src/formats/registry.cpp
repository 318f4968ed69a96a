// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/reader.hpp"
#include "formats/kmt/records.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/reader.hpp"
#include "formats/perfdata/records.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/reader.hpp"
#include "formats/tracedat/records.hpp"

namespace kmt {

namespace {

Error not_a_trace(const TraceFile& file) {
  Error error(file.bytes.empty() ? "The file is empty" : "The file is no trace that kmemtrace knows");
  error.at({file.path, {}, {}});
  error.hint(
      "Known are trace.dat files, versions 6 and 7, as `kmemtrace record` and `trace-cmd record` write them, .kmt "
      "files, and perf.data files");
  return error;
}

}  // namespace

std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  return open_trace(TraceFile{path, file->bytes(), file}, options);
}

std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options) {
  try {
    if (kmt_format::is_kmt(file.bytes)) return kmt_format::open(file, options);
    if (tracedat::is_trace_dat(file.bytes)) return tracedat::open(file, options);
    if (perfdata::is_perf_data(file.bytes)) return perfdata::open(file, options);
    throw not_a_trace(file);
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});  // no reader has to say it
  }
}

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  if (kmt_format::is_kmt(file.bytes)) return kmt_format::read_records(file, sink, findings);
  if (tracedat::is_trace_dat(file.bytes)) return tracedat::read_records(file, sink, findings);
  if (perfdata::is_perf_data(file.bytes)) return perfdata::read_records(file, sink, findings);
  throw not_a_trace(file);
}

}  // namespace kmt
