// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/files/export_clickhouse.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/parse_time.hpp"
#include "cli/support/say.hpp"
#include "fleet/account.hpp"
#include "fleet/schema.hpp"
#include "fleet/trace_id.hpp"
#include "reading/snapshots.hpp"
#include "reading/standard_input.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

// The version of the row format, which is part of the trace ID. Increase the version if the rows of a trace change.
constexpr std::string_view kRows = "kmemtrace.fleet.rows/5";
constexpr std::string_view kAccountRows = "kmemtrace.fleet.account/1";

bool is_url(const std::string& word) { return word.starts_with("http://") || word.starts_with("https://"); }

// Adds the contents of a file, or of all files in a folder, to the trace ID.
void add_bytes(const std::string& path, TraceId& id) {
  if (path == "-") return id.add(standard_input().bytes);
  std::error_code code;
  const bool is_folder = std::filesystem::is_directory(path, code);
  for (const std::string& file : is_folder ? files_below(path) : std::vector{path}) {
    const MappedFile mapped(file);
    id.add(mapped.bytes());
    mapped.let_go(mapped.bytes());
  }
}

std::uint32_t began(const ClickHouseOptions& options, const TraceInfo& info) {
  if (!options.recorded_at.empty()) return parse_utc(options.recorded_at);
  if (const auto note = info.recording.notes.find("recorded_at"); note != info.recording.notes.end())
    return parse_utc(note->second);
  throw Error(fmt::format("The recording time of {} is unknown", printable(info.path)))
      .hint(
          "Add --recorded-at TIME. To use the modification time of FILE: --recorded-at $(date -u -r FILE "
          "+%FT%TZ)");
}

// True for default host names, which many machines have. The sources are CONFIG_DEFAULT_HOSTNAME and the defaults of
// installers.
bool is_default_host_name(std::string_view host) {
  return host.empty() || host == "(none)" || host == "localhost" || host == "localhost.localdomain";
}

std::string host(const ClickHouseOptions& options, const TraceInfo& info) {
  if (!options.host.empty()) return printable(options.host);
  if (const auto note = info.recording.notes.find("host"); note != info.recording.notes.end()) {
    if (!is_default_host_name(note->second)) return printable(note->second);
    throw Error(
        fmt::format("The host of {} has only a default name (\"{}\")", printable(info.path), printable(note->second)))
        .hint(
            "Name it with --host NAME, because hosts with the same name cannot be distinguished; /etc/machine-id is "
            "unique");
  }
  throw Error(fmt::format("{} does not name its host", printable(info.path))).hint("Name it with --host NAME");
}

std::string blocks_text(const LoadCounts& counts, std::string_view what) {
  std::string text =
      fmt::format("{} {} in {} block{}, {}", humane_count(counts.rows), what, humane_count(counts.blocks),
                  counts.blocks == 1 ? "" : "s", humane_bytes(counts.bytes));
  if (counts.found > 0) text += fmt::format("; {} were already on the server", humane_count(counts.found));
  if (counts.retried > 0) text += fmt::format("; {} needed a retry", humane_count(counts.retried));
  return text;
}

}  // namespace

void add_clickhouse_options(Command& command, ClickHouseOptions& options) {
  command.option("--level", &options.level, "LEVEL",
                 "Load events or only aggregates (default: events)\n"
                 "(clickhouse only) Aggregates are sums per second, which `kmemtrace fleet` shows.",
                 {.words = {"events", "aggregates"}});
  command.option("--host", &options.host, "NAME",
                 "Use NAME as the host of the trace (default: the host named in the trace)\n(clickhouse only)");
  command.option("--recorded-at", &options.recorded_at, "TIME",
                 "Set the time when recording started, in UTC (default: from the trace)\n(clickhouse only) Example: "
                 "2026-11-21T12:13:14Z. A .kmt file and a perf.data of `perf record -k CLOCK` contain this time; a "
                 "trace.dat does not.");
  command.option("--retry", &options.retry, "DURATION",
                 "Retry for DURATION to send a block to the server (default: 2m)\n(clickhouse only) Blocks that the "
                 "server has received are not sent again.");
}

