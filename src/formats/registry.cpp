// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/reader.hpp"

namespace kmt {

std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  return open_trace(TraceFile{path, file->bytes(), file}, options);
}

std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options) {
  if (tracedat::is_trace_dat(file.bytes)) return tracedat::open(file, options);
  Error error(file.bytes.empty() ? "The file is empty" : "The file is no trace that kmemtrace knows");
  error.at({file.path, {}, {}});
  error.hint("Known are trace.dat files, versions 6 and 7, as `kmemtrace record` and `trace-cmd record` write them");
  throw error;
}

}  // namespace kmt
