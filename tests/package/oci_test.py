#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the container images of packaging/oci. skopeo and podman read them, which share no code with the script."""
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from podman import Podman  # noqa: E402

PROGRAM = os.environ['KMEMTRACE']
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'packaging', 'oci')
ARM64 = 183  # EM_AARCH64


def skopeo(*arguments):
    return subprocess.run(['skopeo', *arguments], stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout


@unittest.skipUnless(shutil.which('skopeo'), 'needs skopeo')
class OciTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, *arguments, status=0):
        done = subprocess.run([SCRIPT, '--output', self.path(name), *arguments], stderr=subprocess.PIPE, encoding='utf-8')
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else self.path(name)

    def static_program(self, machine=None):
        """Returns a static program that prints its version, as if it were built for another machine."""
        path = self.path(f'program-{machine}')
        with open(self.path('program.c'), 'w', encoding='utf-8') as file:
            file.write('#include <stdio.h>\nint main(void) { puts("static program"); return 0; }\n')
        subprocess.run(['cc', '-static', self.path('program.c'), '-o', path], check=True)
        if machine is not None:
            with open(path, 'r+b') as file:
                file.seek(18)
                file.write(struct.pack('<H', machine))
        return path

    def test_content(self):
        program = self.static_program()
        archive = self.make('one.tar', program)
        with open(archive, 'rb') as first, open(self.make('again.tar', program), 'rb') as again:
            self.assertEqual(first.read(), again.read(), 'two runs give different images')
        seen = json.loads(skopeo('inspect', f'oci-archive:{archive}'))
        self.assertEqual(seen['Labels']['org.opencontainers.image.licenses'], 'GPL-2.0-or-later')
        config = json.loads(skopeo('inspect', '--config', f'oci-archive:{archive}'))
        self.assertEqual(config['config']['Entrypoint'], ['/usr/bin/kmemtrace'])
        # skopeo checks the size and hash of everything that it copies.
        skopeo('copy', '--quiet', f'oci-archive:{archive}', f'dir:{self.path("copied")}')
        skopeo('copy', '--quiet', f'oci-archive:{archive}', f'docker-archive:{self.path("docker.tar")}:kmemtrace:test')
        with open(self.path('copied/manifest.json'), encoding='utf-8') as file:
            layer = json.load(file)['layers'][0]['digest'].removeprefix('sha256:')
        with tarfile.open(self.path(f'copied/{layer}')) as tar:
            with open(program, 'rb') as file:
                self.assertEqual(tar.extractfile('usr/bin/kmemtrace').read(), file.read())
            self.assertEqual({(one.uid, one.gid, one.mtime) for one in tar}, {(0, 0, 0)})
            self.assertEqual(tar.getmember('tmp').mode, 0o1777)

    def test_several_architectures(self):
        programs = [self.static_program(), self.static_program(ARM64)]
        archive = self.make('two.tar', *programs)
        index = json.loads(skopeo('inspect', '--raw', f'oci-archive:{archive}'))
        self.assertEqual([one['platform']['architecture'] for one in index['manifests']][1:], ['arm64'])
        for machine, program in zip((index['manifests'][0]['platform']['architecture'], 'arm64'), programs):
            seen = json.loads(skopeo('--override-arch', machine, 'inspect', f'oci-archive:{archive}'))
            self.assertEqual(seen['Architecture'], machine)
            target = self.path(machine)
            skopeo('--override-arch', machine, 'copy', '--quiet', f'oci-archive:{archive}', f'dir:{target}')
            layer = seen['Layers'][0].removeprefix('sha256:')
            with tarfile.open(f'{target}/{layer}') as tar, open(program, 'rb') as file:
                self.assertEqual(hashlib.sha256(tar.extractfile('usr/bin/kmemtrace').read()).digest(),
                                 hashlib.sha256(file.read()).digest())

    def test_wrong_usage(self):
        program = self.static_program()
        self.assertIn('same architecture', self.make('no.tar', program, program, status=1))
        self.assertIn('is not a program', self.make('no.tar', SCRIPT, status=1))
        self.assertIn('No such file', self.make('no.tar', '/absent/program', status=1))
        self.assertIn('Omit --full', self.make('no.tar', '--full', program, status=1))
        self.assertFalse(os.path.exists(self.path('no.tar')))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('podman'), 'needs root and podman')
    def test_runs_in_podman(self):
        version = subprocess.run([PROGRAM, '--version'], stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout
        image = 'localhost/kmemtrace:' + version.split()[1]
        with Podman() as podman:
            podman.podman('load', '--quiet', '--input', self.make('static.tar', self.static_program()))
            self.assertEqual(podman.run(image).stdout, 'static program\n')
            podman.podman('load', '--quiet', '--input', self.make('full.tar', '--full', PROGRAM))
            self.assertEqual(podman.run(image, '--version', options=['--read-only']).stdout, version)
            done = podman.run(image, 'list', options=['--privileged'])
            self.assertIn(f'release    {os.uname().release}', done.stdout)


if __name__ == '__main__':
    unittest.main(verbosity=2)
