// SPDX-License-Identifier: GPL-2.0-or-later
// An HTTP server for the metrics of `serve`. Only this file uses the library cpp-httplib.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace kmt {

// Return the contents of the server's pages. Several threads of the server call them at the same time.
struct MetricsPages {
  std::function<std::string()> metrics;  // /metrics, in Prometheus's text format
  std::function<std::string()> home;     // /, in HTML
};

class MetricsServer {
 public:
  // Throws Error if the address is not a free "ADDRESS:PORT" of this machine. An IPv6 address is in brackets.
  explicit MetricsServer(std::string address);
  ~MetricsServer();

  // Starts to answer clients. Throws Error.
  void listen(MetricsPages pages);
  // Throws Error if the server no longer answers clients.
  void check() const;

 private:
  struct State;
  std::string address_;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
