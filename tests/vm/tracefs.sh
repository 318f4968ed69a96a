#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records using only tracefs: a ring buffer as text and as raw pages, and the formats that describe them.
set -eu
tracing=/sys/kernel/tracing
buffer=$tracing/instances/test
mkdir $buffer formats
echo 16384 >$buffer/buffer_size_kb
echo mono >$buffer/trace_clock
echo 0 >$buffer/options/hash-ptr
for event in kmalloc kfree kmem_cache_alloc kmem_cache_free mm_page_alloc mm_page_free; do
  cat $tracing/events/kmem/$event/format >formats/$event
  echo 1 >$buffer/events/kmem/$event/enable
done
for _ in $(seq 20); do find /sys/kernel/mm | sort >/tmp/list; done
echo 0 >$buffer/tracing_on

cat $buffer/trace >trace.txt
cat $tracing/events/header_page >header_page
cat $tracing/events/header_event >header_event
cat $tracing/saved_cmdlines >saved_cmdlines
cat /proc/kallsyms >kallsyms
uname -a >machine
for folder in "$buffer"/per_cpu/cpu*; do
  cpu=${folder##*cpu}
  cat "$folder/stats" >"stats.$cpu"
  timeout 3 cat "$folder/trace_pipe_raw" >"pages.$cpu" 2>/dev/null || true  # cat waits for more data at the end
done
