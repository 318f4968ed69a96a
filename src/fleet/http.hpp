// SPDX-License-Identifier: GPL-2.0-or-later
// Requests over HTTP(S), one after the other on one connection. The only place that knows libcurl.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

struct HttpAddress {
  std::string base;  // "http://db1:8123", without user and path
  std::string path;  // "/kmemtrace"; "/" where there is none
  std::string user;  // empty: not said
  std::string password;
};
// Throws Error where the URL is none, or neither of http nor of https.
HttpAddress parse_http_url(const std::string& url);

struct HttpReply {
  std::string failure;  // why there is no reply; empty: there is one
  bool never = false;   // and there will be none, however often it is tried
  long status = 0;
  std::string body;
};

class HttpClient {
 public:
  // Without a user in the address, ~/.netrc may name one. Throws Error.
  explicit HttpClient(HttpAddress address);
  ~HttpClient();

  static constexpr std::chrono::seconds kLongest{3600};  // of one request, the longest query

  // Posts the body to BASE/?NAME=VALUE&…; the values are escaped here. The body is borrowed. `most`: how long the
  // connection, the request and its reply may take together.
  HttpReply post(const std::vector<std::pair<std::string, std::string>>& parameters, std::string_view body,
                 std::chrono::seconds most = kLongest);
  const HttpAddress& address() const { return address_; }

 private:
  struct Handle;
  HttpAddress address_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace kmt
