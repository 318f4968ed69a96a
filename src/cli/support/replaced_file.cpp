// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/replaced_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/gzip.hpp"
#include "base/output_file.hpp"
#include "base/varint.hpp"
#include "formats/kmt/file.hpp"
#include "formats/tracedat/file.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// An existing file that an output would replace.
struct Existing {
  std::string path;
  Bytes whole;
  std::string_view head;
};

bool has(const Existing& file, std::string_view text) { return file.head.find(text) != std::string_view::npos; }

bool is_html(const Existing& file) { return file.head.starts_with("<!DOCTYPE html>"); }
bool is_svg(const Existing& file) { return has(file, "<svg"); }
bool is_junit(const Existing& file) { return has(file, "<testsuite"); }
bool is_csv(const Existing& file) { return file.head.starts_with("time_ns,cpu,"); }
bool is_jsonl(const Existing& file) { return file.head.starts_with("{\"time_ns\":"); }
bool is_json_profile(const Existing& file) { return has(file, "\"schema\": \"kmemtrace.profile/"); }
bool is_speedscope(const Existing& file) { return has(file, "speedscope.app/file-format-schema"); }
bool is_firefox(const Existing& file) { return has(file, "\"preprocessedProfileVersion\""); }
bool is_chrome(const Existing& file) { return has(file, "\"traceEvents\""); }
bool is_dat(const Existing& file) { return tracedat::is_trace_dat(file.whole); }
// True for a .kmt file with a trace. A .kmt file without any readable chunk also counts, because it may have been a
// trace.
bool is_kmt_trace(const Existing& file) {
  const kmt_format::Content content = kmt_format::content_of(file.whole);
  return kmt_format::is_kmt(file.whole) &&
         (content == kmt_format::Content::trace || content == kmt_format::Content::unknown);
}
bool is_kmt_of_snapshots(const Existing& file) {
  return kmt_format::content_of(file.whole) == kmt_format::Content::snapshots;
}
bool is_kmt_profile(const Existing& file) { return kmt_format::content_of(file.whole) == kmt_format::Content::profile; }
// True for a database that this program wrote. The schema is in the first pages of the file and has a column name that
// only this program uses.
bool is_sqlite(const Existing& file) { return file.head.starts_with("SQLite format 3") && has(file, "lost_events"); }
// True for collapsed stacks, such as "[slab];kmalloc_trace;vfs_read 4096".
bool is_collapsed(const Existing& file) {
  return file.head.starts_with('[') && has({{}, {}, file.head.substr(0, file.head.find('\n'))}, "];");
}

// True if the text starts with messages of Protocol Buffers. Each message must have a valid length and a field number
// up to `most_field`.
bool is_protobuf(std::string_view text, std::uint64_t most_field) {
  constexpr unsigned kFieldsLookedAt = 16;
  constexpr std::uint64_t kWithLength = 2;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::uint8_t* const end = at + text.size();
  for (unsigned i = 0; i < kFieldsLookedAt && at != end; ++i) {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    if (!read_varint(at, end, tag) || !read_varint(at, end, value)) return false;
    if (tag >> 3 == 0 || tag >> 3 > most_field || (tag & 7) != kWithLength) return false;
    if (value >= static_cast<std::uint64_t>(end - at)) return i > 0;
    at += value;
  }
  return true;
}
bool is_perfetto(const Existing& file) { return is_protobuf(file.head, 1); }
bool is_pprof(const Existing& file) {
  constexpr std::uint64_t kLastField = 15;
  if (!file.head.starts_with("\x1f\x8b")) return false;
  const std::optional<std::string> text = try_read_gzip(file.path);
  return text && is_protobuf(*text, kLastField);
}

struct OutputKind {
  std::string_view name;  // name of an export format, a command or a file extension
  std::string_view noun;
  bool (*is)(const Existing&);
};

