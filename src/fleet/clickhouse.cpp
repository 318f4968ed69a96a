// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/clickhouse.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "fleet/answer.hpp"
#include "fleet/sql_text.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Codes of ClickHouse errors that may be temporary (dbms/src/Common/ErrorCodes.cpp).
constexpr std::array kPassing = {
    32,   // ATTEMPT_TO_READ_AFTER_EOF: the connection to a shard was lost
    159,  // TIMEOUT_EXCEEDED
    198,  // DNS_ERROR
    202,  // TOO_MANY_SIMULTANEOUS_QUERIES
    203,  // NO_FREE_CONNECTION
    209,  // SOCKET_TIMEOUT
    210,  // NETWORK_ERROR
    216,  // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING
    236,  // ABORTED: the server is shutting down
    241,  // MEMORY_LIMIT_EXCEEDED: the running queries together need too much memory
    252,  // TOO_MANY_PARTS
    279,  // ALL_CONNECTION_TRIES_FAILED: a shard is not reachable
    473,  // DEADLOCK_AVOIDED
};
// Errors that mean that the server cannot reach another server. Other network errors may be about the connection to
// this client.
constexpr std::array kOfAnother = {198, 279};
// Makes the server answer only after the query has ended, so that an error sets the HTTP status. Without this setting,
// the text of an error could be in the middle of the answer.
const std::pair<std::string, std::string> kWholeAnswer = {"wait_end_of_query", "1"};
constexpr std::array kNoSuchColumn = {16, 47};  // NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_IDENTIFIER
constexpr int kUnknownTable = 60;
constexpr int kUnknownDatabase = 81;

milliseconds left_until(Clock::time_point end) {
  return std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds{0});
}

// Returns the number in "Code: 47, e.displayText() = …", or 0 if there is no number.
int code_of(std::string_view text) {
  constexpr std::string_view kMark = "Code: ";
  const std::size_t at = text.find(kMark);
  return at == std::string_view::npos ? 0 : parse_leading<int>(text.substr(at + kMark.size())).value_or(0);
}

// Returns the error text as one line, without repeated lines. An error of a cluster has the cause only in later lines,
// and repeats it for each attempt.
std::string words_of(std::string_view text) {
  constexpr std::size_t kMost = 600;
  std::string words;
  for (const std::string_view line : split(text, '\n')) {
    if (const std::string_view said = trim(line); words.find(said) == std::string::npos)
      words += (words.empty() ? "" : " ") + std::string(said);
    if (words.size() >= kMost) break;
  }
  return printable(std::string_view(words).substr(0, kMost));
}

// True if the error says that a table or database does not exist. If a shard has no tables, the error has code 279
// (unreachable) and this cause in its text.
bool lacks_tables(int code, std::string_view text) {
  return code == kUnknownTable || code == kUnknownDatabase ||
         text.find("There is no table") != std::string_view::npos ||
         text.find(fmt::format("Code: {},", kUnknownTable)) != std::string_view::npos ||
         text.find(fmt::format("Code: {},", kUnknownDatabase)) != std::string_view::npos;
}

const char* environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

ServerAddress parse_server(const std::string& url) {
  ServerAddress address{parse_http_url(url)};
  if (address.http.user.empty()) address.http.user = environment("CLICKHOUSE_USER");
  if (address.http.password.empty()) address.http.password = environment("CLICKHOUSE_PASSWORD");
  std::string_view path = address.http.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) address.database = path;
  return address;
}

ClickHouse::ClickHouse(ServerAddress address) : address_(std::move(address)), client_(address_.http) {}

// Sends a query once. Returns the reason for a failure, or an empty text. The query may take a long time. So if the
// last request failed, or there was none, a short query first shows whether the server answers.
std::string ClickHouse::attempt(const Parameters& parameters, std::string_view body, std::string& answer) {
  constexpr std::chrono::seconds kShort{10};
  std::string failure;
  if (!has_answered_) failure = take(client_.post({}, "SELECT 1", kShort), answer);
  if (failure.empty()) failure = take(client_.post(parameters, body), answer);
  has_answered_ = failure.empty();
  return failure;
}

