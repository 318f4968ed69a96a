// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/mapping_events.hpp"

namespace kmt {

perf_event_attr mapping_events() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.build_id = 1;  // since Linux 5.12
  return attributes;
}

}  // namespace kmt