std::string take_url(std::vector<std::string>& words) {
  const auto url = std::ranges::find_if(words, is_url);
  if (url == words.end())
    throw Error("The URL of the server is missing").hint("kmemtrace export FILE --to clickhouse http://HOST:8123/");
  std::string taken = *url;
  words.erase(url);
  return taken;
}

ServerAddress server_at(const std::string& url, const std::string& retry) {
  ServerAddress address = parse_server(url);
  if (!retry.empty()) address.patience = std::chrono::milliseconds(parse_duration(retry) / 1'000'000);
  address.say = [](const std::string& note) {
    const bool over_progress = ::isatty(STDERR_FILENO) == 1;
    say("{}note: {}\n", over_progress ? "\r\x1b[K" : "", note);
  };
  return address;
}

void export_account(const ClickHouseOptions& options, const std::string& path) {
  const SnapshotSeries series = read_series({path}, kThresholds.usual_bytes_per_s);
  const SnapshotFile file(path);
  TraceInfo info;
  info.path = path;
  info.recording.notes["host"] = file.reader()->kernel().node_name;
  const std::uint32_t began = options.recorded_at.empty()
                                  ? static_cast<std::uint32_t>(series.first_unix_ns / 1'000'000'000)
                                  : parse_utc(options.recorded_at);
  FleetTrace account{"", host(options, info), began, false};
  TraceId id;
  id.add(kAccountRows);
  id.add(account.host);
  id.add(fmt::format("{}", account.began));
  add_bytes(path, id);
  account.id = id.text();
  const ServerAddress address = server_at(options.url, options.retry);
  ClickHouse server(address);
  prepare_schema(server, "");
  const std::uint64_t rows = load_account(address, account, series);
  if (rows == 0)
    say("note: account {} of {} is already loaded\n", account.id, account.host);
  else
    say("note: loaded account {} of {}: {} amounts\n", account.id, account.host, humane_count(rows));
}

ClickHouseExport::ClickHouseExport(const ClickHouseOptions& options, const std::vector<std::string>& files,
                                   const std::string& selection, const TraceInfo& info)
    : server_(server_at(options.url, options.retry)),
      trace_{"", host(options, info), began(options, info), options.level == "events"} {
  TraceId id;
  id.add(kRows);
  id.add(trace_.host);
  id.add(fmt::format("{}", trace_.began));
  id.add(selection);
  if (files.empty()) add_bytes(default_trace(), id);
  for (const std::string& file : files) add_bytes(file, id);
  trace_.id = id.text();
  ClickHouse server(server_);
  prepare_schema(server, "");
}

bool ClickHouseExport::is_there_already() const {
  if (!is_loaded(server_, trace_)) return false;
  say("note: trace {} of {} is already loaded\n", trace_.id, trace_.host);
  return true;
}

FleetExport* ClickHouseExport::sink(const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers) {
  return &sink_.emplace(server_, info, symbols, callers, trace_);
}

void ClickHouseExport::say_what_was_loaded(bool complete) const {
  if (!complete) {
    say("note: trace {} of {} is incomplete and therefore hidden; run the same command again to continue\n", trace_.id,
        trace_.host);
    return;
  }
  say("note: loaded trace {} of {}: {}", trace_.id, trace_.host, blocks_text(sink_->sums(), "sums"));
  if (trace_.with_events) say("; {}", blocks_text(sink_->events(), "events"));
  say("\n");
  // At this point, the trace is already loaded. So it is not an error if the comparison with other traces fails.
  std::uint64_t others = 0;
  try {
    others = traces_of_its_time(server_, trace_);
  } catch (const Error&) {
  }
  if (others > 0)
    say("note: {} of {} from the same time {} already loaded; events in several traces are counted several times (was "
        "this trace converted or cut from one of them?)\n",
        others == 1 ? "another trace" : humane_count(others) + " other traces", trace_.host,
        others == 1 ? "is" : "are");
}

}  // namespace kmt
