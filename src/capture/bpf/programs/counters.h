/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of counters.bpf.c, shared with their reader. */
#pragma once

#include "capture/bpf/programs/events.h"

struct kmt_counter {
  unsigned long long events;
  unsigned long long failed; /* of these: no bytes are counted for them */
  unsigned long long requested;
  unsigned long long allocated;
};

/* One per CPU, written only there: programs do not interrupt themselves. */
struct kmt_cpu_counters {
  struct kmt_counter of[KMT_EVENT_COUNT];
};
