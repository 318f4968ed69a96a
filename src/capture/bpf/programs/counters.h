/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counters.bpf.c counts, shared with who reads it. */
#pragma once

#include "capture/bpf/programs/events.h"

struct kmt_counter {
  unsigned long long events;
  unsigned long long failed; /* of these: no bytes are counted for them */
  unsigned long long requested;
  unsigned long long allocated;
};

/* One a CPU, written only there: programs do not nest in themselves. */
struct kmt_cpu_counters {
  struct kmt_counter of[KMT_EVENT_COUNT];
};
