// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/tracing_frames.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"

namespace kmt {

namespace {

// kernel/trace/bpf_trace.c, include/trace/perf.h, include/linux/tracepoint.h, Linux 6.1 to 6.18.
bool is_tracing(std::string_view name) {
  constexpr std::array<std::string_view, 10> kBegins = {
      "bpf_prog_",   "bpf_trace_run", "__bpf_trace_",   "__traceiter_",  "trace_call_bpf",
      "perf_trace_", "__perf_trace",  "do_perf_trace_", "perf_tp_event", "__probestub_"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

TracingFrames::TracingFrames(std::string_view kallsyms) {
  std::vector<std::pair<std::uint64_t, bool>> symbols;
  for (const std::string_view line : split(kallsyms, '\n')) {
    std::uint64_t address = 0;
    const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    if (code != std::errc{} || line.data() + line.size() - end < 4) continue;
    std::string_view name = line.substr(static_cast<std::size_t>(end - line.data()) + 3);
    symbols.emplace_back(address, is_tracing(name.substr(0, name.find('\t'))));
  }
  std::sort(symbols.begin(), symbols.end());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (!symbols[i].second) continue;
    const std::uint64_t begin = symbols[i].first;
    while (i + 1 < symbols.size() && symbols[i + 1].first == begin) ++i;
    functions_.emplace_back(begin, i + 1 < symbols.size() ? symbols[i + 1].first : begin + 4096);
  }
}

std::size_t TracingFrames::leading(std::span<const std::uint64_t> frames) const {
  const auto first_other = std::find_if_not(frames.begin(), frames.end(), [this](std::uint64_t frame) {
    const auto behind = std::upper_bound(functions_.begin(), functions_.end(), std::pair{frame, ~std::uint64_t{0}});
    return behind != functions_.begin() && frame <= std::prev(behind)->second;
  });
  return static_cast<std::size_t>(first_other - frames.begin());
}

}  // namespace kmt
