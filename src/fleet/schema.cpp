// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "fleet/answer.hpp"
#include "fleet/sql_files.hpp"
#include "fleet/sql_text.hpp"

namespace kmt {

namespace {

// A step that creates or changes tables. Migrations run in this order. A released migration never changes; later
// changes are new migrations. Most statements can be repeated, so an interrupted migration is run again as a whole.
// ClickHouse 18.16 has no ADD COLUMN IF NOT EXISTS, so a migration with a new column runs only if the column is
// missing.
struct Migration {
  const char* tables;
  const char* of_cluster;
  std::string_view table = "sums";
  std::string_view new_column = {};  // the column that this migration adds to `table`; empty: none
};
constexpr std::array kMigrations = {Migration{sql::tables_1, sql::cluster_1},
                                    Migration{sql::tables_2, sql::cluster_2, "sums", "freed_unseen"},
                                    Migration{sql::tables_3, sql::cluster_3, "traces", "may_lack_frees"},
                                    Migration{sql::tables_4, sql::cluster_4, "sums", "migrate_type"},
                                    Migration{sql::tables_5, sql::cluster_5, "traces", "lacks_frees_of"},
                                    Migration{sql::tables_6, sql::cluster_6, "sums", "untraced"},
                                    Migration{sql::tables_7, sql::cluster_7, "sums", "directory"},
                                    Migration{sql::tables_8, sql::cluster_8},
                                    Migration{sql::tables_9, sql::cluster_9, "sums", "slab_pages"}};

bool has_column(ClickHouse& server, const std::string& table, std::string_view column) {
  return !server
              .query(fmt::format("SELECT 1 FROM system.columns WHERE database = {} AND table = {} AND name = {}",
                                 sql_string(server.database()), sql_string(table), sql_string(column)))
              .empty();
}

// Runs a migration unless `table` already has the column `new_column`.
void run_all(ClickHouse& server, const char* text, const SqlPlaces& places, const std::string& table,
             std::string_view new_column) {
  const auto is_done = [&] { return !new_column.empty() && has_column(server, table, new_column); };
  if (is_done()) return;
  try {
    for (const std::string& statement : statements_of(fill_sql(text, places))) server.run(statement);
  } catch (const Error&) {
    if (!is_done()) throw;  // otherwise, another process has added the column
  }
}

bool has_table(ClickHouse& server, const std::string& name) {
  return !server
              .query(fmt::format("SELECT 1 FROM system.tables WHERE database = {} AND name = {}",
                                 sql_string(server.database()), sql_string(name)))
              .empty();
}

// Returns the number of the last migration that was run on this server.
std::uint32_t version_of(ClickHouse& server) {
  const std::vector<nlohmann::json> newest =
      server.query(fmt::format("SELECT max(version) FROM {}.schema_versions", sql_name(server.database())));
  return newest.empty() ? 0 : AnswerCells(newest.front()).number_32();
}

// Returns the name of the cluster for which the tables were made. engine_full is "Distributed('fleet', 'kmemtrace',
// …)", or without quotation marks.
std::string cluster_of_tables(ClickHouse& server) {
  const std::vector<nlohmann::json> rows =
      server.query(fmt::format("SELECT extract(engine_full, '^Distributed[(][\\'\"`]?([^\\'\"`,)]+)') FROM "
                               "system.tables WHERE database = {} AND name = 'sums'",
                               sql_string(server.database())));
  std::string cluster = rows.empty() ? std::string() : AnswerCells(rows.front()).text();
  if (cluster.empty())
    throw Error(fmt::format("The tables of the database {} do not name their cluster", server.database()))
        .hint("Name it with --cluster");
  return cluster;
}

// Refuses the databases of the server itself. In such a database, new tables would be mixed with system tables, or the
// server would refuse them with an obscure error.
void check_database(const std::string& database) {
  constexpr std::array<std::string_view, 3> kServers = {"system", "information_schema", "INFORMATION_SCHEMA"};
  if (std::ranges::find(kServers, database) == kServers.end()) return;
  throw Error(fmt::format("The database {} belongs to the server itself, and nothing can be loaded into it", database))
      .hint("Name another database in the URL: http://HOST:8123/DATABASE");
}

void check_cluster(ClickHouse& server, const std::string& cluster) {
  if (!server.query("SELECT 1 FROM system.clusters WHERE cluster = " + sql_string(cluster) + " LIMIT 1").empty())
    return;
  throw Error(fmt::format("The server has no cluster {}", cluster))
      .hint(
          "The server's configuration defines clusters (remote_servers). This lists them: SELECT DISTINCT cluster FROM "
          "system.clusters");
}

}  // namespace

void check_schema(ClickHouse& server) {
  if (!has_table(server, "schema_versions")) return;
  const std::uint32_t done = version_of(server);
  if (done >= kMigrations.size()) return;
  throw Error(fmt::format("An older version of kmemtrace made the tables of the database {}: their schema is {}, but "
                          "this version needs {}",
                          server.database(), done, kMigrations.size()))
      .hint("`kmemtrace fleet schema --server URL` updates the tables. In a cluster, run it for each server");
}

SchemaState prepare_schema(ClickHouse& server, const std::string& cluster) {
  check_database(server.database());
  const std::string database = sql_name(server.database());
  const std::string versions = database + ".schema_versions";
  if (!cluster.empty()) check_cluster(server, cluster);
  server.run("CREATE DATABASE IF NOT EXISTS " + database);
  server.run("CREATE TABLE IF NOT EXISTS " + versions +
             " (version UInt32, applied DateTime) ENGINE = MergeTree() PARTITION BY tuple() ORDER BY version");
  const bool is_shard = has_table(server, "sums_local");
  if (!cluster.empty() && !is_shard && has_table(server, "sums"))
    throw Error(fmt::format("The tables of the database {} were made for a single server, not for a cluster",
                            server.database()))
        .hint("Name another database in the URL: http://HOST:8123/DATABASE");
  const std::uint32_t done = version_of(server);
  if (done > kMigrations.size())
    throw Error(
        fmt::format("A newer version of kmemtrace made the database {}: its schema is {}, but this version knows {}",
                    server.database(), done, kMigrations.size()))
        .hint("Use the newer version, or name another database in the URL");
  const bool has_text_type =
      !server.query("SELECT 1 FROM system.data_type_families WHERE name = 'LowCardinality'").empty();
  if (is_shard && cluster.empty() && done == 0)
    throw Error(fmt::format("The tables of the database {} are incomplete", server.database()))
        .hint("Run `kmemtrace fleet schema --server URL --cluster NAME` again");
  const bool is_of_cluster = is_shard || !cluster.empty();
  const SqlPlaces places = {{"database", database},
                            {"text", has_text_type ? "LowCardinality(String)" : "String"},
                            {"local", is_of_cluster ? "_local" : ""},
                            {"cluster", sql_name(cluster.empty() && is_shard ? cluster_of_tables(server) : cluster)}};
  for (std::size_t i = done; i < kMigrations.size(); ++i) {
    const Migration& migration = kMigrations[i];
    const std::string table(migration.table);
    run_all(server, migration.tables, places, table + (is_of_cluster ? "_local" : ""), migration.new_column);
    if (is_of_cluster) run_all(server, migration.of_cluster, places, table, migration.new_column);
    server.run(fmt::format("INSERT INTO {} SELECT toUInt32({}), now()", versions, i + 1));
  }
  return {done, static_cast<std::uint32_t>(kMigrations.size()), is_of_cluster};
}

}  // namespace kmt
