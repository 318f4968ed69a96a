# SPDX-License-Identifier: GPL-2.0-or-later
"""The same few events in every supported text format: an allocation of 100 bytes on CPU 0, an allocation of 8 bytes
on CPU 1, and a free of the first object on CPU 1."""

SAMPLES = {
    # cat trace, Linux 6.18
    'trace': '''# tracer: nop
#
# entries-in-buffer/entries-written: 3/10   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
            bash-812     [000] .....   123.456001: kmalloc: call_site=load_elf_phdrs+0x49/0xa0 ptr=00000000a1b2c3d4 bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 accounted=false
     kworker/1:2-77      [001] d.h2.   123.456005: kmem_cache_alloc: call_site=ext4_alloc+0x1c/0x80 [ext4] ptr=0000000011223344 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_ATOMIC node=0 accounted=true
          <idle>-0       [001] ..s1.   123.456009: kfree: call_site=rcu_core+0x1f/0x900 ptr=00000000a1b2c3d4
''',
    # trace_pipe with the option record-tgid and with lost events
    'trace_pipe': '''            bash-812     (    812) [000] .....   123.456001: kmalloc: call_site=load_elf_phdrs+0x49/0xa0 ptr=ffff888001234500 bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL node=-1
CPU:1 [LOST 12 EVENTS]
     kworker/1:2-77      (-------) [001] d.h2.   123.456005: kmem_cache_alloc: call_site=ext4_alloc+0x1c/0x80 [ext4] ptr=ffff888001234600 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_ATOMIC node=0
          <idle>-0       (-------) [001] ..s1.   123.456009: kfree: call_site=rcu_core+0x1f/0x900 ptr=ffff888001234500
''',
    # Linux 2.6.32, which lacks the option irq-info
    'trace-old': '''# tracer: nop
#
#           TASK-PID    CPU#    TIMESTAMP  FUNCTION
#              | |       |          |         |
            bash-812   [000]   123.456001: kmalloc: call_site=ffffffff8110a5b2 ptr=ffff88001e8a7a40 bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL
     kworker/1:2-77    [001]   123.456005: kmem_cache_alloc: call_site=ffffffff8110a5c2 ptr=ffff88001e8a7b40 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_ATOMIC
          <idle>-0     [001]   123.456009: kfree: call_site=ffffffff8110a5d2 ptr=ffff88001e8a7a40
''',
    'perf-script': '''bash   812 [000]   123.456001:          kmem:kmalloc: call_site=load_elf_phdrs+0x49 ptr=0xffff888001234500 bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL node=-1 accounted=false
	ffffffff81234567 kmem_alloc+0x17 ([kernel.kallsyms])
	ffffffff81234568 load_elf_phdrs+0x49 ([kernel.kallsyms])

kworker/1:2    77/77    [001]   123.456005:          kmem:kmem_cache_alloc: call_site=ext4_alloc+0x1c ptr=0xffff888001234600 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_ATOMIC node=0 accounted=true
swapper     0 [001]   123.456009:          kmem:kfree: call_site=rcu_core+0x1f ptr=0xffff888001234500
''',
    # the kmemtrace tracer of Linux 2.6.30 and 2.6.31, addresses in decimal digits
    'kmemtrace': '''            bash-812   [000]   123.456001: type_id 0 call_site 18446744071580534194 ptr 18446612132827724352 bytes_req 100 bytes_alloc 128 gfp_flags 208 node -1
     kworker/1:2-77    [001]   123.456005: type_id 1 call_site 18446744071580534210 ptr 18446612132827724608 bytes_req 8 bytes_alloc 8 gfp_flags 32 node 0
          <idle>-0     [001]   123.456009: type_id 0 call_site 18446744071580534226 ptr 18446612132827724352
''',
    # the same with the option kmem_minimalistic, which has no times, tasks or CPUs
    'kmemtrace-minimal': '''#
# ALLOC  TYPE  REQ   GIVEN  FLAGS           POINTER         NODE    CALLER
# FREE   |      |     |       |              |   |            |        |
# |
+      K     100    128   000000d0   0xffff88001e8a7a40     -1   load_elf_phdrs
+      C       8      8   00000020   0xffff88001e8a7b40      0   ext4_alloc
-      K                             0xffff88001e8a7a40          rcu_core
''',
}

