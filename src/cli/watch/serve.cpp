// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace serve
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "analysis/heap/exported_series.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/live_options.hpp"
#include "cli/support/say.hpp"
#include "cli/support/types_option.hpp"
#include "cli/watch/armed.hpp"
#include "cli/watch/heap_watch.hpp"
#include "cli/watch/memory_account.hpp"
#include "cli/watch/metrics_server.hpp"
#include "views/export/prometheus_text.hpp"
#include "views/html/text_page.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {

namespace {

constexpr std::chrono::milliseconds kPause{100};

struct ServeArguments {
  std::string address;
  std::string cgroup;
  bool no_bpf = false;
  bool no_probes = false;
  std::string btf;
  std::size_t most_names = 50;
  ArmedOptions armed = {.condition = {}, .folder = {}, .lasting = "2m", .pause = "1h"};
};

constexpr const char* kServeFooter = R"(Examples:
  kmemtrace serve --prometheus 127.0.0.1:9751        then: curl http://127.0.0.1:9751/metrics
  kmemtrace serve --prometheus '[::]:9751' --top 20  listens on all addresses, with at most 20 names
  kmemtrace serve --prometheus 127.0.0.1:9751 --no-bpf
                                                     serves only the kernel's counters, at nearly no cost
  kmemtrace serve --investigate-on 'SUnreclaim+500M/10m' --evidence /var/lib/kmemtrace
                                                     waits for a leak and finds its cause

This command serves metrics until it is interrupted. /metrics has the metrics in Prometheus's text format, and / shows
how memory is used now.

The kernel's counters are read when a client asks for the metrics: the balance sheet of memory, slab caches, vmalloc,
removed cgroups, stalls, pressure and fragmentation.

BPF programs count allocations and bytes exactly, by call site and cache. Live bytes of memory that was allocated since
the start are estimated from samples. The number of names is limited. The names with most allocated or live bytes have
separate series, and all others share the series "other". On Linux 6.13 and later, the objects that were allocated and
freed in each slab cache are counted exactly too. BPF programs need root (or CAP_BPF and CAP_PERFMON), and a kernel that
describes its types (/sys/kernel/btf/vmlinux, or --btf FILE). If they cannot be used, only the kernel's counters are served.

With --investigate-on, this command runs `kmemtrace investigate` when the condition becomes true. It prints the verdict in
one line and keeps the evidence. Without --prometheus, it only waits for the condition, which costs nearly nothing.

docs/prometheus.md lists the metrics, alert rules and a dashboard for Grafana.

There is no password: every client that can connect to the address can read the metrics.

Exit status:
  0  served
  2  wrong usage, or the address cannot be listened on
  3  not permitted or not supported here)";

// The data that the server's threads pass to clients.
class ServedData {
 public:
  ServedData(KernelDescription kernel, std::size_t most_names) : kernel_(std::move(kernel)), most_names_(most_names) {
    metrics_.kernel = kernel_.release;
  }

  void set(ExportedMetrics metrics) {
    const std::lock_guard lock(mutex_);
    metrics_ = std::move(metrics);
  }
  std::string metrics() {
    const std::lock_guard lock(mutex_);
    metrics_.cpu_seconds = static_cast<double>(own_cpu_ns()) / 1e9;
    return prometheus_text(metrics_, account(), most_names_);
  }
  std::string home() {
    const std::lock_guard lock(mutex_);
    return text_page("Kernel memory of " + printable(kernel_.node_name), {{"metrics", "Metrics for Prometheus"}},
                     text_snapshot(account().snapshot, {}, {}));
  }

 private:
  // Returns the kernel's account, which is at most a second old.
  const MemoryAccount& account() {
    constexpr std::chrono::seconds kFresh(1);
    const auto now = std::chrono::steady_clock::now();
    if (!account_ || now - read_ > kFresh) {
      account_ = read_account(kernel_);
      read_ = now;
    }
    return *account_;
  }

  std::mutex mutex_;
  KernelDescription kernel_;
  std::size_t most_names_;
  ExportedMetrics metrics_;
  std::optional<MemoryAccount> account_;
  std::chrono::steady_clock::time_point read_;
};

// Counts events with BPF programs.
class CountedEvents {
 public:
  CountedEvents(const ServeArguments& options, const LiveOptions& live)
      : watch_({.selection = selection_of(live, {}),
                .selection_text = selection_text(live),
                .interval = std::chrono::seconds(1),
                .views = {TopView::call_sites, TopView::caches, TopView::orders, TopView::modules, TopView::subsystems,
                          TopView::directories, TopView::net},
                .pages = WatchedPages::all,
                .probes = !options.no_probes}),
        call_sites_(options.most_names),
        caches_(options.most_names),
        page_orders_(options.most_names),
        modules_(options.most_names),
        subsystems_(options.most_names),
        directories_(options.most_names) {}

  // Reads new events. Returns true once a second.
  bool turn() { return watch_.turn(); }
  ExportedMetrics metrics() {
    const TopResult result = watch_.result(TopView::call_sites);
    call_sites_.add(result.rows);
    caches_.add(watch_.result(TopView::caches).rows);
    page_orders_.add(watch_.result(TopView::orders).rows);
    modules_.add(watch_.result(TopView::modules).rows);
    subsystems_.add(watch_.result(TopView::subsystems).rows);
    directories_.add(watch_.result(TopView::directories).rows);
    ExportedMetrics now;
    now.call_sites = call_sites_.rows();
    now.caches = caches_.rows();
    if (watch_.caches().counting == CacheCounting::counted) now.cache_objects = watch_.caches().rows;
    now.uncounted = watch_.caches().uncounted;
    now.page_orders = page_orders_.rows();
    now.modules = modules_.rows();
    now.subsystems = subsystems_.rows();
    now.directories = directories_.rows();
    now.losses = result.losses;
    now.replaced = result.replaced;
    now.memory = result.memory.value_or(0);
    return now;
  }