std::string ClickHouse::take(HttpReply reply, std::string& answer) const {
  if (reply.never)
    throw Error(
        fmt::format("Cannot communicate with the server at {}: {}", address_.http.base, printable(reply.failure)))
        .hint("ClickHouse uses port 8123 for http and port 8443 for https");
  if (!reply.failure.empty()) return "cannot be reached: " + reply.failure;
  const int code = code_of(reply.body);
  if (reply.status == 200) {
    answer = std::move(reply.body);
    return {};
  }
  std::string said = reply.body.empty() ? fmt::format("HTTP status {}", reply.status) : words_of(reply.body);
  const bool no_tables = lacks_tables(code, reply.body);
  if (!no_tables && std::ranges::find(kOfAnother, code) != kOfAnother.end())
    return "cannot reach another server of its cluster: " + said;
  if ((!no_tables && std::ranges::find(kPassing, code) != kPassing.end()) || (code == 0 && reply.status >= 500))
    return "cannot answer now: " + said;
  Error error(fmt::format("The server at {} refuses the query: {}", address_.http.base, said));
  if (no_tables)
    error.hint(
        "The tables do not exist yet. `kmemtrace export FILE --to clickhouse URL` creates them and loads a trace. In a "
        "cluster, first run `kmemtrace fleet schema --server URL --cluster NAME` for each server");
  else if (std::ranges::find(kNoSuchColumn, code) != kNoSuchColumn.end())
    error.hint(
        "Tables of an older version of kmemtrace still exist. In a cluster, run `kmemtrace fleet schema` for each "
        "server");
  throw error;
}

void ClickHouse::say_that_it_waits(const std::string& failure) {
  if (std::exchange(has_announced_wait_, true) || address_.say == nullptr) return;
  const auto patience = static_cast<std::uint64_t>(std::chrono::nanoseconds(address_.patience).count());
  address_.say(fmt::format("the server at {} {}; retrying for up to {}", address_.http.base, failure,
                           humane_duration(patience)));
}

std::string ClickHouse::tried(const Parameters& parameters, std::string_view body) {
  const Clock::time_point end = Clock::now() + address_.patience;
  std::string answer;
  for (milliseconds pause{100};; pause = std::min(pause * 2, milliseconds{5000})) {
    const std::string failure = attempt(parameters, body, answer);
    if (failure.empty()) return answer;
    if (left_until(end) == milliseconds{0})
      throw Error(fmt::format("The server at {} {}", address_.http.base, failure))
          .hint("--retry TIME retries for longer");
    say_that_it_waits(failure);
    std::this_thread::sleep_for(std::min(pause, left_until(end)));
  }
}

// Returns the settings that the server knows. The settings differ between versions of ClickHouse, and a server refuses
// a setting that it does not know.
const ClickHouse::Parameters& ClickHouse::settings() {
  if (!settings_.empty()) return settings_;
  const Parameters wanted = {{"allow_experimental_low_cardinality_type", "1"},  // version 18.16 requires this setting
                             {"insert_distributed_sync", "1"},  // the server answers only after the rows are stored
                             {"async_insert", "0"},
                             kWholeAnswer};
  std::string names;
  for (const auto& [name, value] : wanted) names += (names.empty() ? "" : ", ") + sql_string(name);
  const std::string known =
      tried({}, "SELECT name FROM system.settings WHERE name IN (" + names + ") FORMAT TabSeparated");
  for (const auto& setting : wanted)
    if (setting == kWholeAnswer || ("\n" + known).find("\n" + setting.first + "\n") != std::string::npos)
      settings_.push_back(setting);
  return settings_;
}

void ClickHouse::run(const std::string& sql) { tried(settings(), sql); }

std::vector<nlohmann::json> ClickHouse::query(const std::string& sql) {
  // Sends only this setting, because a read-only user must not change others.
  const std::string text = tried({kWholeAnswer}, sql + "\nFORMAT JSONCompact");
  return rows_of_answer(text);
}

bool ClickHouse::insert(const std::string& table, std::string_view columns, std::string_view rows,
                        const std::string& query_id, const std::function<bool()>& is_there) {
  Parameters parameters = settings();
  parameters.emplace_back("query_id", query_id);
  parameters.emplace_back(
      "query", fmt::format("INSERT INTO {}.{} ({}) FORMAT RowBinary", sql_name(address_.database), table, columns));
  const Clock::time_point end = Clock::now() + address_.patience;
  std::string answer;
  for (milliseconds pause{100};; pause = std::min(pause * 2, milliseconds{5000})) {
    const std::string failure = attempt(parameters, rows, answer);
    if (failure.empty()) return pause != milliseconds{100};
    if (left_until(end) == milliseconds{0})
      throw Error(fmt::format("Cannot load the trace: the server at {} {}", address_.http.base, failure))
          .hint("Rows that were stored are not sent again. Run the same command when the server can be reached");
    say_that_it_waits(failure);
    do std::this_thread::sleep_for(std::min(pause, left_until(end)));
    while (Clock::now() < end &&
           !query("SELECT 1 FROM system.processes WHERE query_id = " + sql_string(query_id)).empty());
    if (is_there()) return true;
  }
}

}  // namespace kmt
