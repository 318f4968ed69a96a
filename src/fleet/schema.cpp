// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/schema.hpp"

#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "fleet/answer.hpp"
#include "fleet/sql_files.hpp"
#include "fleet/sql_text.hpp"

namespace kmt {

namespace {

// In this order, never changed once released: what comes later is a migration of its own. Every statement of one can
// be run again, so that what was interrupted is just begun again.
struct Migration {
  const char* tables;
  const char* of_cluster;
};
constexpr std::array kMigrations = {Migration{sql::tables_1, sql::cluster_1}};

void run_all(ClickHouse& server, const char* text, const SqlPlaces& places) {
  for (const std::string& statement : statements_of(fill_sql(text, places))) server.run(statement);
}

bool has_table(ClickHouse& server, const std::string& name) {
  return !server
              .query(fmt::format("SELECT 1 FROM system.tables WHERE database = {} AND name = {}",
                                 sql_string(server.database()), sql_string(name)))
              .empty();
}

}  // namespace

void prepare_schema(ClickHouse& server, const std::string& cluster) {
  const std::string database = sql_name(server.database());
  const std::string versions = database + ".schema_versions";
  server.run("CREATE DATABASE IF NOT EXISTS " + database);
  server.run("CREATE TABLE IF NOT EXISTS " + versions +
             " (version UInt32, applied DateTime) ENGINE = MergeTree() PARTITION BY tuple() ORDER BY version");
  const bool is_shard = has_table(server, "sums_local");
  if (!cluster.empty() && !is_shard && has_table(server, "sums")) {
    Error error(fmt::format("The database {} has tables of a single server", server.database()));
    throw error.hint("Name another database in the URL: http://HOST:8123/DATABASE");
  }
  const std::vector<nlohmann::json> newest = server.query("SELECT max(version) FROM " + versions);
  const std::uint32_t done = newest.empty() ? 0 : AnswerCells(newest.front()).number_32();
  if (done > kMigrations.size()) {
    Error error(fmt::format("The database {} was made by a newer kmemtrace: its schema is {}, this one knows {}",
                            server.database(), done, kMigrations.size()));
    throw error.hint("Use that version, or name another database in the URL");
  }
  const bool has_text_type =
      !server.query("SELECT 1 FROM system.data_type_families WHERE name = 'LowCardinality'").empty();
  const SqlPlaces places = {{"database", database},
                            {"text", has_text_type ? "LowCardinality(String)" : "String"},
                            {"local", is_shard || !cluster.empty() ? "_local" : ""},
                            {"cluster", sql_name(cluster)}};
  for (std::size_t i = done; i < kMigrations.size(); ++i) {
    run_all(server, kMigrations[i].tables, places);
    if (!cluster.empty()) run_all(server, kMigrations[i].of_cluster, places);
    server.run(fmt::format("INSERT INTO {} SELECT toUInt32({}), now()", versions, i + 1));
  }
}

}  // namespace kmt
