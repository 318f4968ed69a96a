// SPDX-License-Identifier: GPL-2.0-or-later
// The tables on a server, and what brings those of an older version up to date.
#pragma once

#include <cstdint>
#include <string>

#include "fleet/clickhouse.hpp"

namespace kmt {

// The old and new state of the tables, by the number of their last migration.
struct SchemaState {
  std::uint32_t before = 0;  // there were none
  std::uint32_t now = 0;
  bool of_cluster = false;
};

// Makes the database and its tables, as far as they are not there. With a cluster, which the server's configuration
// has to name, tables of all of its shards are put on top; each of its servers needs this once. Throws Error, also
// where a newer version made the tables.
SchemaState prepare_schema(ClickHouse& server, const std::string& cluster);

// Throws Error where the tables are those of an older version. Whether there are any is not asked.
void check_schema(ClickHouse& server);

}  // namespace kmt
