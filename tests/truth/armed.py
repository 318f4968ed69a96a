#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `serve --investigate-on` starts no investigation under load alone. Then starts programs that do not free
memory (plants), and checks that the evidence names them.

armed.py KMEMTRACE [--plants N] [--quiet SECONDS] [--load NAME,…] [--keep DIR]

Run it on a machine where nothing else makes kernel memory grow, such as the virtual machine of armed_vm.py. The server
waits for growth of SUnreclaim. First, only the loads run for the time --quiet. Then plants start one after the other,
each at a random time. A plant is named if the next evidence confirms growth, and its first finding names one of the
plant's functions and its process. Prints a line for each plant, with the certainty of this finding: growth may also be
confirmed by counters alone. --keep copies the evidence of a plant that is not named to DIR. The exit status is 1 if an
investigation starts before the first plant, or if fewer than 19 of 20 plants are named."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench import Running, is_named_first

KINDS = {'sockets': 250, 'messages': 400, 'epoll': 400, 'timerfds': 800, 'keys': 800, 'netlink_sockets': 200,
         'eventfds': 600, 'unread_datagrams': 300}  # objects per second
CONDITION = 'SUnreclaim+4M/1m'
WINDOW = 60  # seconds of CONDITION
LONGEST = 180  # seconds from the start of a plant to its evidence


class Server:
    def __init__(self, program, folder):
        self.evidence = os.path.join(folder, 'evidence')
        self.said = os.path.join(folder, 'said')
        with open(self.said, 'w', encoding='utf-8') as said:
            self.process = subprocess.Popen([program, 'serve', '--investigate-on', CONDITION, '--evidence', self.evidence,
                                             '--keep', '1000', '--for', '30s', '--pause', '30s'], stderr=said)

    def text(self):
        with open(self.said, encoding='utf-8') as file:
            return file.read()

    def investigations(self):
        """Returns the number of investigations that started, and the folders of those that ended."""
        text = self.text()
        if 'failed' in text:
            raise AssertionError(text)
        return text.count('Investigating'), re.findall(r'Evidence: (\S+)', text)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def summary(evidence):
    with open(os.path.join(evidence, 'summary.json'), encoding='utf-8') as file:
        return json.load(file)


def run_plant(server, kind):
    """Returns the folder of the evidence about a plant, and the plant's process ID. The folder is None if there is none
    in time."""
    ended = len(server.investigations()[1])
    time.sleep(random.uniform(0, 30))
    plant = Running(kind, per_second=KINDS[kind])
    try:
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            folders = server.investigations()[1]
            if len(folders) > ended:
                return folders[ended], plant.process.pid
            time.sleep(1)
        return None, plant.process.pid
    finally:
        plant.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program', metavar='KMEMTRACE')
    parser.add_argument('--plants', type=int, default=20)
    parser.add_argument('--quiet', type=int, default=600)
    parser.add_argument('--load', default='steady_churn')
    parser.add_argument('--keep', default='')
    arguments = parser.parse_args()
    loads = [Running(name) for name in filter(None, arguments.load.split(','))]
    with tempfile.TemporaryDirectory(prefix='kmemtrace-truth-') as folder:
        server = Server(arguments.program, folder)
        try:
            time.sleep(arguments.quiet)
            alarms = server.investigations()[0]
            print(f'{alarms} investigations in {arguments.quiet} s without a plant', flush=True)
            named = 0
            for number in range(arguments.plants):
                kind = list(KINDS)[number % len(KINDS)]
                evidence, pid = run_plant(server, kind)
                found = summary(evidence) if evidence else None
                is_named = found is not None and is_named_first(found, kind, pid)
                named += is_named
                verdict = f'named ({found["findings"][0]["certainty"]})' if is_named else 'NOT NAMED'
                print(f'{kind}: {verdict}: {found["words"] if found else "no evidence"}', flush=True)
                if evidence and not is_named and arguments.keep:
                    shutil.copytree(evidence, os.path.join(arguments.keep, f'{number}-{kind}'))
                time.sleep(WINDOW if found else 0)  # lets the freed memory leave the window
        finally:
            server.end()
            for load in loads:
                load.end()
    print(f'{named} of {arguments.plants} plants named')
    sys.exit(0 if alarms == 0 and named >= arguments.plants * 19 / 20 else 1)


if __name__ == '__main__':
    main()
