// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace serve
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>

#include "analysis/heap/exported_series.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/live_options.hpp"
#include "cli/support/say.hpp"
#include "cli/watch/heap_watch.hpp"
#include "views/export/prometheus.hpp"

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

std::unique_ptr<prometheus::Exposer> listen(const std::string& address) {
  try {
    return std::make_unique<prometheus::Exposer>(address);
  } catch (const std::exception& error) {
    refuse(address, error.what());
  }
}

void serve(const ServeArguments& options) {
  const InterruptGuard interrupt;
  LiveOptions live;
  live.cgroup = options.cgroup;
  const auto metrics = std::make_shared<Metrics>();
  check_address(options.address);
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
    metrics->set(std::move(now));
  };
  publish();
  // The server starts to listen only when the first data is available, so every client receives data.
  const std::unique_ptr<prometheus::Exposer> exposer = listen(options.address);
  exposer->RegisterCollectable(metrics);
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
