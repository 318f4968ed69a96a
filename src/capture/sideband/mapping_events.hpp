// SPDX-License-Identifier: GPL-2.0-or-later
// Each mapping, fork and exec on a CPU from perf: PERF_RECORD_MMAP2, FORK and COMM of an event that counts nothing.
#pragma once

#include <linux/perf_event.h>

namespace kmt {

perf_event_attr mapping_events();

}  // namespace kmt
