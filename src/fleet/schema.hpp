// SPDX-License-Identifier: GPL-2.0-or-later
// Creates the tables of a fleet on a server. Updates tables of an older version.
#pragma once

#include <cstdint>
#include <string>

#include "fleet/clickhouse.hpp"

namespace kmt {

// The versions of the tables before and after the call. A version is the number of the last migration.
struct SchemaState {
  std::uint32_t before = 0;  // 0 if there were no tables
  std::uint32_t now = 0;
  bool of_cluster = false;
};

// Creates the database and the missing tables, and runs the missing migrations. If `cluster` names a cluster in the
// configuration of the server, this also creates tables that combine all shards. This must be done once on each server
// of the cluster. Throws Error, for example if a newer version of kmemtrace made the tables.
SchemaState prepare_schema(ClickHouse& server, const std::string& cluster);

// Throws Error if the tables were made by an older version. Does nothing if there are no tables.
void check_schema(ClickHouse& server);

}  // namespace kmt
