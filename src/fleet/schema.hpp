// SPDX-License-Identifier: GPL-2.0-or-later
// Creates the tables on a server and updates tables of an older version.
#pragma once

#include <cstdint>
#include <string>

#include "fleet/clickhouse.hpp"

namespace kmt {

// The state of the tables before and after the call: the number of the last migration.
struct SchemaState {
  std::uint32_t before = 0;  // 0: there were no tables
  std::uint32_t now = 0;
  bool of_cluster = false;
};

// Creates the database and its missing tables, and runs missing migrations. For a cluster, which must be in the
// server's configuration, it also creates tables that combine all shards; each server of the cluster needs this once.
// Throws Error, also if a newer version made the tables.
SchemaState prepare_schema(ClickHouse& server, const std::string& cluster);

// Throws Error if the tables are from an older version. Does nothing if there are no tables.
void check_schema(ClickHouse& server);

}  // namespace kmt
