# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by tests that compare the kernel's memory counters while other processes run."""
import functools
import time


def refresh():
    """Adds the per-CPU counters to the global counters that meminfo shows."""
    with open('/proc/sys/vm/stat_refresh', 'rb') as file:
        file.read()


def beside_other_processes(times):
    """Decorator that repeats a failed check, up to `times` times in all. A check may fail because other processes
    allocate and free memory meanwhile."""
    def decorate(check):
        @functools.wraps(check)
        def repeated(*arguments):
            for _ in range(times - 1):
                try:
                    return check(*arguments)
                except AssertionError:
                    time.sleep(1)
            return check(*arguments)
        return repeated
    return decorate
