// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/registry.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/records.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/reader.hpp"
#include "formats/kmt/records.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/reader.hpp"
#include "formats/perfdata/records.hpp"
#include "formats/records_of_events.hpp"
#include "formats/relay/reader.hpp"
#include "formats/text/reader.hpp"
#include "formats/text/wrapped.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/reader.hpp"
#include "formats/tracedat/records.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

struct Disguise {
  std::string_view begin;
  const char* what;
  const char* hint;
};
constexpr const char* kUnpack = "Unpack it first";
constexpr const char* kToUtf8 = "Convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8";
// Files that must be unpacked or converted before kmemtrace can read them. They are rejected with a hint.
constexpr Disguise kDisguises[] = {{"\x1F\x8B", "compressed with gzip", kUnpack},
                                   {"\x28\xB5\x2F\xFD", "compressed with zstd", kUnpack},
                                   {"\xFD"
                                    "7zXZ",
                                    "compressed with xz", kUnpack},
                                   {"BZh", "compressed with bzip2", kUnpack},
                                   {"\x04\x22\x4D\x18", "compressed with lz4", kUnpack},
                                   {"PK\x03\x04", "a zip archive", kUnpack},
                                   {"\xFF\xFE", "UTF-16 text", kToUtf8},
                                   {"\xFE\xFF", "UTF-16 text", kToUtf8}};

