// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace serve
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include <prometheus/exposer.h>

#include "analysis/exported_series.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/heap_watch.hpp"
#include "cli/interrupt.hpp"
#include "cli/live_options.hpp"
#include "cli/record_messages.hpp"
#include "cli/trace_options.hpp"
#include "views/prometheus.hpp"

namespace kmt {

namespace {

constexpr std::chrono::milliseconds kPause{100};

struct Options {
  std::string address;
  std::string cgroup;
  std::size_t most_names = 50;
};

constexpr const char* kFooter = R"(Examples:
  kmemtrace serve --prometheus 127.0.0.1:9751        then: curl http://127.0.0.1:9751/metrics
  kmemtrace serve --prometheus 0.0.0.0:9751 --top 20

Serves, until it is ended, who allocates: counters of allocations and bytes by call site and cache, exact, and what
lives of what was allocated since it began, estimated from followed samples. The number of names is bounded: those that
allocate or hold most have series of their own, all others are in the series "other". docs/prometheus.md lists the
metrics, with rules that alert when a call site's live bytes grow.

Whoever can connect to the address can read them: there is no password.

It needs root (or CAP_BPF and CAP_PERFMON) and a kernel that describes its types (/sys/kernel/btf/vmlinux).

Exit status:
  0  served
  2  wrong usage, or the address cannot be listened on
  3  not permitted or not supported here)";

// What the server's threads hand out.
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

std::unique_ptr<prometheus::Exposer> listen(const std::string& address) {
  try {
    return std::make_unique<prometheus::Exposer>(address);
  } catch (const std::exception& error) {
    Error failure(fmt::format("Cannot listen on {}: {}", printable(address), error.what()));
    failure.hint("Name ADDRESS:PORT of this machine that nobody else listens on, as 127.0.0.1:9751");
    throw failure;
  }
}

void serve(const Options& options) {
  const InterruptGuard interrupt;
  LiveOptions live;
  live.cgroup = options.cgroup;
  const auto metrics = std::make_shared<Metrics>();
  const std::unique_ptr<prometheus::Exposer> exposer = listen(options.address);
  HeapWatch watch(selection_of(live, {}), selection_text(live), std::chrono::seconds(1));
  ExportedSeries call_sites(options.most_names);
  ExportedSeries caches(options.most_names);
  ExportedSeries page_orders(options.most_names);
  exposer->RegisterCollectable(metrics);
  say("Serving http://{}/metrics; Ctrl+C ends it\n", printable(options.address));
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(kPause);
    if (!watch.turn()) continue;
    const TopResult result = watch.result(TopView::call_sites);
    call_sites.add(result.rows);
    caches.add(watch.result(TopView::caches).rows);
    page_orders.add(watch.result(TopView::orders).rows);
    ExportedMetrics now;
    now.kernel = LiveKernel::release();
    now.call_sites = call_sites.rows();
    now.caches = caches.rows();
    now.page_orders = page_orders.rows();
    now.losses = result.losses;
    now.memory = result.memory;
    now.cpu_seconds = static_cast<double>(own_cpu_ns()) / 1e9;
    metrics->set(std::move(now));
  }
}

}  // namespace

CLI::App* add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("serve", "Serve metrics of who allocates kernel memory, for Prometheus.");
  const auto options = std::make_shared<Options>();
  command->add_option("--prometheus", options->address, "Listen on ADDRESS, as 127.0.0.1:9751")
      ->type_name("ADDRESS")
      ->required();
  command->add_option("--cgroup", options->cgroup, "Watch only tasks of this cgroup and of those below it")
      ->type_name("CGROUP");
  command
      ->add_option("--top", options->most_names,
                   "Serve series of at most N call sites, and of as many caches (default: 50)")
      ->option_text("N")
      ->check(CLI::Range(1u, 10000u));
  command->footer(kFooter);
  command->callback([options, &exit_code] {
    serve(*options);
    exit_code = 0;
  });
  return command;
}

}  // namespace kmt
