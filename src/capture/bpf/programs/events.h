/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the events of event_names.def, for BPF programs and their loaders. */
#pragma once

enum kmt_outcome { KMT_NEVER_FAILS, KMT_MAY_FAIL, KMT_IS_FAILURE };

enum kmt_event {
#define KMT_EVENT(system, name, outcome) KMT_EVENT_##name,
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT
  KMT_EVENT_COUNT
};
