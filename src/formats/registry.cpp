// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/records.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/reader.hpp"
#include "formats/kmt/records.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/reader.hpp"
#include "formats/tracedat/records.hpp"

namespace kmt {

namespace {

Error not_a_trace(const TraceFile& file) {
  const char* const what = std::filesystem::is_directory(file.path) ? "The folder has no trace that kmemtrace knows"
                           : file.bytes.empty()                     ? "The file is empty"
                                                                    : "The file is no trace that kmemtrace knows";
  Error error(what);
  error.at({file.path, {}, {}});
  error.hint(
      "Known are trace.dat files, versions 6 and 7, as `kmemtrace record` and `trace-cmd record` write them, .kmt "
      "files, and folders with a CTF trace, as LTTng writes them");
  return error;
}

}  // namespace

TraceFile open_trace_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) return {path, {}, nullptr};
  const auto file = std::make_shared<const MappedFile>(path);
  return {path, file->bytes(), file};
}

std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options) {
  return open_trace(open_trace_file(path), options);
}

std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options) {
  try {
    if (kmt_format::is_kmt(file.bytes)) return kmt_format::open(file, options);
    if (tracedat::is_trace_dat(file.bytes)) return tracedat::open(file, options);
    if (ctf::is_ctf(file.path)) return ctf::open(file, options);
    throw not_a_trace(file);
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});  // no reader has to say it
  }
}

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  if (kmt_format::is_kmt(file.bytes)) return kmt_format::read_records(file, sink, findings);
  if (tracedat::is_trace_dat(file.bytes)) return tracedat::read_records(file, sink, findings);
  if (ctf::is_ctf(file.path)) return ctf::read_records(file, sink, findings);
  throw not_a_trace(file);
}

}  // namespace kmt
