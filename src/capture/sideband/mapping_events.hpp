// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel tells perf of each mapping, fork and exec on a CPU: PERF_RECORD_MMAP2, FORK and COMM of an event that
// counts nothing.
#pragma once

#include <memory>
#include <string>

#include "capture/sideband/perf_events.hpp"

namespace kmt {

std::unique_ptr<PerfEvents> open_mapping_events(unsigned cpu, const std::string& clock, std::string& why_not);

}  // namespace kmt
