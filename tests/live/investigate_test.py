#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `investigate` names the cause of growing kernel memory and reports nothing without growth. It must
also work without BPF and without tracefs, and report its results when interrupted. tests/truth/bench.py
counts how often the result is right."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from recording import PROGRAM, LiveTest, second_try, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'truth'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import schemas  # noqa: E402
from bench import Running, describe, investigate, is_named_first  # noqa: E402

SECONDS = 12
STATUS = {'grows': 1, 'no_growth': 0, 'cannot_tell': 4}  # exit status of each verdict


class Investigate(LiveTest):
    def plant(self, kind, **options):
        plant = Running(kind, 'build', **options)
        self.addCleanup(plant.end)
        return plant

    def assert_named_first(self, found, kind, plant):
        self.assertTrue(is_named_first(found, kind, plant.process.pid), describe(found))

    @second_try
    def test_finds_held_pipes_and_pages_outside_slabs(self):
        plant = self.plant('pipes')
        rings = self.plant('rings', per_second=100)
        folder = self.path('out')
        found = investigate(PROGRAM, folder, SECONDS, '--cpu', '50')  # enough budget for samples and a recording
        of = {pid: [one for one in found['findings'] if one['processes'][0]['process'] == pid]
              for pid in (plant.process.pid, rings.process.pid)}
        self.assertTrue(all(of.values()), describe(found))
        # The rings of packet sockets grow faster than the pipes.
        packets = next(one for one in of[rings.process.pid] if one['function'] in ('packet_set_ring', 'alloc_pg_vec'))
        self.assertNotEqual(packets['certainty'], 'weak')
        self.assertTrue(any(cache['name'] == 'pages of order 1' for cache in packets['caches']), packets['caches'])
        first = of[plant.process.pid][0]
        self.assert_named_first({**found, 'findings': [first]}, 'pipes', plant)
        self.assertEqual(first['certainty'], 'sure')
        others = [one for one in found['findings'] if one['processes'][0]['process'] not in of]
        self.assertNotIn('sure', [one['certainty'] for one in others], describe(found))
        self.assertGreater(found['recording']['seconds'], SECONDS / 10)
        self.assertTrue(any('do_pipe2' in frame for frame in first['call_sites'][0]['stack']), first['call_sites'][0])
        self.assertTrue(any(cache['name'] == 'kmalloc-1k' for cache in first['caches']), first['caches'])
        # The folder must contain the result, and each file must be readable by the command that summary.json names for
        # it.
        names = {file['name'] for file in found['files']}
        of_large_caches = {'objects.json'} if found['large_caches'] else set()
        self.assertEqual(names, {'before.kmt', 'after.kmt', 'profile.kmt', 'trace.kmt', 'evidence.json', 'summary.json',
                                 'index.html'} | of_large_caches)
        for name in names:
            self.assertTrue(os.path.getsize(os.path.join(folder, name)) > 0, name)
        with open(os.path.join(folder, 'summary.json'), encoding='utf-8') as file:
            self.assertEqual(json.load(file)['findings'], found['findings'])
        for command in (['snapshot', 'before.kmt'], ['profile', '--show', 'profile.kmt'], ['check', 'trace.kmt'],
                        ['diff', 'before.kmt', 'after.kmt']):
            done = subprocess.run([PROGRAM, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  encoding='utf-8', check=False)
            self.assertEqual(done.returncode, 0, f'{command}: {done.stderr}')
        # The saved data must lead to the same result again, without access to the kernel.
        self.assert_judged_the_same_again(found, folder)
        with open(self.path('again.html'), encoding='utf-8') as file:
            self.assertIn('kmemtrace-data', file.read())

    def assert_judged_the_same_again(self, found, folder):
        offline = subprocess.run([PROGRAM, 'investigate', '--from', folder, '-o', self.path('again.html'), '--json'],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(offline.returncode, STATUS[found['verdict']], offline.stderr)
        again = schemas.check(self, offline.stdout)
        self.assertEqual([], schemas.problems(found))
        for key in ('found', 'verdict', 'coverage', 'seconds', 'findings', 'states', 'balance', 'kernel', 'machine', 'unseen',
                    'large_caches'):
            self.assertEqual(found[key], again[key], key)

    @second_try
    def test_finds_held_epoll_instances(self):
        plant = self.plant('epoll')
        self.assert_named_first(investigate(PROGRAM, self.path('out'), SECONDS), 'epoll', plant)

    @second_try
    def test_reports_no_growth_and_states_what_an_unprivileged_user_lacks(self):
        """Runs as root and as an unprivileged user at the same time."""
        self.plant('none')
        folder = self.enterContext(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o777)
        unprivileged = subprocess.Popen(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', PROGRAM,
                                   'investigate', '--for', f'{SECONDS}s', '-o', os.path.join(folder, 'out'), '--json'],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
        found = investigate(PROGRAM, self.path('out'), SECONDS)
        output, messages = unprivileged.communicate(timeout=120)
        self.assertFalse(found['found'], describe(found))
        # On a busy machine, the CPU budget may end the samples early.
        self.assertEqual(found['verdict'], 'no_growth' if found['coverage']['share'] >= .5 else 'cannot_tell')
        # The investigation must not end early, whatever the samples cost. Its budget is at least 2.4 s, but on a busy
        # machine its last steps may exceed the budget.
        self.assertTrue(found['complete'])
        self.assertGreater(found['seconds'], SECONDS - 1)
        self.assertTrue(found['cost']['measured'])
        slabs = next(state for state in found['states'] if state['name'] == 'SUnreclaim')
        self.assertGreater(len(slabs['series']) * slabs['step_seconds'], SECONDS - 2)
        self.assertLess(found['cost']['cpu_seconds'] + found['cost']['kernel_cpu_seconds'], 8)
        seen = schemas.check(self, output)
        if seen['verdict'] != 'grows':  # other activity may let the sums in meminfo grow
            self.assertEqual((unprivileged.returncode, seen['verdict']), (4, 'cannot_tell'), messages)
        self.assertIn('the allocating code', [one['what'] for one in seen['unseen']])
        self.assertEqual({'meminfo'}, {state['source'] for state in seen['states']})
        self.assertIn('SUnreclaim', [state['name'] for state in seen['states']])

    @second_try
    def test_copies_and_a_trace_name_the_cause(self):
        """Copies of the kernel's files from two times and a recording in between, with and without stacks."""
        plant = self.plant('sockets')
        folders = {option: self.path('copies' + option) for option in ('', '--stacks')}
        for folder in folders.values():
            self.copy_state(os.path.join(folder, 'before'))
        recorders = [subprocess.Popen([PROGRAM, 'record', *filter(None, [option]), '-d', '10s', '-o',
                                       os.path.join(folder, 'trace.kmt')], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) for option, folder in folders.items()]
        self.assertEqual([0, 0], [recorder.wait() for recorder in recorders])
        for folder in folders.values():
            self.copy_state(os.path.join(folder, 'after'))
        for option, folder in folders.items():
            with self.subTest(option):
                done = subprocess.run([PROGRAM, 'investigate', '--from', folder, '-o', self.path('page.html'), '--json'],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
                self.assertIn(done.returncode, (1, 4), done.stderr)
                found = schemas.check(self, done.stdout)
                self.assertEqual(found['verdict'], 'grows' if done.returncode == 1 else 'cannot_tell')
                sockets = [one for one in found['findings'] if one['processes'][0]['process'] == plant.process.pid]
                self.assertTrue(sockets and sockets[0]['certainty'] != 'weak', describe(found))
                self.assertIn(sockets[0], found['findings'][:2], describe(found))
                # Pages of slabs must be reported as objects of the slab caches.
                self.assertEqual([], [cache for cache in sockets[0]['caches'] if cache['name'].startswith('pages')])
                # The copies of slabinfo show by how much each cache grew, so the growth of no cache may be unknown.
                self.assertEqual([], [cache['no_account'] for cache in sockets[0]['caches'] if cache['no_account']])

    @staticmethod
    def copy_state(folder):
        os.makedirs(folder)
        for name in ('uptime', 'meminfo', 'vmstat', 'zoneinfo', 'slabinfo'):
            with open(f'/proc/{name}', encoding='utf-8') as source:
                text = source.read()
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)

    def test_dry_run_shows_the_plan(self):
        done = subprocess.run([PROGRAM, 'investigate', '--dry-run', '--json'], stdout=subprocess.PIPE, check=True)
        plan = json.loads(done.stdout)['plan']
        self.assertEqual(plan['seconds'], 120)
        self.assertTrue(plan['recording'])
        self.assertLess(plan['cpu_seconds'], plan['most_cpu_seconds'])
        # Root without the right to mount cannot record if tracefs is not mounted.
        hidden = ('for at in /sys/kernel/debug /sys/kernel/tracing; do umount -R $at; done 2>/dev/null; '
                  f'exec setpriv --bounding-set -sys_admin {PROGRAM} investigate --dry-run --json')
        done = subprocess.run(['unshare', '--mount', 'sh', '-c', hidden], stdout=subprocess.PIPE, check=True)
        plan = json.loads(done.stdout)['plan']
        self.assertFalse(plan['recording'])
        self.assertIn('exact recordings', [one['what'] for one in plan['unseen']])

    def test_states_the_missing_permissions(self):
        unprivileged = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
        command = [PROGRAM, 'investigate', '--dry-run', '--json']
        slabs, trace = "the kernel's counters of slab caches", 'exact recordings'

        def unseen(before):
            done = subprocess.run([*before, *command], stdout=subprocess.PIPE, check=True)
            return {one['what']: one for one in json.loads(done.stdout)['plan']['unseen']}
        refused = unseen(unprivileged)
        self.assertEqual(('run it as root', 'run it as root'), (refused[slabs]['how'], refused[trace]['how']))
        self.assertIn('Permission denied', refused[slabs]['why'])
        # The plan must not list the skipped steps or include their cost.
        plan = json.loads(subprocess.check_output([*unprivileged, *command]))['plan']
        self.assertEqual((False, False, 0), (plan['samples'], plan['recording'], plan['kernel_bytes']))
        self.assertIn('meminfo', plan['states'])
        self.assertNotIn('slabinfo', plan['states'])
        plan_text = subprocess.check_output([*unprivileged, *command[:-1]], encoding='utf-8')
        self.assertNotRegex(plan_text, r'slabinfo, |loading programs|before the cost reaches|0 B in the kernel')
        # If /sys is not mounted, root would not see more than an unprivileged user. So running as root must not be
        # suggested.
        hidden = unseen(['unshare', '--mount', 'sh', '-c', 'umount -R -l /sys; exec "$@"', 'sh', *unprivileged])
        self.assertNotIn('root', hidden[trace]['how'])
        self.assertIn('/sys is not mounted', hidden[trace]['why'])
        if subprocess.run([*unprivileged, 'unshare', '-Ur', 'true'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest('user namespaces are refused')
        # The files are visible to root in a user namespace, but not readable.
        apart = unseen([*unprivileged, 'unshare', '-Ur'])
        for what in (slabs, trace):
            self.assertIn('outside this user namespace', apart[what]['how'])
        self.assertIn('Permission denied', apart[slabs]['why'])

    def test_ctrl_c_shows_the_results_so_far(self):
        folder = self.path('out')
        process = subprocess.Popen([PROGRAM, 'investigate', '--for', '10m', '-o', folder, '--json'],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
        self.assertTrue(wait_until(lambda: os.path.exists(os.path.join(folder, 'before.kmt')), 60))
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, messages)
        found = json.loads(output)
        self.assertFalse(found['complete'])
        self.assertEqual(found['verdict'], 'cannot_tell')
        self.assertIn('interrupted', found['words'])
        self.assertRegex(found['words'], r'From the first to the last of [0-9]+ states, [0-9.]+ s, (nothing rose|.* rose by .*)\.')
        self.assertLess(found['seconds'], 60)
        self.assertTrue(os.path.exists(os.path.join(folder, 'after.kmt')))
        self.assert_nothing_left(process.pid, 10)

    @second_try
    def test_works_without_bpf(self):
        """Drops CAP_BPF and CAP_SYS_ADMIN. Root can still write to tracefs."""
        plant = self.plant('sockets', per_second=400)
        folder = self.path('out')
        done = subprocess.run(['setpriv', '--bounding-set', '-sys_admin,-bpf', PROGRAM, 'investigate', '--for',
                               f'{SECONDS}s', '-o', folder, '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(done.stdout)
        self.assertIn('samples of all slab allocations', [one['what'] for one in found['unseen']])
        # The kernel's counters quickly show which caches grow, and allocations from these caches are recorded.
        # Identifying the responsible process among short-lived allocations takes longer.
        self.assertIn('UDP', [state['name'] for state in found['states'] if state['sure']])
        self.assertIsNotNone(found['balance'])
        self.assertTrue(plant.process.poll() is None)
        # Without samples, the cgroups of the recorded processes are known only from the running kernel.
        self.assert_judged_the_same_again(found, folder)


if __name__ == '__main__':
    unittest.main()
