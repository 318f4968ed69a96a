// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/account.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "fleet/answer.hpp"
#include "fleet/row_binary.hpp"
#include "fleet/schema.hpp"
#include "fleet/sql_files.hpp"
#include "fleet/sql_text.hpp"

namespace kmt {

namespace {

constexpr std::string_view kAccountColumns =
    "day, host, kernel, trace, began, seconds, snapshots, part, name, first_bytes, last_bytes, bytes_per_s, "
    "least_bytes_per_s, verdict, loaded";
constexpr std::uint32_t kSecondsOfDay = 86'400;

std::int64_t whole_bytes(double bytes) { return static_cast<std::int64_t>(std::clamp(bytes, -9e18, 9e18)); }

std::uint64_t rows_of(ClickHouse& server, const FleetTrace& trace) {
  return AnswerCells(server
                         .query(fmt::format("SELECT count() FROM {}.accounts WHERE trace = {}",
                                            sql_name(server.database()), sql_string(trace.id)))
                         .at(0))
      .count();
}

// Returns the number of selected hosts. A host that changed its kernel counts once.
std::uint64_t hosts_of(ClickHouse& server, const SqlPlaces& places) {
  constexpr std::string_view kHosts = "SELECT uniqExact(host) FROM {database}.accounts WHERE {traces}";
  return AnswerCells(server.query(fill_sql(kHosts, places)).at(0)).count();
}

AccountRow& row_named(std::vector<AccountRow>& rows, std::string part, std::string name) {
  if (rows.empty() || rows.back().part != part || rows.back().name != name)
    rows.push_back({std::move(part), std::move(name), {}});
  return rows.back();
}

// A series only has rows for amounts that changed, and for all lines of the balance sheet. So an amount may lack hosts
// and kernels on which it does not grow. The line "slab" of the balance sheet has all hosts and kernels.
void add_hosts_without_growth(std::vector<AccountRow>& rows) {
  const auto in_all = std::ranges::find_if(rows, [](const AccountRow& row) {
    return row.part == describe(SnapshotPart::balance_sheet).id && row.name == "slab";
  });
  if (in_all == rows.end()) return;
  const std::vector<AccountOnKernel> all = in_all->kernels;
  for (AccountRow& row : rows)
    for (const AccountOnKernel& kernel : all) {
      auto known = std::ranges::find(row.kernels, kernel.kernel, &AccountOnKernel::kernel);
      if (known == row.kernels.end()) known = row.kernels.insert(known, AccountOnKernel{kernel.kernel});
      known->hosts = kernel.hosts;
      known->files = kernel.files;
    }
}

}  // namespace

std::uint64_t load_account(const ServerAddress& address, const FleetTrace& trace, const SnapshotSeries& series) {
  ClickHouse server(address);
  RowBinary rows;
  std::uint64_t count = 0;
  for (const SnapshotRow& row : series.rows) {
    if (!row.judged || row.values.empty()) continue;
    ++count;
    rows.number(static_cast<std::uint16_t>(trace.began / kSecondsOfDay))
        .text(trace.host)
        .text(printable(series.release));
    rows.text(trace.id).number(trace.began).number(static_cast<double>(series.span_ns()) / 1e9);
    rows.number(std::uint64_t{series.stored}).text(describe(row.part).id).text(printable(row.name));
    rows.number(whole_bytes(row.values.front())).number(whole_bytes(row.values.back()));
    rows.number(row.trend.bytes_per_s).number(row.trend.low).text(describe(row.verdict).id);
    rows.number(static_cast<std::uint32_t>(std::time(nullptr)));
  }
  if (count == 0) throw Error("The file has no amounts of kernel memory").hint("Use another file");
  const auto is_there = [&] { return rows_of(server, trace) >= count; };
  if (is_there()) return 0;
  server.insert("accounts", kAccountColumns, rows.bytes(), fmt::format("kmemtrace-{}-accounts", trace.id), is_there);
  return count;
}

FleetAccount fleet_account(ClickHouse& server, const FleetSelection& selection) {
  check_schema(server);
  FleetAccount account;
  account.selection = words_of(selection);
  const SqlPlaces places = {{"database", sql_name(server.database())}, {"traces", condition_of(selection, "began")}};
  for (const nlohmann::json& answer : server.query(fill_sql(sql::account, places))) {
    AnswerCells cells(answer);
    std::string part = cells.text();
    AccountOnKernel one;
    AccountRow& row = row_named(account.rows, std::move(part), cells.text());
    one.kernel = cells.text();
    one.hosts = cells.count();
    one.growing_hosts = cells.count();
    one.files = cells.count();
    one.growing_files = cells.count();
    one.growing_host_names = cells.texts();
    one.bytes_per_s = cells.decimal().value_or(0);
    one.last_bytes = cells.number();
    row.kernels.push_back(std::move(one));
  }
  if (account.rows.empty())
    throw Error("The server has no account of kernel memory" +
                (account.selection.empty() ? std::string() : ": " + account.selection))
        .hint("`kmemtrace export SERIES.kmt --to clickhouse URL` loads one");
  account.hosts = hosts_of(server, places);
  add_hosts_without_growth(account.rows);
  for (AccountRow& row : account.rows) std::ranges::sort(row.kernels, is_older_release, &AccountOnKernel::kernel);
  std::ranges::stable_sort(account.rows, [](const AccountRow& a, const AccountRow& b) {
    return std::pair(a.growing_hosts(), a.bytes_per_s()) > std::pair(b.growing_hosts(), b.bytes_per_s());
  });
  return account;
}

}  // namespace kmt
