// SPDX-License-Identifier: GPL-2.0-or-later
// A ClickHouse server over HTTP. Temporary failures (no connection, a restart, too much load) are retried for a while;
// everything else throws Error with the server's own words.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "fleet/http.hpp"

namespace kmt {

struct ServerAddress {
  HttpAddress http;
  std::string database = "kmemtrace";
  std::chrono::milliseconds patience = std::chrono::minutes(2);  // how long one request is tried again
  void (*say)(const std::string& note) = nullptr;                // called once for it
};
// http://[USER:PASSWORD@]HOST:PORT/[DATABASE]; a user and password may be in CLICKHOUSE_USER and CLICKHOUSE_PASSWORD
// instead. Throws Error.
ServerAddress parse_server(const std::string& url);

class ClickHouse {
 public:
  explicit ClickHouse(ServerAddress address);

  // Runs a statement that gives no rows, and that may be run twice.
  void run(const std::string& sql);
  // The rows of a SELECT without FORMAT.
  std::vector<nlohmann::json> query(const std::string& sql);
  // Inserts rows in RowBinary, all or none. After a failure it is unknown whether they were stored. Before a
  // retry it waits until the server has finished the query, and calls `is_there`. Returns whether they were sent more
  // than once.
  bool insert(const std::string& table, std::string_view columns, std::string_view rows, const std::string& query_id,
              const std::function<bool()>& is_there);

  const std::string& database() const { return address_.database; }
  const ServerAddress& address() const { return address_; }

 private:
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  // One attempt; empty: it went well; else what the server does instead: "is not reached: …". Throws Error where trying
  // again would not help.
  std::string attempt(const Parameters& parameters, std::string_view body, std::string& answer);
  // The same of a reply that is there.
  std::string take(HttpReply reply, std::string& answer) const;
  void say_that_it_waits(const std::string& failure);
  std::string tried(const Parameters& parameters, std::string_view body);
  const Parameters& settings();  // of what changes the server

  ServerAddress address_;
  HttpClient client_;
  bool said_that_it_waits_ = false;
  bool has_answered_ = false;  // the last time that it was asked
  Parameters settings_;        // that the server knows; empty: not asked yet
};

}  // namespace kmt