constexpr std::array<OutputKind, 17> kKinds{{
    {"kmt", "a .kmt file of a trace", is_kmt_trace},
    {"snapshot", "a .kmt file of snapshots", is_kmt_of_snapshots},
    {"profile", "a .kmt file of a profile", is_kmt_profile},
    {"dat", "a trace.dat", is_dat},
    {"html", "an HTML page", is_html},
    {"flamegraph", "an SVG image", is_svg},
    {"junit", "a JUnit report", is_junit},
    {"pprof", "a pprof profile", is_pprof},
    {"json", "a profile of `kmemtrace profile` as JSON", is_json_profile},
    {"speedscope", "a speedscope profile", is_speedscope},
    {"firefox", "a profile for Firefox Profiler", is_firefox},
    {"collapsed", "collapsed stacks of `kmemtrace export`", is_collapsed},
    {"perfetto", "a Perfetto trace", is_perfetto},
    {"chrome", "a Chrome trace", is_chrome},
    {"csv", "CSV of `kmemtrace export`", is_csv},
    {"jsonl", "JSON Lines of `kmemtrace export`", is_jsonl},
    {"sqlite", "an SQLite database of `kmemtrace export`", is_sqlite},
}};

std::string text_of(const Option* option) {
  const auto* const text = option ? std::get_if<std::string*>(&option->target) : nullptr;
  return text ? **text : "";
}

// Returns the kind of file that `convert` and `repair` write, which is the kind of their input.
std::string kmt_kind_of(const std::string& input) {
  std::error_code code;
  if (!fs::is_regular_file(input, code)) return "kmt";
  switch (kmt_format::content_of(MappedFile(input).bytes())) {
    case kmt_format::Content::snapshots: return "snapshot";
    case kmt_format::Content::profile: return "profile";
    default: return "kmt";
  }
}

std::string kind_name(const Command& command, const Option& output, const std::string& path) {
  if (output.has_name("--html")) return "html";
  if (output.has_name("--junit")) return "junit";
  if (command.name == "export") return text_of(command.find("--to"));
  if (command.name == "flamegraph" || command.name == "snapshot") return command.name;
  for (const auto& [end, kind] : {std::pair{".dat", "dat"}, {".html", "html"}, {".json", "json"}, {".pb.gz", "pprof"}})
    if (path.ends_with(end)) return kind;
  if (command.name == "investigate") return "";  // the output is a folder
  if (command.name == "profile") return command.name;
  if (command.name == "convert") return kmt_kind_of(text_of(command.find("INPUT")));
  if (command.name == "repair") return kmt_kind_of(text_of(command.find("FILE")));
  return "kmt";
}

// Returns an error if the output would replace a file of another kind. Empty files and special files may be replaced.
std::optional<Error> refusal(const std::string& path, const OutputKind& kind) {
  std::error_code code;
  if (!fs::is_regular_file(path, code) || fs::file_size(path, code) == 0) return std::nullopt;
  constexpr std::size_t kHeadBytes = 1 << 16;
  const MappedFile file(path);
  const Bytes whole = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  if (kind.is({path, whole, text.substr(0, kHeadBytes)})) return std::nullopt;
  Error error(fmt::format("The output exists and is not {}", kind.noun));
  error.at({path, {}, {}}).hint("Name another file, or replace this file with --force");
  return error;
}

bool records(const Command& command) { return command.name == "record" || command.name == "graph"; }

void refuse_other_kind(const Command& command, const Option& output) {
  const std::string path = text_of(&output);
  if (path.empty() || path == "-" || open_number(path)) return;
  const std::string name = kind_name(command, output, path);
  const auto* const kind = std::ranges::find(kKinds, name, &OutputKind::name);
  if (kind == kKinds.end()) return;
  std::optional<Error> error = refusal(path, *kind);
  std::error_code code;
  if (!error && records(command) && fs::exists(path, code)) {
    error = refusal(path + ".old", *kind);
    if (error) error->context("Renaming the earlier output to FILE.old");
  }
  if (error) throw *std::move(error);
}

}  // namespace

void add_force(Command& command) {
  static bool parsed = false;  // the parser needs a variable for the flag, but its value is not used
  if (std::ranges::any_of(kOutputs, [&](const char* name) { return command.find(name) != nullptr; }))
    command.flag("--force", &parsed,
                 "Replace an existing output of any kind (default: only an output of the same kind)");
}

void refuse_other_kinds(const Command& command) {
  if (command.find("--force") == nullptr || command.has("--force")) return;
  for (const char* const name : kOutputs)
    if (const Option* const output = command.find(name)) refuse_other_kind(command, *output);
}

}  // namespace kmt
