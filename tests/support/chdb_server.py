#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves a current ClickHouse engine (the library chDB) over HTTP. Only the requests that kmemtrace uses are supported:
`query` in the URL, followed by the body. Prints its port, and exits at the end of its standard input.
  chdb_server.py LIBCHDB.SO FOLDER"""
import ctypes
import http.server
import os
import sys
import threading
import urllib.parse


class Engine:
    def __init__(self, library, folder):
        self.chdb = ctypes.CDLL(library)
        self.chdb.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self.chdb.chdb_query_n.restype = ctypes.c_void_p
        self.chdb.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                           ctypes.c_size_t]
        for name, result in (('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t), ('error', ctypes.c_char_p)):
            function = getattr(self.chdb, f'chdb_result_{name}')
            function.restype, function.argtypes = result, [ctypes.c_void_p]
        self.chdb.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
        words = [b'clickhouse', f'--path={folder}/data'.encode()]
        self.connection = self.chdb.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words))
        self.folder = folder
        self.lock = threading.RLock()

    def query(self, sql):
        """Runs a query. Returns (True if it succeeded, the answer or the error message)."""
        text, _, format = sql.rpartition('\nFORMAT ') if '\nFORMAT ' in sql else (sql, '', 'TabSeparated')
        if text.endswith(' FORMAT TabSeparated'):
            text = text.removesuffix(' FORMAT TabSeparated')
        code, name = text.encode(), format.encode()
        with self.lock:
            result = self.chdb.chdb_query_n(self.connection[0], code, len(code), name, len(name))
            if not result:
                return False, b'the engine gives no result'
            error = self.chdb.chdb_result_error(result)
            answer = error if error else ctypes.string_at(self.chdb.chdb_result_buffer(result),
                                                          self.chdb.chdb_result_length(result))
            self.chdb.chdb_destroy_query_result(result)
        return not error, answer

    def insert(self, sql, rows):
        """Runs `INSERT INTO … FORMAT RowBinary` with the rows in a file."""
        path = os.path.join(self.folder, 'rows')
        target = sql.removesuffix(' FORMAT RowBinary')
        with self.lock:  # requests may arrive at the same time
            with open(path, 'wb') as file:
                file.write(rows)
            return self.query(f"{target} FROM INFILE '{path}' FORMAT RowBinary\nFORMAT Null")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    engine = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get('query')
        good, answer = self.engine.insert(query[0], body) if query else self.engine.query(body.decode())
        self.send_response(200 if good else 500)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    library, folder = sys.argv[1:]
    Handler.engine = Engine(library, folder)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)  # skips the exit handlers of the library


main()
