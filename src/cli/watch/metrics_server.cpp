// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/metrics_server.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "views/export/prometheus.hpp"

namespace kmt {

namespace {

// The metrics that the threads of the server return to clients.
class Metrics : public prometheus::Collectable {
 public:
  void set(ExportedMetrics metrics) {
    const std::lock_guard lock(mutex_);
    metrics_ = std::move(metrics);
  }
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    return metric_families(metrics_);
  }

 private:
  mutable std::mutex mutex_;
  ExportedMetrics metrics_;
};

[[noreturn]] void refuse(const std::string& address, std::string_view why) {
  throw Error(fmt::format("Cannot listen on {}: {}", printable(address), why))
      .hint("Name a free ADDRESS:PORT of this machine, such as 127.0.0.1:9751");
}

// Tries to bind to the address before the server does, because the server reports a failure without its reason.
void check_address(const std::string& address) {
  if (address.starts_with('[')) refuse(address, "IPv6 addresses are not supported");
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) refuse(address, "it has no port");
  if (colon == 0) refuse(address, "it has no address; 0.0.0.0 means all addresses of this machine");
  const std::string host = address.substr(0, colon);
  const std::string digits = address.substr(colon + 1);
  const std::uint16_t port = parse_number<std::uint16_t>(digits).value_or(0);
  if (port == 0) refuse(address, "a port is a number from 1 to 65535");
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &place.sin_addr) != 1) refuse(address, "it is not an IPv4 address");
  const FileDescriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // the server sets this option too
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
    refuse(address, std::strerror(errno));
}

}  // namespace

struct MetricsServer::State {
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::unique_ptr<prometheus::Exposer> exposer;
};

MetricsServer::MetricsServer(std::string address) : address_(std::move(address)), state_(std::make_unique<State>()) {
  check_address(address_);
}

MetricsServer::~MetricsServer() = default;

void MetricsServer::set(ExportedMetrics metrics) { state_->metrics->set(std::move(metrics)); }

void MetricsServer::listen() {
  try {
    state_->exposer = std::make_unique<prometheus::Exposer>(address_);
  } catch (const std::exception& error) {
    refuse(address_, error.what());
  }
  state_->exposer->RegisterCollectable(state_->metrics);
}

}  // namespace kmt
