// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/http.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

namespace {

Error missing() { return missing_part("connect to ClickHouse", "libcurl4-openssl-dev", "FLEET"); }

}  // namespace

struct HttpClient::Handle {};

HttpAddress parse_http_url(const std::string&) { throw missing(); }

HttpClient::HttpClient(HttpAddress address) : address_(std::move(address)) {}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::post(const std::vector<std::pair<std::string, std::string>>&, std::string_view,
                           std::chrono::seconds) {
  throw missing();
}

}  // namespace kmt
