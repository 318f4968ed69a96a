// SPDX-License-Identifier: GPL-2.0-or-later
// A client of a ClickHouse server over HTTP. Temporary failures (no connection, a restart, too much load) are retried
// for some time. All other failures throw Error with the message of the server.
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
  // Time after which a failing request is no longer retried.
  std::chrono::milliseconds patience = std::chrono::minutes(2);
  void (*say)(const std::string& note) = nullptr;  // shows a note to the user before the first retry
};
// Parses http://[USER:PASSWORD@]HOST:PORT/[DATABASE]. User and password may also be in CLICKHOUSE_USER and
// CLICKHOUSE_PASSWORD. Throws Error.
ServerAddress parse_server(const std::string& url);

class ClickHouse {
 public:
  explicit ClickHouse(ServerAddress address);

  // Runs a statement that returns no rows. After a failure the statement may run a second time, which must be harmless.
  void run(const std::string& sql);
  // Returns the rows that a SELECT returns. The statement must not contain FORMAT.
  std::vector<nlohmann::json> query(const std::string& sql);
  // Inserts rows in the format RowBinary. Either all rows or none are stored. After a failure it is unknown whether the
  // rows were stored. So before a retry, insert() waits until the server has finished the query, and then calls
  // `is_there` to find out. Returns true if the rows were sent more than once.
  bool insert(const std::string& table, std::string_view columns, std::string_view rows, const std::string& query_id,
              const std::function<bool()>& is_there);

  const std::string& database() const { return address_.database; }
  const ServerAddress& address() const { return address_; }

 private:
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  // Makes one attempt. Returns a failure such as "cannot be reached: …", or an empty text if the attempt succeeds.
  // Throws Error if a retry would not help.
  std::string attempt(const Parameters& parameters, std::string_view body, std::string& answer);
  // Returns the failure in a reply, in the form that attempt() returns. If there is no failure, moves the reply's text
  // to `answer`.
  std::string take(HttpReply reply, std::string& answer) const;
  void say_that_it_waits(const std::string& failure);
  std::string tried(const Parameters& parameters, std::string_view body);
  const Parameters& settings();  // settings that are sent with statements that change tables

  ServerAddress address_;
  HttpClient client_;
  bool has_announced_wait_ = false;
  bool has_answered_ = false;  // true if the server has answered the last request
  Parameters settings_;        // the settings that the server knows; empty before the server was asked
};

}  // namespace kmt
