/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of counters.bpf.c, shared with their reader. */
#pragma once

#include "capture/bpf/programs/events.h"

struct kmt_counter {
  unsigned long long events;
  unsigned long long failed; /* number of failed events; their bytes are not counted */
  unsigned long long requested;
  unsigned long long allocated;
};

/* The counters of one CPU. They need no lock: only that CPU writes them, and a program never interrupts itself. */
struct kmt_cpu_counters {
  struct kmt_counter of[KMT_EVENT_COUNT];
};