Error not_a_trace(const TraceFile& file) {
  const std::string_view begin(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  for (const Disguise& disguise : kDisguises) {
    if (!begin.starts_with(disguise.begin)) continue;
    return Error(fmt::format("The file is {}, which kmemtrace does not read", disguise.what))
        .at({file.path, {}, {}})
        .hint(disguise.hint);
  }
  if (auto error = text::why_no_text(file.bytes)) return error->at({file.path, {}, {}});
  for (const char* const words : {"Mem-Info:", "Mem-info:", "memory: usage ", "MemTotal:"})
    if (begin.find(words) != begin.npos)
      return Error("The file is not a trace, but may show the state of memory")
          .at({file.path, {}, {}})
          .hint("Show it with `kmemtrace snapshot --from FILE`");
  return Error(file.bytes.empty() ? "The file is empty" : "The file is not a trace in a known format")
      .at({file.path, {}, {}})
      .hint(
          "Known formats: trace.dat versions 6 and 7 (from `kmemtrace record` or `trace-cmd record`), .kmt, perf.data, "
          "folders with a CTF trace (from LTTng), relay files of kmemtrace, and text from ftrace, `trace-cmd report`, "
          "`perf script`, atrace or systrace");
}

// The functions that read one format.
struct Format {
  bool (*is_of)(Bytes);
  std::unique_ptr<Source> (*open)(const TraceFile&, const OpenOptions&);
  void (*read_records)(const TraceFile&, RecordSink&, Findings&);
};
// The formats that are recognised by the first bytes of a file.
constexpr std::array kFormats = {Format{kmt_format::is_kmt, kmt_format::open, kmt_format::read_records},
                                 Format{tracedat::is_trace_dat, tracedat::open, tracedat::read_records},
                                 Format{perfdata::is_perf_data, perfdata::open, perfdata::read_records},
                                 Format{text::is_text, text::open, text::read_records}};
constexpr Format kCtf = {nullptr, ctf::open, ctf::read_records};  // recognised by the files in a folder

void refuse_relay_options(const OpenOptions& options) {
  if (!options.abi.empty()) throw Error("--abi is only for relay files, but the trace has another format");
  if (!options.more_files.empty()) throw Error("Give only one trace: only relay files can be combined");
}

bool is_relay(const TraceFile& file, const OpenOptions& options) {
  if (!options.abi.empty() || !options.more_files.empty()) return true;
  if (file.bytes.empty())
    return relay::cpu_of_name(file.path).has_value();  // an empty relay file is valid: its CPU had no events
  return relay::is_relay(file.bytes);
}

// A trace whose format is known.
struct Recognised {
  const Format* format = nullptr;  // null for relay files
  TraceFile file;                  // if it is a folder, only the path is set
  // True if this is a relay file, and the other files of its folder belong to the trace.
  bool has_folder = false;
};

// If the file is compressed text of atrace, a web page, JSON or a mail, returns the text of the trace in it. Returns
// other files unchanged.
TraceFile unwrapped(const TraceFile& file) {
  std::optional<text::UnwrappedText> found = text::unwrap(file.bytes);
  if (!found) return file;
  auto contents = std::make_shared<const MappedFile>(file.path, std::move(found->text));
  return {file.path, contents->bytes(), contents, std::move(found->damage)};
}

Recognised recognise(const TraceFile& given, const OpenOptions& options) {
  const TraceFile file = unwrapped(given);
  const auto* const format = std::ranges::find_if(kFormats, [&](const Format& one) { return one.is_of(file.bytes); });
  if (format != kFormats.end()) {
    refuse_relay_options(options);
    return {format, file};
  }
  if (!is_relay(file, options)) throw not_a_trace(file);
  return {nullptr, file};
}

// Throws Error for a folder that perf record wrote with --threads or --kcore. Such a folder has a file `data` with the
// trace or its start.
void refuse_folder_of_perf(const std::string& path) {
  const fs::path folder(path);
  std::error_code code;
  if (!fs::is_regular_file(folder / "data", code) || !perfdata::is_perf_data(MappedFile(folder / "data").bytes()))
    return;
  Error error("The folder was written by perf record, and kmemtrace does not read it");
  error.at({path, {}, {}});
  if (fs::exists(folder / "data.0", code))
    error.hint("Record without --threads: perf then writes a single file");
  else
    error.hint("Give the file in the folder: " + printable((folder / "data").string()));
  throw error;
}

// Files that are not regular, such as devices and pipes, are read into memory.
std::shared_ptr<const MappedFile> whole_file(const std::string& path) {
  try {
    return std::make_shared<const MappedFile>(path);
  } catch (const std::bad_alloc&) {
    throw Error("The file does not fit into memory").at({path, {}, {}}).hint("Copy a pipe or device to a file first");
  }
}

Recognised recognise(const std::string& path, const OpenOptions& options) {
  refuse_folder_of_perf(path);
  std::error_code code;
  if (ctf::is_ctf(path)) {
    refuse_relay_options(options);
    return {&kCtf, {path, {}, nullptr}};
  }
  if (fs::is_directory(path, code)) return {nullptr, {path, {}, nullptr}, true};
  if (path.empty())
    throw Error("The name of the trace is empty").hint("If the command contains a shell variable, check its value");
  const auto mapping = whole_file(path);
  Recognised found = recognise(TraceFile{path, mapping->bytes(), mapping}, options);
  found.has_folder = fs::is_regular_file(path, code);
  return found;
}

std::unique_ptr<Source> open(const Recognised& trace, const OpenOptions& options) {
  if (trace.format != nullptr) return trace.format->open(trace.file, options);
  if (!trace.has_folder) return relay::open(relay::capture_of(trace.file), options);
  std::vector<std::string> paths = {trace.file.path};
  paths.insert(paths.end(), options.more_files.begin(), options.more_files.end());
  return relay::open(relay::find_capture(paths), options);
}

void give_records(const Recognised& trace, const OpenOptions& options, RecordSink& sink, Findings& findings) {
  if (trace.format != nullptr) return trace.format->read_records(trace.file, sink, findings);
  records_of_events([&] { return open(trace, options); }, sink, findings);
}

}  // namespace

std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options) {
  try {
    return open(recognise(path, options), options);
  } catch (Error& error) {
    throw error.at({path, {}, {}});  // add the path unless the reader has added it
  }
}

std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options) {
  try {
    return open(recognise(file, options), options);
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});
  }
}

void read_records(const TraceFile& file, const OpenOptions& options, RecordSink& sink, Findings& findings) {
  give_records(recognise(file, options), options, sink, findings);
}

void read_records(const std::string& path, const OpenOptions& options, RecordSink& sink, Findings& findings) {
  give_records(recognise(path, options), options, sink, findings);
}

}  // namespace kmt
