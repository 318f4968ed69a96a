// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/metrics_server.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

namespace kmt {

namespace {

constexpr std::size_t kThreads = 3;
constexpr std::time_t kPatience = 5;  // seconds to wait for a client
constexpr std::size_t kMostPayload = 1 << 10;

[[noreturn]] void refuse(const std::string& address, std::string_view why) {
  throw Error(fmt::format("Cannot listen on {}: {}", printable(address), why))
      .hint("Name a free ADDRESS:PORT of this machine, such as 127.0.0.1:9751 or [::1]:9751");
}

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

ListenAddress parse_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool has_brackets = address.starts_with('[');
  if (colon == std::string::npos || (has_brackets && address[colon - 1] != ']')) refuse(address, "it has no port");
  if (colon == 0) refuse(address, "it has no address; [::] or 0.0.0.0 means all addresses of this machine");
  ListenAddress parsed;
  parsed.host = has_brackets ? address.substr(1, colon - 2) : address.substr(0, colon);
  if (!has_brackets && parsed.host.find(':') != std::string::npos)
    refuse(address, "an IPv6 address must be in brackets, as in [::1]:9751");
  parsed.port = parse_number<std::uint16_t>(address.substr(colon + 1)).value_or(0);
  if (parsed.port == 0) refuse(address, "a port is a number from 1 to 65535");
  return parsed;
}

// Several servers must not share a port, so SO_REUSEPORT is not set.
void set_socket_options(int socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// Tries to bind to the address before the server does, because the server reports a failure without its reason.
void check_address(const std::string& address, const ListenAddress& parsed) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(parsed.host.c_str(), std::to_string(parsed.port).c_str(), &hints, &found) != 0)
    refuse(address, "it is not an IPv4 or IPv6 address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
  const FileDescriptor probe(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe) refuse(address, std::strerror(errno));
  set_socket_options(probe.get());
  if (::bind(probe.get(), found->ai_addr, found->ai_addrlen) != 0) refuse(address, std::strerror(errno));
}

httplib::Server::Handler answer_with(std::function<std::string()> page, const char* type) {
  return [page = std::move(page), type](const httplib::Request&, httplib::Response& response) {
    response.set_content(page(), type);
  };
}

}  // namespace

struct MetricsServer::State {
  ListenAddress address;
  httplib::Server server;
  std::thread thread;
  std::atomic<bool> ended{false};
};

MetricsServer::MetricsServer(std::string address) : address_(std::move(address)), state_(std::make_unique<State>()) {
  state_->address = parse_address(address_);
  check_address(address_, state_->address);
}

MetricsServer::~MetricsServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

void MetricsServer::listen(MetricsPages pages) {
  httplib::Server& server = state_->server;
  server.set_socket_options(set_socket_options);
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_payload_max_length(kMostPayload);
  server.set_keep_alive_max_count(1);  // idle clients must not occupy the threads
  server.Get("/metrics", answer_with(std::move(pages.metrics), "text/plain; version=0.0.4; charset=utf-8"));
  server.Get("/", answer_with(std::move(pages.home), "text/html; charset=utf-8"));
  if (!server.bind_to_port(state_->address.host, state_->address.port)) refuse(address_, std::strerror(errno));
  state_->thread = start_thread("the thread of the metrics server", [this] {
    state_->server.listen_after_bind();
    state_->ended = true;
  });
  // stop() has no effect before the thread listens.
  while (!server.is_running() && !state_->ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void MetricsServer::check() const {
  if (state_->ended) refuse(address_, "the server has stopped answering clients");
}

}  // namespace kmt