# Text of other tracers, and histograms. Only the fuzzer uses these texts, as seeds.
OTHERS = {
    'function-graph': '''# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
  360.774522 |   1)     sh-812     |               |  do_open(dfd=0x3, mode=-1) { /* <-sys_open+0x62/0x110 */
  360.774525 |   1)     sh-812     |   0.541 us    |    lock [fs](); /* = 0x0 */
  360.774526 |   1)     sh-812     |               |    /* kmalloc: call_site=do_open+0x49/0xa0 ptr=(____ptrval____) bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL|__GFP_ZERO */
  360.774527 |   1)   ==========> |
  360.774528 |   1)     sh-812     |  d.h1 | ! 100.5 us |    tick() {
  360.774529 |   1)   <========== |
 ------------------------------------------
 1)     sh-812     =>   cc1-77
 ------------------------------------------

  360.774560 |   1)     cc1-77     | + 37.918 us   |  } /* do_open ret=-14 */
      sh-7 [002] 10.000001: funcgraph_entry: --> f (3)
      sh-7 [002] 10.000002: funcgraph_exit: <-- f (3) (start: 1a  end: 2a) over: 0
''',
    'function': '''# tracer: function
            bash-812     [000] .....    88.000100: do_open [fs](dfd=3) <-sys_open
''',
    'graph-values': '''us    |  f(a=1);
 0)               |  g(p=(STRUCT)[0x12:0x34], name="a, b", c=?0x7, q=(null)) {
 0)   0.541 us    |  h(n=2, s=(STRUCT)[0x1:0x2:0x3...]); /* ret=0x10 */
 0)   1.541 us    |  } /* g ret=unknown */
            bash-812     [000] d..2.   100.000001: mutex_unlock <-f
 0)   4.0
''',
    'decimal': '''     probes-1327  ( 1327) [003] .... 12015.500000: kmalloc: call_site=18446743801035712396 ptr=18446743800234561792 bytes_req=56 bytes_alloc=128 gfp_flags=3264
[003] ....  12015.500001: kfree: call_site=3221234567 ptr=18446743800234561792
5906771: kmem:kfree: call_site=f ptr=0
''',
    'old-pages': ''' term-1567  [000]  4415.246000: mm_page_alloc: page=ffffea0003db9f40 pfn=1155800 order=0 migratetype=0 gfp_flags=GFP_KERNEL
 term-1567  [000]  4415.246466: mm_page_free_direct: page=ffffea0003db9f40 pfn=1155800 order=0
 term-1567  [000]  4415.246468: mm_page_free_direct: page=ffffea0003db9f40 pfn=1155800 order=0
 term-1567  [000]  4415.255700: mm_pagevec_free: page=ffffea0003db9f80 pfn=1155900 order=0 cold=0
''',
    'quoted-printable': '''>  sh-812 [001] d.h1. 123.456001: kmalloc: call_site=3Df+0x1/0x9 ptr=3Dffff8880012=
> 34500 bytes_req=3D60 bytes_alloc=3D64 gfp_flags=3DGFP_KERNEL node=3D-=\r
1=20
''',
    'histogram-mail': '''> # trigger info: hist:keys=call_site.sym:vals=bytes_req.hex:sort=bytes_req [active]
> { call_site: [ffffffff8134b9c0] f } hitcount:\xa0  3  bytes_req: 1a0
> Totals:
>     Hits: 4
>     Entries: 2
''',
    'kernel-log': '''[   13.881000] Dumping ftrace buffer:
<0>[   13.881002][    T1] CPU:0 [LOST 27 EVENTS]
Nov 28 01:40:18 host kernel: [   13.882003]     bash-812       1d.h1. 123456001us : kmalloc: call_site=f+0x1/0x9 ptr=00000000a1b2c3d4 bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL
** 3 printk messages dropped **
''',
    'mail': '''> 12:&lt;...&gt;-812\t[001] d.h1.   123.456001: kmalloc:
> call_site=f+0x1/0x9
> [ext4] ptr=00000000a1b2c3d4 bytes_req=60 bytes_alloc=64
> gfp_flags=GFP_KERNEL\xa0node=-1
\x1b[01;31m            bash-812     [001] d.h1.   123.456002: kfree: call_site=f+0x1/0x9 ptr=\x1b[m
(null)
''',
    'columns': '''            bash     812   0 1 00000000 00000000 [00075bc5] 123.456ms (+0.004ms): kmalloc: call_site=f ptr=0xffff888001234500 bytes_req=0x3c (60) bytes_alloc=0x40 (64) gfp_flags=0xd40 (3392) node=0xffffffff (-1)
kfree: call_site=f ptr=0xffff888001234500
  812/813 [001] kmem:kfree: call_site=f ptr=0xffff888001234500
bash   812 [001]   123.456005: PERF_RECORD_LOST lost 42
bash   812 [001]   123.456006: PERF_RECORD_LOST_SAMPLES lost 50
     0.052 ( 0.011 ms): bash/812 kmem:kmalloc(call_site: -2124952363, ptr: 0xffff888145c44000, bytes_req: 64, bytes_alloc: 64, gfp_flags: 3264, node: 4294967295)
''',
    'histogram': '''# event histogram
# trigger info: hist:keys=call_site.sym:vals=hitcount,hitcount.percent,bytes_req.hex [active]
{ call_site: [ffffffff8134b9c0] f } hitcount:  3  hitcount (%):  75.00  bytes_req: 1a0
# trigger info: hist:keys=stacktrace,common_pid.execname:vals=bytes_req:size=2048 [active]
{ stacktrace:
         __kmalloc+0x11b/0x1b0
, common_pid: bash            [       812] } hitcount:       1676  bytes_req:      33520
{ call_site: [ffffffff8134b9c0] alloc_fdtable         } hitcount:       1676  bytes_req:      33520
Totals:
    Hits: 2161
    Dropped: 3
''',
}
