# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs containers with podman, without a network and with a storage of its own."""
import json
import os
import subprocess
import tempfile

SECCOMP = '/usr/share/containers/seccomp.json'
SYS_RESOURCE = 24  # include/uapi/linux/capability.h

# Machines like those of CI lack CAP_SYS_RESOURCE. There, the runtime cannot raise limits, or load programs that limit
# devices. So this program, which podman starts as its runtime, removes these settings.
WRAPPER = '''#!/usr/bin/env python3
import json, os, sys
for option, bundle in zip(sys.argv, sys.argv[1:]):
    if option in ('--bundle', '-b'):
        with open(bundle + '/config.json', encoding='utf-8') as file:
            config = json.load(file)
        config['process'].pop('rlimits', None)
        config['process'].pop('oomScoreAdj', None)
        config['linux'].pop('resources', None)
        with open(bundle + '/config.json', 'w', encoding='utf-8') as file:
            json.dump(config, file)
os.execv('/usr/bin/crun', ['crun'] + sys.argv[1:])
'''

# crun refuses a mixture of both versions of cgroups. Only podman sees this mount.
ALONE = 'umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"'


def lacks_sys_resource():
    with open('/proc/self/status', encoding='utf-8') as status:
        bounding = next(line for line in status if line.startswith('CapBnd'))
    return not int(bounding.split()[1], 16) >> SYS_RESOURCE & 1


class Podman:
    """A storage of podman in a temporary folder. Use it in a with statement."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='kmemtrace-podman-')
        self.options = ['--root', self.path('root'), '--runroot', self.path('run'), '--storage-driver', 'vfs',
                        '--cgroup-manager', 'cgroupfs', '--events-backend', 'none']
        if lacks_sys_resource():
            with open(self.path('crun'), 'w', encoding='utf-8') as file:
                file.write(WRAPPER)
            os.chmod(self.path('crun'), 0o755)
            self.options += ['--runtime', self.path('crun')]
        self.cgroup = f'kmemtrace-test-{os.getpid()}'
        return self

    def __exit__(self, *ignored):
        self.podman('rm', '--all', '--force', check=False)
        for mount in ('/sys/fs/cgroup', '/sys/fs/cgroup/unified'):
            for path, _, _ in os.walk(f'{mount}/{self.cgroup}', topdown=False):
                os.rmdir(path)
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, *arguments):
        return ['unshare', '--mount', 'sh', '-c', ALONE, 'sh', 'podman', *self.options, *arguments]

    def podman(self, *arguments, check=True, seconds=120):
        done = subprocess.run(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, encoding='utf-8', errors='replace', timeout=seconds)
        if check and done.returncode != 0:
            raise AssertionError(f'podman {" ".join(arguments)}: exit {done.returncode}: {done.stderr}')
        return done

    def run_options(self, *options, network='none'):
        return ['run', '--rm', f'--network={network}', f'--cgroup-parent=/{self.cgroup}', *options]

    def run(self, image, *arguments, options=(), check=True):
        return self.podman(*self.run_options(*options), image, *arguments, check=check)

    def runtime_default(self):
        """Returns the option for a seccomp profile like RuntimeDefault of containerd 1.7. There, CAP_BPF permits
        bpf(2), and CAP_PERFMON permits perf_event_open(2). podman requires CAP_SYS_ADMIN for both."""
        with open(SECCOMP, encoding='utf-8') as file:
            profile = json.load(file)
        for rule in profile['syscalls']:
            rule['names'] = [name for name in rule['names'] if name not in ('bpf', 'perf_event_open')]
        for name, capability in (('bpf', 'CAP_BPF'), ('perf_event_open', 'CAP_PERFMON')):
            profile['syscalls'].append({'names': [name], 'action': 'SCMP_ACT_ALLOW', 'args': [],
                                        'includes': {'caps': [capability]}, 'excludes': {}})
        profile['syscalls'] = [rule for rule in profile['syscalls'] if rule['names']]
        with open(self.path('seccomp.json'), 'w', encoding='utf-8') as file:
            json.dump(profile, file)
        return f'--security-opt=seccomp={self.path("seccomp.json")}'
