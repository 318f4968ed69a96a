// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace serve
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>

#include "analysis/heap/exported_series.hpp"
#include "base/text.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/live_options.hpp"
#include "cli/support/say.hpp"
#include "cli/watch/heap_watch.hpp"
#include "cli/watch/metrics_server.hpp"

namespace kmt {

namespace {

constexpr std::chrono::milliseconds kPause{100};

struct ServeArguments {
  std::string address;
  std::string cgroup;
  bool no_probes = false;
  std::size_t most_names = 50;
};

constexpr const char* kServeFooter = R"(Examples:
  kmemtrace serve --prometheus 127.0.0.1:9751        then: curl http://127.0.0.1:9751/metrics
  kmemtrace serve --prometheus 0.0.0.0:9751 --top 20

This command serves metrics until it is interrupted. Allocations and bytes are counted exactly, by call site and cache.
Live bytes of memory that was allocated since the start are estimated from samples. The number of names is limited. The
names with most allocated or live bytes have separate series, and all others share the series "other".
On Linux 6.13 and later, the objects that were allocated and freed in each slab cache are counted exactly too.
docs/prometheus.md lists the metrics, and rules that alert when the live bytes of a call site grow.

There is no password: every client that can connect to the address can read the metrics.

This command needs root (or CAP_BPF and CAP_PERFMON), and a kernel that describes its types (/sys/kernel/btf/vmlinux).

Exit status:
  0  served
  2  wrong usage, or the address cannot be listened on
  3  not permitted or not supported here)";

void serve(const ServeArguments& options) {
  const InterruptGuard interrupt;
  LiveOptions live;
  live.cgroup = options.cgroup;
  MetricsServer server(options.address);
  say_caveats();
  HeapWatch watch(selection_of(live, {}), selection_text(live), std::chrono::seconds(1),
                  {TopView::call_sites, TopView::caches, TopView::orders, TopView::modules, TopView::net},
                  WatchedPages::all, !options.no_probes);
  ExportedSeries call_sites(options.most_names);
  ExportedSeries caches(options.most_names);
  ExportedSeries page_orders(options.most_names);
  ExportedSeries modules(options.most_names);
  const auto start = static_cast<double>(std::time(nullptr));
  const auto publish = [&] {
    const TopResult result = watch.result(TopView::call_sites);
    call_sites.add(result.rows);
    caches.add(watch.result(TopView::caches).rows);
    page_orders.add(watch.result(TopView::orders).rows);
    modules.add(watch.result(TopView::modules).rows);
    ExportedMetrics now;
    now.kernel = LiveKernel::release();
    now.call_sites = call_sites.rows();
    now.caches = caches.rows();
    if (watch.caches().counting == CacheCounting::counted) now.cache_objects = watch.caches().rows;
    now.uncounted = watch.caches().uncounted;
    now.page_orders = page_orders.rows();
    now.modules = modules.rows();
    now.losses = result.losses;
    now.replaced = result.replaced;
    now.memory = result.memory;
    now.cpu_seconds = static_cast<double>(own_cpu_ns()) / 1e9;
    now.start_unix_seconds = start;
    server.set(std::move(now));
  };
  publish();
  // The server starts to listen only when the first data is available, so every client receives data.
  server.listen();
  say("Serving http://{}/metrics; press Ctrl+C to stop\n", printable(options.address));
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(kPause);
    if (watch.turn()) publish();
  }
}

}  // namespace

Command serve_command() {
  const auto options = std::make_shared<ServeArguments>();
  Command command{"serve", "Serve metrics of kernel memory allocations for Prometheus.", kServeFooter,
                  [options](const Command&) {
                    serve(*options);
                    return 0;
                  }};
  command.option("--prometheus", &options->address, "ADDRESS", "Listen on ADDRESS, e.g. 127.0.0.1:9751",
                 {.required = true});
  command.option("--cgroup", &options->cgroup, "CGROUP", "Watch only tasks in CGROUP and in cgroups below it");
  add_no_probes_option(command, options->no_probes);
  command.option("--top", &options->most_names, "N", "Serve series of at most N call sites and N caches (default: 50)",
                 {.range = OptionRange{1, 10000}});
  return command;
}

}  // namespace kmt
