#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests packaging/kubernetes: the form of the files, and that each container has the privileges that it needs and no
others. The containers run in podman with the arguments, mounts and capabilities of the files."""
import glob
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
import urllib.request

import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from podman import Podman  # noqa: E402

PROGRAM = os.environ['KMEMTRACE']
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
FILES = sorted(glob.glob(f'{ROOT}/packaging/kubernetes/*.yaml'))
TRACEFS = '/sys/kernel/tracing'

# Names that Kubernetes knows, for the objects that the files use. An API server rejects or ignores other names.
POD = {'automountServiceAccountToken', 'hostPID', 'restartPolicy', 'tolerations', 'affinity', 'containers', 'volumes'}
CONTAINER = {'name', 'image', 'args', 'workingDir', 'ports', 'readinessProbe', 'resources', 'securityContext', 'volumeMounts'}
SECURITY = {'runAsUser', 'allowPrivilegeEscalation', 'readOnlyRootFilesystem', 'capabilities', 'seccompProfile',
            'appArmorProfile'}
WORKLOADS = {'DaemonSet': ('apps/v1', {'selector', 'template'}),
             'Job': ('batch/v1', {'parallelism', 'completions', 'completionMode', 'backoffLimitPerIndex', 'template'})}


def documents():
    for path in FILES:
        with open(path, encoding='utf-8') as file:
            for document in yaml.safe_load_all(file):
                yield os.path.basename(path), document


def pod_of(name):
    return next(one['spec']['template']['spec'] for path, one in documents() if path == name and one['kind'] in WORKLOADS)


class FormTest(unittest.TestCase):
    def test_names(self):
        kinds = set()
        for path, document in documents():
            with self.subTest(path, kind=document['kind']):
                kinds.add(document['kind'])
                self.assertLessEqual(set(document), {'apiVersion', 'kind', 'metadata', 'spec'})
                if document['kind'] == 'Namespace':
                    self.assertEqual(document['apiVersion'], 'v1')
                    continue
                self.assertEqual(document['metadata']['namespace'], 'kmemtrace')
                if document['kind'] == 'NetworkPolicy':
                    self.assertEqual(document['apiVersion'], 'networking.k8s.io/v1')
                    self.assertEqual(document['spec']['podSelector']['matchLabels'], document['metadata'].get('labels') or
                                     {'app.kubernetes.io/name': document['metadata']['name']})
                    continue
                version, known = WORKLOADS[document['kind']]
                spec = document['spec']
                self.assertEqual(document['apiVersion'], version)
                self.assertLessEqual(set(spec), known)
                labels = spec['template']['metadata']['labels']
                self.assertEqual(spec.get('selector', {'matchLabels': labels})['matchLabels'], labels)
                self.check_pod(spec['template']['spec'])
                if document['kind'] == 'Job':
                    self.assertEqual(spec['template']['spec']['restartPolicy'], 'Never')
                    self.assertEqual(spec['parallelism'], spec['completions'])
        self.assertEqual(kinds, {'Namespace', 'NetworkPolicy', 'DaemonSet', 'Job'})

    def check_pod(self, pod):
        self.assertLessEqual(set(pod), POD)
        self.assertFalse(pod['automountServiceAccountToken'])
        volumes = {volume['name']: volume['hostPath']['path'] for volume in pod.get('volumes', ())}
        for container in pod['containers']:
            self.assertLessEqual(set(container), CONTAINER)
            security = container['securityContext']
            self.assertLessEqual(set(security), SECURITY)
            self.assertEqual(security['capabilities']['drop'], ['ALL'])
            self.assertTrue(security['readOnlyRootFilesystem'])
            self.assertFalse(security['allowPrivilegeEscalation'])
            self.assertTrue(all(isinstance(argument, str) for argument in container['args']), container['args'])
            mounts = container.get('volumeMounts', [])
            self.assertEqual({mount['name'] for mount in mounts}, set(volumes))
            for mount in mounts:  # the program expects the folders in their usual places
                self.assertEqual(mount['mountPath'], volumes[mount['name']])
                self.assertEqual(mount.get('readOnly', False), mount['name'] not in ('output', 'tracing'), mount)

    def test_version(self):
        version = subprocess.run([PROGRAM, '--version'], stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout.split()[1]
        for path in FILES:
            with open(path, encoding='utf-8') as file:
                for image in re.findall('image: (.*)', file.read()):
                    self.assertEqual(image, f'registry.example/kmemtrace:{version}')


def why_not_live():
    if os.geteuid() != 0 or not shutil.which('podman'):
        return 'needs root and podman'
    return None if os.path.isdir(f'{TRACEFS}/instances') else f'no {TRACEFS}'


class PrivilegesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why_not_live():
            if os.environ.get('KMEMTRACE_REQUIRE_LIVE'):
                raise AssertionError(why_not_live())
            raise unittest.SkipTest(why_not_live())
        cls.podman = cls.enterClassContext(Podman())
        archive = cls.podman.path('image.tar')
        subprocess.run([f'{ROOT}/packaging/oci', '--full', '--output', archive, PROGRAM], check=True, stderr=subprocess.PIPE)
        loaded = cls.podman.podman('load', '--quiet', '--input', archive).stdout
        cls.image = loaded.split()[-1]

    def options_of(self, name, without=(), more=()):
        """Returns podman's options for the pod in this file. Folders of the node that tests must not write to are
        replaced."""
        pod = pod_of(name)
        container = pod['containers'][0]
        security = container['securityContext']
        options = ['--cap-drop=ALL', '--read-only', '--read-only-tmpfs=false', '--security-opt=no-new-privileges',
                   self.podman.runtime_default()]
        options += [f'--cap-add={one}' for one in security['capabilities']['add'] if one not in without]
        if pod.get('hostPID'):
            options.append('--pid=host')
        volumes = {volume['name']: volume['hostPath']['path'] for volume in pod.get('volumes', ())}
        for mount in container.get('volumeMounts', ()):
            source = volumes[mount['name']]
            if not source.startswith('/sys/'):
                source = self.podman.path(mount['name'])
                os.makedirs(source, exist_ok=True)
            options.append(f'--volume={source}:{mount["mountPath"]}{":ro" if mount.get("readOnly") else ""}')
        if 'workingDir' in container:
            options.append(f'--workdir={container["workingDir"]}')
        return options + list(more)

    def run_pod(self, name, *arguments, without=(), more=()):
        return self.podman.run(self.image, *arguments, options=self.options_of(name, without, more), check=False)

    def new_file(self, folder, ending, most=os.path.getmtime):
        found = glob.glob(f'{self.podman.path(folder)}/**/*{ending}', recursive=True)
        self.assertTrue(found, f'no {ending} in {folder}')
        return max(found, key=most)

    def test_profile(self):
        arguments = pod_of('profile.yaml')['containers'][0]['args']
        self.assertEqual(arguments[:3], ['profile', '--continuous', '/var/lib/kmemtrace'])
        short = ['--every', '1s', '-d', '3s', '--format', 'kmt']
        done = self.run_pod('profile.yaml', *arguments[:3], *short)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('kallsyms', done.stderr)
        largest = self.new_file('output', '-heap-*.kmt', most=os.path.getsize)  # the last one may cover a few milliseconds
        shown = subprocess.run([PROGRAM, 'profile', '--show', largest], stdout=subprocess.PIPE, check=True,
                               encoding='utf-8').stdout
        self.assertRegex(shown, r'[a-z_.0-9]+\+0x')
        for capability, expected in (('BPF', 3), ('PERFMON', 3), ('SYSLOG', 0)):
            with self.subTest(without=capability):
                done = self.run_pod('profile.yaml', *arguments[:3], *short, without=[capability])
                self.assertEqual(done.returncode, expected, done.stderr)
                self.assertIn('CAP_SYSLOG' if capability == 'SYSLOG' else 'CAP_BPF and CAP_PERFMON', done.stderr)

    def test_blocked_by_seccomp(self):
        """With its own profile, podman before 4.7 blocks bpf(2). The error must name the cause."""
        done = self.run_pod('profile.yaml', 'stat', '-d', '1s', more=['--security-opt=seccomp=/usr/share/containers/seccomp.json'])
        if done.returncode != 0:
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn('seccomp', done.stderr)

    def test_serve(self):
        arguments = pod_of('serve.yaml')['containers'][0]['args']
        self.assertEqual(arguments, ['serve', '--prometheus', '0.0.0.0:9751'])
        options = self.podman.run_options(*self.options_of('serve.yaml'), '--name=serve', network='host')
        command = self.podman.command(*options, self.image, *arguments[:-1], '127.0.0.1:19783')
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8') as process:
            try:
                metrics = self.metrics(process)
            finally:
                self.podman.podman('kill', '--signal=INT', 'serve', check=False)
                stderr = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, stderr)
        self.assertRegex(metrics, r'kmemtrace_\w+\{[^}]*call_site="[a-z_]')

    def metrics(self, process):
        for _ in range(120):
            self.assertIsNone(process.poll(), 'serve has ended')
            try:
                with urllib.request.urlopen('http://127.0.0.1:19783/metrics', timeout=10) as answer:
                    text = answer.read().decode()
                if 'call_site="' in text:
                    return text
            except OSError:
                pass
            time.sleep(0.5)
        self.fail('serve does not answer')

    def test_investigate(self):
        arguments = pod_of('investigate.yaml')['containers'][0]['args']
        self.assertEqual(arguments[:2], ['investigate', '--for'])
        done = self.run_pod('investigate.yaml', *arguments[:2], '10s', '--threshold', '1G/m')
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(self.new_file('output', 'index.html'))
        for missing in ('exact recordings', 'sampled', 'not permitted'):
            self.assertNotIn(missing, done.stdout)

    def test_records_cgroups_and_pods(self):
        """The recording has the absolute paths of cgroups, although the container has a cgroup namespace of its own.
        Names of pods are those of the prepared folders."""
        uid, container = '1f0a4c7e-8a1d-4c6b-9a55-2f8b1f0f9a10', '0123456789abcdef' * 4
        cgroup = f'/{self.podman.cgroup}/kubepods/burstable/pod{uid}/{container}'
        place = next(path for path in ('/sys/fs/cgroup/unified', '/sys/fs/cgroup') if os.path.exists(f'{path}/cgroup.procs'))
        os.makedirs(place + cgroup, exist_ok=True)
        busy = subprocess.Popen(['sh', '-c', f'echo $$ >{place}{cgroup}/cgroup.procs; while ls /; do sleep 0.05; done'],
                                stdout=subprocess.DEVNULL)
        self.addCleanup(busy.communicate)
        self.addCleanup(busy.kill)
        options = self.options_of('investigate.yaml')
        os.makedirs(f'{self.podman.path("logs")}/shop_web-7d4f_{uid}', exist_ok=True)
        link = f'{self.podman.path("links")}/web-7d4f_shop_nginx-{container}.log'
        if not os.path.lexists(link):
            os.symlink('/absent', link)
        self.podman.run(self.image, 'record', '-d', '2s', '-o', '/var/lib/kmemtrace/pods.kmt', options=options)
        shown = {}
        for key in ('cgroup', 'container'):
            shown[key] = subprocess.run([PROGRAM, 'report', '--by', key, '--raw', '--limit', '0', self.new_file('output', 'pods.kmt')],
                                        stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout
        found = re.findall(r'^  (/\S*|shop/\S+ \S+) ', shown['cgroup'] + shown['container'], re.MULTILINE)
        self.assertIn(cgroup, found)
        self.assertIn('shop/web-7d4f nginx', found)
        self.assertFalse([path for path in found if '/..' in path])


if __name__ == '__main__':
    unittest.main(verbosity=2)
