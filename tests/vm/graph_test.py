#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `kmemtrace graph FUNCTION` on a stock Debian kernel in a virtual machine. Checks whose calls are recorded, when
recording ends, and the output, against the known behaviour of the recorded programs.
  graph_test.py KERNEL BACKEND           as 7.2 ftrace"""
import json
import os
import sys
import tempfile
import unittest

from machine import run_script

KERNEL, BACKEND = sys.argv[1:]
# ftrace records argument registers in Linux 6.15 and later.
HAS_RESULTS = BACKEND != 'ftrace'  # Debian kernels lack CONFIG_FUNCTION_GRAPH_RETVAL, which ftrace would need
HAS_ARGUMENTS = BACKEND != 'ftrace' or KERNEL == '7.2'
COPIED = [1234, 1234, 532]


class Graph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('graph.sh', cls.out, '--kernel', KERNEL, '--timeout', '900', '--append', f'backend={BACKEND}')

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            return file.read()

    def calls(self, name, function=None):
        return [call for call in json.loads(self.text(name))['calls'] if function in (None, call['function'])]

    def test_no_leftovers(self):
        left = self.text('left').split()
        self.assertEqual(['nop'], [word for word in left if word != '0'])
        self.assertFalse(os.path.exists(os.path.join(self.out, 'ran')))

    @unittest.skipIf(BACKEND == 'ftrace', 'ftrace reads no memory')
    def test_strings_end_after_the_count_argument(self):
        self.assertIn('buf="no NUL after this\\x0a", count=18', self.text('written.out'))

    @unittest.skipIf(BACKEND == 'ftrace', 'ftrace reads no memory')
    def test_empty_strings_are_shown(self):
        [arguments] = [call['arguments'] for call in self.calls('empty.out') if call['arguments']['filename'] == '']
        self.assertEqual(0, arguments['how->flags'] & 3)  # O_RDONLY; graph.sh also requests how->flags

    @unittest.skipIf(BACKEND == 'ftrace', 'ftrace reads no memory')
    def test_too_long_strings_lose_no_call(self):
        [call] = [call for call in self.calls('long.out') if call['arguments'] and call['arguments']['count'] == 8000]
        # kprobe events do not record a string larger than a page of the ring buffer.
        by_probes = BACKEND == 'kprobe'
        self.assertRegex(call['arguments']['buf'], '^0x7' if by_probes else r'^(y\\x0a){127}y$')
        self.assertEqual(['buf'], call['left_out' if by_probes else 'cut'])

    @unittest.skipUnless(BACKEND == 'bpf', 'ftrace reads no memory')
    def test_flags_have_names(self):
        shown = self.text('maps.out')
        self.assertRegex(shown, r'vm_mmap_pgoff\(.*prot=0x3 \(PROT_READ\|PROT_WRITE\), flag=0x\w+ \(MAP_PRIVATE\|')
        self.assertRegex(shown, r'do_sys_openat2\(.*filename="/tmp/made".*how->flags=0x8241 '
                               r'\(O_WRONLY\|O_CREAT\|O_TRUNC\|O_LARGEFILE\), how->mode=0666')
        self.assertRegex(shown, r'handle_mm_fault\(vma=0xff\w+, address=0x\w+, flags=0x\w+ \(WRITE\|.*USER')

    def test_functions_without_calls_are_named(self):
        self.assertIn('vfs_truncate was not called while recording', self.text('nothing.out'))
        self.assertIn('vfs_truncate was not called while recording', self.text('never.out'))

    @unittest.skipUnless(BACKEND == 'bpf', 'needs arguments')
    def test_conditions_are_checked_before_the_command_runs(self):
        self.assertIn('vfs_read(file, buf, count, pos)', self.text('where.err'))
        self.assertTrue(self.calls('where_shown.out'))  # --btf provides types that the recording lacks

    def test_the_command_has_its_name_from_the_start(self):
        for name in ('json.out', 'glob.out', 'many.out'):
            self.assertNotIn('kmemtrace', {call['task'] for call in self.calls(name)})

    def test_the_command_has_no_copy_of_the_recorders_memory(self):
        self.assertEqual(1, len(self.calls('stack.out', 'exit_mmap')))

    def test_arguments_on_the_stack(self):
        calls = self.calls('stack.out', 'do_mmap')
        if BACKEND == 'bpf':  # Linux 6.1 refuses trampolines to functions with more than six arguments
            self.assertRegex(' '.join(self.text('stack.err').split()), 'not recorded: .*do_mmap')
            self.assertFalse(calls)
            return
        self.assertTrue(calls)
        for call in calls:
            populate, uf = (call['arguments'][name] for name in ('populate', 'uf')) if HAS_ARGUMENTS else (None, None)
            if BACKEND == 'kprobe':  # both pointers are variables of one function, the caller
                self.assertEqual(int(populate, 16) >> 14, int(uf, 16) >> 14)
                self.assertEqual(0xff, int(uf, 16) >> 56)  # valid also for five levels of page tables
            elif HAS_ARGUMENTS:
                self.assertIsNone(uf)
                self.assertIn('uf', call['left_out'])

    @unittest.skipUnless(BACKEND == 'bpf', 'the kernel says what is lost only with what it writes later')
    def test_lost_events_mark_calls(self):
        shown = json.loads(self.text('lost.out'))
        lost = 'Nothing was lost' not in self.text('lost.err')
        self.assertEqual(lost, any(row['lost_events'] > 0 for row in shown['functions']), self.text('lost.err'))

    def test_other_views_of_calls(self):
        self.assertIn('<html', self.text('page.html'))
        self.assertIn('vfs_write', self.text('flames.svg'))
        self.assertGreater(os.path.getsize(os.path.join(self.out, 'timeline.pftrace')), 1000)

    def test_a_wrong_name_gets_suggestions(self):
        self.assertIn('Did you mean "vfs_read"?', self.text('unknown.err'))

    def test_ftrace_cannot_read_memory(self):
        self.assertTrue('--show and texts' in self.text('show.err') or 'Linux 6.11' in self.text('show.err'))

    def test_reads_and_writes_of_a_copy(self):
        for name in ('json.out', 'kept.out'):
            with self.subTest(name):
                # The shell, which reads its script, also makes calls.
                reads = [call for call in self.calls(name, 'vfs_read') if call['task'] == 'dd']
                writes = [call for call in self.calls(name, 'vfs_write') if call['task'] == 'dd']
                self.assertEqual(1, len({call['tid'] for call in reads + writes}))
                if HAS_RESULTS:
                    self.assertEqual([*COPIED, 0], [call['result'] for call in reads])
                    self.assertEqual(COPIED, [call['result'] for call in writes][:3])
                else:
                    self.assertRegex(self.text('json.err'), 'records (no results|only times) here')
                    self.assertEqual({None}, {call['return_value'] for call in reads})
                self.assertEqual(len(COPIED) + 1, len(reads))
                self.assertTrue(all(call['duration_ns'] > 0 for call in reads + writes))
                if HAS_ARGUMENTS:
                    self.assertEqual({1234}, {call['arguments']['count'] for call in reads})
                    self.assertEqual(COPIED, [call['arguments']['count'] for call in writes][:3])
                else:
                    self.assertIsNone(reads[0]['arguments'])

    def test_text_has_the_format_of_ftrace(self):
        shown = self.text('text.out')
        arguments = r'file=0x[0-9a-f]+, buf=(?:0x[0-9a-f]+|""), count=532, pos=0x[0-9a-f]+' if HAS_ARGUMENTS else ''
        result = ' = 532' if HAS_RESULTS else ''
        self.assertRegex(shown, fr'\n +\d+\) +[+!#*@$]? +[\d.]+ us +\|  vfs_write\({arguments}\){result};')

    def test_reports_the_back_end_of_each_function(self):
        for name in ('text.err', 'json.err', 'all.err'):
            messages = self.text(name)
            self.assertRegex(messages, r'Calls of \d functions? were recorded by .*' +
                             {'bpf': 'BPF', 'ftrace': 'function_graph', 'kprobe': 'kprobe events'}[BACKEND])
            # A memory event that interrupts the BPF program of the same event may be missed, with a message. A call
            # that interrupts the program of another call may be missed too.
            self.assertRegex(messages, {'bpf': r'Nothing was lost|\b\d{1,2} events? (was|were) lost', 'ftrace': 'Nothing was lost',
                                    'kprobe': 'Nothing was lost|that the kernel missed'}[BACKEND])
        self.assertIn('Recording calls of 1 function; Ctrl+C ends it', self.text('all.err'))
        self.assertIn('kept.kmt: ', self.text('text.err'))
        self.assertNotIn('/tmp/kmemtrace-', self.text('json.err'))
        self.assertIn('sh exited with 5', self.text('fails.err'))

    def test_the_saved_trace_is_sound(self):
        [found] = json.loads(self.text('check.out'))['files']
        self.assertEqual('sound' if found['trace']['lost_events'] == 0 else 'unsound', found['verdict'])
        if BACKEND == 'ftrace':
            self.assertEqual(0, found['trace']['lost_events'])

    def test_calls_without_memory_events(self):
        result = json.loads(self.text('glob.out'))
        self.assertEqual({'vfs_read'}, {call['function'] for call in result['calls']})
        self.assertEqual({}, result['outside'])

    def test_many_functions_use_a_suitable_back_end(self):
        copied = [call for call in self.calls('many.out') if call['task'] == 'dd']
        self.assertEqual(len(COPIED) + 1, sum(call['function'] == 'vfs_read' for call in copied))
        self.assertLessEqual(len(COPIED), sum(call['function'] == 'vfs_write' for call in copied))

    def test_refused_functions_are_excluded_and_named(self):
        functions = {call['function'] for call in self.calls('some.out') if call['task'] == 'cat'}
        self.assertIn('seq_read', functions)
        if BACKEND == 'bpf' and KERNEL == '6.1':
            self.assertRegex(' '.join(self.text('some.err').split()), 'not recorded: .*seq_printf')
            self.assertNotIn('seq_printf', functions)
            shown = json.loads(self.text('some.out'))
            self.assertIn('seq_printf', [refused['function'] for refused in shown['refused']])
            self.assertNotIn('seq_printf', shown['not_called'])

    @unittest.skipUnless(HAS_RESULTS, 'results are not recorded')
    def test_errors_only(self):
        calls = self.calls('fails.out')
        self.assertTrue(calls)
        self.assertEqual({-2}, {call['error'] for call in calls})

    @unittest.skipIf(HAS_RESULTS, 'results are recorded')
    def test_conditions_on_unavailable_results_are_refused(self):
        for name in ('results.err', 'returned.err'):
            self.assertIn('CONFIG_FUNCTION_GRAPH_RETVAL', ' '.join(self.text(name).split()))

    def test_a_process_and_its_children(self):
        for name in ('duration.out', 'interrupted.out'):
            with self.subTest(name):
                calls = self.calls(name)
                self.assertLessEqual({call['task'] for call in calls}, {'dd', 'sh', 'sleep'})
                copies = {call['tid'] for call in calls if call['task'] == 'dd'}
                self.assertGreater(len(copies), 2)
                self.assertTrue(json.loads(self.text(name))['complete'])
        self.assertEqual('0\n', self.text('interrupted.code'))

    def test_the_whole_machine(self):
        tasks = {call['task'] for call in self.calls('all.out')}
        self.assertIn('dd', tasks)

    @unittest.skipUnless(BACKEND == 'kprobe', 'there are none')
    def test_probes_of_a_killed_recorder_are_removed(self):
        self.assertEqual('1\n', self.text('killed.probes'))
        self.assertTrue(self.calls('after_kill.out', 'vfs_read'))
        self.assertEqual('', self.text('probes.left'))

    @unittest.skipUnless(KERNEL in ('5.10', '6.1'), 'this kernel can')
    def test_leaves_the_top_level_tracer_unchanged(self):
        self.assertIn('since Linux 6.11', self.text('refused.err'))
        self.assertEqual('', self.text('refused.out'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
