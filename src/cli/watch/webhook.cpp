// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/webhook.hpp"

#include <exception>
#include <string_view>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

struct Url {
  std::string server;  // "https://host:port"
  std::string path;
};

Url split_url(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  return {url.substr(0, path), path == std::string::npos ? "/" : url.substr(path)};
}

// The constructor throws if the port is too large.
bool is_valid(const std::string& server) try {
  return httplib::Client(server).is_valid();
} catch (const std::exception&) {
  return false;
}

std::string why_failed(httplib::Error error, std::time_t patience_seconds) {
  if (error == httplib::Error::Connection)
    return "cannot connect to the server; check the host, the port, and whether the server is running";
  if (error == httplib::Error::ConnectionTimeout)
    return fmt::format("cannot connect to the server within {} s", patience_seconds);
  return fmt::format("the request failed: {}", httplib::to_string(error));
}

}  // namespace

void check_webhook(const std::string& url) {
  const Url parts = split_url(url);
  for (const std::string_view scheme : {"http://", "https://"})
    if (parts.server.starts_with(scheme) && is_valid(parts.server)) return;
  throw Error(fmt::format("Not the URL of a web server: \"{}\"", printable(url)))
      .hint("Write a URL such as https://alerts.example/kmemtrace");
}

std::string post_json(const std::string& url, const std::string& json) try {
  constexpr std::time_t kPatience = 10;  // seconds
  constexpr int kFirstFailure = 400;
  const Url parts = split_url(url);
  httplib::Client client(parts.server);
  client.set_connection_timeout(kPatience);
  client.set_read_timeout(kPatience);
  client.set_write_timeout(kPatience);
  const httplib::Result reply = client.Post(parts.path, json, "application/json");
  if (!reply) return why_failed(reply.error(), kPatience);
  return reply->status < kFirstFailure ? "" : fmt::format("the server replied with status {}", reply->status);
} catch (const std::exception& error) {
  return error.what();
}

}  // namespace kmt
