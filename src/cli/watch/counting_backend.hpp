// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the back end that counts events for `stat` and `top`.
#pragma once

#include <memory>
#include <string>

#include "capture/bpf/watch/heap.hpp"
#include "capture/counting/counting.hpp"
#include "cli/support/options.hpp"

namespace kmt {

// Adds --backend. `backend` must outlive the command, and starts with "auto".
void add_counting_backend_option(Command& command, std::string& backend);

template <typename Counting>
struct OpenedCounting {
  std::string backend;  // "bpf", "hist" or "ring-buffer"
  std::unique_ptr<Counting> counting;
};

// Start counting with the named back end. With "auto", they use the first back end that works here, and print on stderr
// why it is not BPF. Throw Error if no back end works.
OpenedCounting<EventCounting> open_event_counting(const std::string& backend, const BpfSelection& selection,
                                                  bool probes);
// Only BPF programs take samples, which the hooks receive.
OpenedCounting<SiteCounting> open_site_counting(const std::string& backend, const HeapRequest& request,
                                                const HeapHooks& hooks);

}  // namespace kmt
