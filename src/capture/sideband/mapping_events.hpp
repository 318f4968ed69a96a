// SPDX-License-Identifier: GPL-2.0-or-later
// A perf event that counts nothing but reports each mapping, fork and exec on a CPU (PERF_RECORD_MMAP2, FORK and COMM).
#pragma once

#include <linux/perf_event.h>

namespace kmt {

perf_event_attr mapping_events();

}  // namespace kmt
