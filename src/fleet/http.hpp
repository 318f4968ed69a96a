// SPDX-License-Identifier: GPL-2.0-or-later
// Sends requests over HTTP or HTTPS, one after the other and on one connection. Only this file uses libcurl.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

struct HttpAddress {
  std::string base;  // URL such as "http://db1:8123", without the user and the path
  std::string path;  // path such as "/kmemtrace"; "/" if the URL has no path
  std::string user;  // empty if the URL names no user
  std::string password;
};
// Parses a URL. Throws Error if the URL is invalid or is neither http nor https.
HttpAddress parse_http_url(const std::string& url);

struct HttpReply {
  std::string failure;  // reason why the server sent no reply; empty if there is a reply
  bool never = false;   // true if a retry would not help
  long status = 0;
  std::string body;
};

class HttpClient {
 public:
  // If the address has no user, the user and the password may be in ~/.netrc. Throws Error.
  explicit HttpClient(HttpAddress address);
  ~HttpClient();

  static constexpr std::chrono::seconds kLongest{3600};  // time limit for a request, long enough for the slowest query

  // Posts the body to BASE/?NAME=VALUE&… and escapes the values of the parameters. The body must stay valid during the
  // call. `most` limits the total time of connecting, sending the request and receiving the reply.
  HttpReply post(const std::vector<std::pair<std::string, std::string>>& parameters, std::string_view body,
                 std::chrono::seconds most = kLongest);
  const HttpAddress& address() const { return address_; }

 private:
  struct Handle;
  HttpAddress address_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace kmt
