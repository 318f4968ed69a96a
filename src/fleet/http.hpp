// SPDX-License-Identifier: GPL-2.0-or-later
// Sends requests over HTTP(S), one after the other on one connection. Only this file uses libcurl.
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
  std::string path;  // "/kmemtrace"; "/" if the URL has no path
  std::string user;  // empty: not in the URL
  std::string password;
};
// Throws Error if the URL is invalid or is neither http nor https.
HttpAddress parse_http_url(const std::string& url);

struct HttpReply {
  std::string failure;  // reason why there is no reply; empty: there is a reply
  bool never = false;   // true: retries will not help
  long status = 0;
  std::string body;
};

class HttpClient {
 public:
  // If the address has no user, ~/.netrc may name one. Throws Error.
  explicit HttpClient(HttpAddress address);
  ~HttpClient();

  static constexpr std::chrono::seconds kLongest{3600};  // time limit of a request, for the longest query

  // Posts the body to BASE/?NAME=VALUE&…; post() escapes the values. The body must stay valid during the call. `most`
  // limits the time of the connection, the request and its reply together.
  HttpReply post(const std::vector<std::pair<std::string, std::string>>& parameters, std::string_view body,
                 std::chrono::seconds most = kLongest);
  const HttpAddress& address() const { return address_; }

 private:
  struct Handle;
  HttpAddress address_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace kmt
