#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the process of each task with /proc, and for short-lived tasks with task_newtask."""
import os
import signal
import threading
import unittest

from kmt_events import File, events_of
from recording import LiveTest

CLONE_THREAD = 0x10000


def tasks_of(pid):
    return {int(name) for name in os.listdir(f'/proc/{pid}/task')}


class Threads(LiveTest):
    def setUp(self):
        super().setUp()
        self.done = threading.Event()
        self.addCleanup(self.done.set)

    def start_threads(self, count):
        threads = [threading.Thread(target=self.done.wait, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        return {thread.native_id for thread in threads}

    def test_threads_at_the_start_and_end(self):
        before = self.start_threads(3)
        process = self.start('-e', 'kmem:kmalloc')
        later = self.start_threads(2)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        own = tasks_of(os.getpid())
        self.assertLessEqual(before | later | {os.getpid()}, own)
        groups = File(self.trace).thread_groups()
        self.assertEqual({tid: groups.get(tid) for tid in own}, {tid: os.getpid() for tid in own})
        self.assertEqual(groups[1], 1)
        self.assertFalse([tid for tid, group in groups.items() if groups.get(group, group) != group])

    def test_short_lived_thread(self):
        process = self.start('-e', 'task:task_newtask')
        made = []
        thread = threading.Thread(target=lambda: made.append(threading.get_native_id()))
        thread.start()
        thread.join()
        process.send_signal(signal.SIGINT)
        self.finish(process)
        file = File(self.trace)
        self.assertNotIn(made[0], file.thread_groups())
        reported = [event for event in events_of(file) if event.name == 'task_newtask' and event.fields['pid'] == made[0]]
        self.assertEqual([(event.pid, event.fields['clone_flags'] & CLONE_THREAD) for event in reported],
                         [(threading.get_native_id(), CLONE_THREAD)])


if __name__ == '__main__':
    unittest.main()
