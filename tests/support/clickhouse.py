# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts ClickHouse servers for a test: on loopback, on free ports, with all data in a temporary folder. They form
the cluster `fleet`, with one shard on each server."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = shutil.which('clickhouse-server') or shutil.which('clickhouse-server', path='/usr/sbin')

CONFIG = '''<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http}</http_port>
  <tcp_port>{tcp}</tcp_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  <max_concurrent_queries>100</max_concurrent_queries>
  <remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
'''
SHARD = '''
    <shard><internal_replication>false</internal_replication>
      <replica><host>127.0.0.1</host><port>{tcp}</port></replica></shard>'''
USERS = '''<?xml version="1.0"?>
<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage><max_threads>2</max_threads></default>
    <reader><readonly>1</readonly></reader></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
    <quota>default</quota></default>
    <reader><password></password><networks><ip>127.0.0.1</ip></networks><profile>reader</profile>
    <quota>default</quota></reader></users>
  <quotas><default></default></quotas>
</yandex>
'''


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Server:
    def __init__(self, folder, http, tcp):
        self.folder, self.http, self.tcp = folder, http, tcp
        self.url = f'http://127.0.0.1:{http}'
        self.process = None

    def start(self):
        with open(f'{self.folder}/out', 'ab') as out:
            self.process = subprocess.Popen([PROGRAM, f'--config-file={self.folder}/config.xml'], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f'{self.url}/ping', timeout=5) as answer:
                    answer.read()
                    return
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f'clickhouse-server does not start: {self.errors()}') from None
                time.sleep(0.1)

    def stop(self, how=signal.SIGKILL):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=120)
            self.process = None

    def errors(self):
        text = ''
        for name in ('out', 'errors'):
            if os.path.exists(f'{self.folder}/{name}'):
                with open(f'{self.folder}/{name}', encoding='utf-8', errors='replace') as file:
                    text += file.read()[-2000:]
        return text

    def query(self, sql, **settings):
        url = f'{self.url}/?{urllib.parse.urlencode(settings)}'
        try:
            with urllib.request.urlopen(urllib.request.Request(url, sql.encode()), timeout=300) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode(errors='replace')) from None


class Servers:
    """Starts `count` servers, each a shard of the cluster `fleet`. Leaving the `with` block stops them."""

    def __init__(self, count=2):
        self.folder = tempfile.mkdtemp(prefix='kmemtrace-clickhouse.')
        ports = free_ports(2 * count)
        self.all = []
        for i in range(count):
            folder = f'{self.folder}/{i}'
            os.makedirs(folder)
            self.all.append(Server(folder, ports[2 * i], ports[2 * i + 1]))
        shards = ''.join(SHARD.format(tcp=server.tcp) for server in self.all)
        for server in self.all:
            with open(f'{server.folder}/config.xml', 'w', encoding='utf-8') as file:
                file.write(CONFIG.format(folder=server.folder, http=server.http, tcp=server.tcp, shards=shards))
            with open(f'{server.folder}/users.xml', 'w', encoding='utf-8') as file:
                file.write(USERS)

    def __enter__(self):
        try:
            for server in self.all:
                server.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.all:
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