 private:
  HeapWatch watch_;
  ExportedSeries call_sites_;
  ExportedSeries caches_;
  ExportedSeries page_orders_;
  ExportedSeries modules_;
  ExportedSeries subsystems_;
  ExportedSeries directories_;
};

// Starts the BPF programs. If they cannot be used, returns null and sets the reason.
std::unique_ptr<CountedEvents> count_events(const ServeArguments& options, std::string& why_not) {
  if (options.no_bpf) {
    why_not = "switched off with --no-bpf";
    return nullptr;
  }
  LiveOptions live;
  live.cgroup = options.cgroup;
  use_types(options.btf);
  say_types_of_programs();
  try {
    say_caveats();
    return std::make_unique<CountedEvents>(options, live);
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::unsupported || !options.cgroup.empty()) throw;
    why_not = error.what();
    say("Serving only the kernel's counters, because BPF programs cannot be used: {}\n", printable(why_not));
    return nullptr;
  }
}

void check(const ServeArguments& options) {
  if (options.address.empty() && options.armed.condition.empty())
    throw Error("There is nothing to serve").hint("Give --prometheus ADDRESS, --investigate-on CONDITION, or both");
  if (!options.armed.condition.empty() && options.armed.folder.empty())
    throw Error("--investigate-on needs a folder for the evidence").hint("Add --evidence FOLDER");
  if (options.no_bpf && !options.cgroup.empty())
    throw Error("--cgroup selects the events that BPF programs count, so it cannot be used with --no-bpf")
        .hint("Remove one of the two options");
}

// Serves metrics until this process is interrupted.
void serve_metrics(const ServeArguments& options, ArmedInvestigation* armed, const InterruptGuard& interrupt) {
  const KernelDescription kernel = describe_running_kernel();
  ServedData data(kernel, options.most_names);
  MetricsServer server(options.address);  // its threads use `data`
  std::string why_no_events;
  const std::unique_ptr<CountedEvents> events = count_events(options, why_no_events);
  const auto start = static_cast<double>(std::time(nullptr));
  const auto publish = [&] {
    ExportedMetrics now = events ? events->metrics() : ExportedMetrics();
    now.kernel = kernel.release;
    now.why_no_events = why_no_events;
    now.start_unix_seconds = start;
    if (armed != nullptr) now.investigations = armed->counts();
    data.set(std::move(now));
  };
  publish();
  keep_watching();  // without BPF programs, no other code has dropped capabilities
  // The server starts to listen only when the first data is available, so every client receives data.
  server.listen({[&data] { return data.metrics(); }, [&data] { return data.home(); }});
  say("Serving http://{}/metrics; press Ctrl+C to stop\n", printable(options.address));
  auto next = std::chrono::steady_clock::now();
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(kPause);
    server.check();
    if (armed != nullptr) armed->turn();
    if (events && !events->turn()) continue;
    if (!events && std::chrono::steady_clock::now() < next) continue;
    next = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    publish();
  }
}

void serve(const ServeArguments& options) {
  check(options);
  const InterruptGuard interrupt;
  std::optional<ArmedInvestigation> armed;
  if (!options.armed.condition.empty()) {
    ArmedOptions given = options.armed;
    given.btf = options.btf;
    armed.emplace(std::move(given));
  }
  if (!options.address.empty()) return serve_metrics(options, armed ? &*armed : nullptr, interrupt);
  say("Waiting for {}; press Ctrl+C to stop\n", printable(options.armed.condition));
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(kPause);
    armed->turn();
  }
}

}  // namespace

Command serve_command() {
  const auto options = std::make_shared<ServeArguments>();
  Command command{"serve", "Serve metrics of kernel memory, and investigate when it grows.", kServeFooter,
                  [options](const Command&) {
                    serve(*options);
                    return 0;
                  }};
  command.option("--prometheus", &options->address, "ADDRESS", "Listen on ADDRESS, e.g. 127.0.0.1:9751 or [::1]:9751");
  command.option("--cgroup", &options->cgroup, "CGROUP", "Watch only tasks in CGROUP and in cgroups below it");
  command.flag("--no-bpf", &options->no_bpf, "Serve only the kernel's counters, and count no events");
  add_no_probes_option(command, options->no_probes);
  add_types_option(command, options->btf);
  command.option("--top", &options->most_names, "N", "Serve series of at most N call sites and N caches (default: 50)",
                 {.range = OptionRange{1, 10000}});
  ArmedOptions& armed = options->armed;
  command.option("--investigate-on", &armed.condition, "COND",
                 "Run an investigation when COND becomes true\nCOND is NAME+SIZE/TIME, as in SUnreclaim+500M/10m, or "
                 "another condition of `record --trigger` except failure.");
  command.option("--evidence", &armed.folder, "FOLDER",
                 "Keep the results of investigations in FOLDER, in a folder for each", {.needs = {"--investigate-on"}});
  command.option("--keep", &armed.keep, "N", "Keep the results of the latest N investigations (default: 10)",
                 {.range = OptionRange{1, 10000}, .needs = {"--investigate-on"}});
  command.option("--for", &armed.lasting, "T", "Investigate for time T (default: 2m)", {.needs = {"--investigate-on"}});
  command.option("--pause", &armed.pause, "T", "Start at most one investigation every T (default: 1h)",
                 {.needs = {"--investigate-on"}});
  command.option("--webhook", &armed.webhook, "URL", "Post the result of an investigation to URL, as JSON",
                 {.needs = {"--investigate-on"}});
  return command;
}

}  // namespace kmt
