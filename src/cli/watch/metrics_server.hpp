// SPDX-License-Identifier: GPL-2.0-or-later
// Serves metrics to Prometheus over HTTP. Only this file uses the server of prometheus-cpp.
#pragma once

#include <memory>
#include <string>

#include "results/heap/exported_series.hpp"

namespace kmt {

class MetricsServer {
 public:
  // Throws Error if the address is not a free "ADDRESS:PORT" of this machine.
  explicit MetricsServer(std::string address);
  ~MetricsServer();

  // Sets the metrics that clients get from now on.
  void set(ExportedMetrics metrics);
  // Starts to answer clients. Throws Error.
  void listen();

 private:
  struct State;
  std::string address_;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
