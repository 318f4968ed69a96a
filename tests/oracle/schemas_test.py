#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates the JSON of every command that reads files against the schemas in schemas/, and checks the schemas
themselves. tests/live/schemas_test.py validates the commands that need the running kernel, and fleet_test.py validates
`fleet`."""
import base64
import copy
import glob
import gzip
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import schemas  # noqa: E402
from kmemtrace import DATA, all_traces, data, run  # noqa: E402

DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'formats')
WHOLE, OLDER = data('amd64/trace.dat'), data('amd64-5.10/trace.dat')
STACKS, OTHER_STACKS = data('amd64-stacks/trace.dat'), data('s390x/trace.stack.dat')
GRAPHS = [data(f'graph/{name}.dat') for name in ('amd64', 'args.7.2', 's390x')]
SNAPSHOTS = [path for path in sorted(glob.glob(f'{DATA}/snapshot/*/*')) if os.path.isdir(path) and 'debugging' not in path]
LOGS = sorted(glob.glob(f'{DATA}/oom/*'))
KEYS = schemas.load('common-1.json')['$defs']['group_key']['enum']
KEYS_OF_FREES = {'lifetime', 'free-site', 'free-task', 'free-process', 'free-comm'}

# Keys that an object may lack.
OPTIONAL = {
    'common-1.json': {'object', 'source', 'born_ns', 'earlier_comms'},
    'report-1.json': {'call_sites', 'call_sites_total', 'percpu_call_sites', 'percpu_call_sites_total', 'window', 'matrices',
                      'slab', 'pages', 'percpu', 'vmalloc', 'keys', 'object', 'source'},
    'series-1.json': {'damage', 'notes', 'in_sheaves_bytes'},
    'top-1.json': {'uncounted_objects', 'uncounted_functions', 'uncounted_calls', 'uncounted_reason'},
    'graph-1.json': {'arguments', 'read_late', 'cut', 'unreadable', 'left_out', 'argument_texts', 'return_value', 'result',
                     'error', 'failed', 'result_text'},
    'list-1.json': {'tracefs', 'features', 'symbols', 'leftover_instances', 'persistent', 'events', 'clocks',
                    'limits'},
}
# Only the program itself, and the pages that it writes, read data with these schemas.
PRIVATE_SCHEMAS = {'kmemtrace.investigate-evidence/1', 'kmemtrace.investigate-objects/1',
                   'kmemtrace.series-overview/1'}


class Commands(unittest.TestCase):
    def check(self, *arguments):
        done = run(*arguments, seconds=300)
        with self.subTest(arguments):
            self.assertIn(done.returncode, (0, 1, 2, 4), done.stderr)
            self.assertNotEqual('', done.stdout, done.stderr)
            return schemas.check(self, done.stdout)

    def test_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            traces = all_traces(folder)
            self.assertGreater(len(traces), 25)
            for path in traces:
                for command in ('report', 'leaks', 'timeline', 'pages', 'simulate'):
                    self.check(command, path, '--json', '--limit' if command != 'timeline' else '--top', '5')
            self.check('check', *traces, LOGS[0], '/no/such/file', '--json')

    def test_keys(self):
        for key in KEYS:
            for path in (WHOLE, STACKS, OTHER_STACKS):
                self.check('report', path, '--by', key, '--json')
            self.check('diff', STACKS, OTHER_STACKS, '--by', key, '--json')
            if key not in KEYS_OF_FREES:
                self.check('leaks', STACKS, '--by', key, '--json')
                self.check('timeline', STACKS, '--by', key, '--json')

    def test_options(self):
        self.check('report', WHOLE, '--by', 'task,free-task', '--matrix', '--json')
        self.check('report', WHOLE, '--window', ',1', '--json')
        self.check('diff', WHOLE, OLDER, '--per', 'second', '--json')
        self.check('leaks', WHOLE, '--max-growth', '1k', '--json')
        self.check('simulate', STACKS, '--suggest', '2', '--json')
        for path in GRAPHS:
            self.check('graph', path, '--json')
            self.check('graph', path, '--args', '--ret', '--limit', '0', '--json')

    def test_snapshots(self):
        for path in SNAPSHOTS + LOGS:
            self.check('snapshot', path, '--json')
        for path in SNAPSHOTS:
            if path.endswith('after'):
                self.check('diff', path.replace('after', 'before'), path, '--json')
                with tempfile.TemporaryDirectory() as folder:
                    self.check('investigate', '--from', os.path.dirname(path), '-o', f'{folder}/page.html', '--json')

    def test_histogram(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'hist')
            with open(path, 'w', encoding='ascii') as file:
                file.write('# trigger info: hist:keys=call_site:vals=hitcount,hitcount.percent,hitcount.graph [active]\n'
                           '{ call_site: f } hitcount: 3  hitcount (%): 75.05  hitcount: ###  \n')
            self.assertEqual(1, self.check('report', path, '--json')['histograms'][0]['rows_total'])

    def test_pages(self):
        """The page of report --html contains the documents of other commands."""
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, 'page.html')
            for arguments in ([STACKS], [GRAPHS[1]], ['--diff', WHOLE, OLDER]):
                done = run('report', *arguments, '--html', page, seconds=300)
                self.assertEqual(0, done.returncode, done.stderr)
                with open(page, encoding='utf-8') as file:
                    packed = re.search(r'id="kmemtrace-data"[^>]*>([^<]+)<', file.read())[1]
                with self.subTest(arguments):
                    schemas.check(self, gzip.decompress(base64.b64decode(packed)))


def is_group_keys(place):
    """True for the keys of a group. Each is present only if --by names it, and the manual pages explain them."""
    return place.endswith('/keys')


def objects_in(schema, path=''):
    """Yields each object schema with fixed keys, and its place in the file."""
    if isinstance(schema, dict):
        if isinstance(schema.get('properties'), dict) and schema.get('type') == 'object':
            yield path, schema
        for key, value in schema.items():
            yield from objects_in(value, f'{path}/{key}')
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from objects_in(value, f'{path}/{index}')


class Schemas(unittest.TestCase):
    FILES = sorted(os.path.basename(path) for path in glob.glob(f'{schemas.FOLDER}/*.json'))

    def test_keys_are_fixed(self):
        """An unknown key is an error in every object, and a missing key too unless it is optional."""
        for name in self.FILES:
            for place, schema in objects_in(schemas.load(name)):
                with self.subTest(f'{name}#{place}'):
                    self.assertIs(False, schema['additionalProperties'])
                    if not is_group_keys(place):
                        missing = set(schema['properties']) - set(schema.get('required', ()))
                        self.assertLessEqual(missing, OPTIONAL.get(name, set()))

    def test_a_changed_document_fails(self):
        """A document without one of its keys, with a renamed key, or with a value of another type is invalid."""
        document = json.loads(run('report', STACKS, '--json', '--limit', '1').stdout)
        self.assertEqual([], schemas.problems(document))
        row = ('groups', 'slab', 'rows', 0)
        for place in ((), ('trace',), ('slab',), ('slab', 'lifetime'), row, (*row, 'keys', 'call-site'), ('findings', 0)):
            keys = document
            for step in place:
                keys = keys[step]
            for key in keys:
                for change in ('missing', 'renamed', 'other type'):
                    changed = copy.deepcopy(document)
                    at = changed
                    for step in place:
                        at = at[step]
                    value = at.pop(key)
                    if change == 'renamed':
                        at[key + 's'] = value
                    elif change == 'other type':
                        at[key] = -1.5 if not isinstance(value, (int, float)) else str(value)
                    if key in OPTIONAL['report-1.json'] | OPTIONAL['common-1.json'] and change == 'missing':
                        continue
                    if key != 'schema':
                        with self.subTest(place=place, key=key, change=change):
                            self.assertNotEqual([], schemas.problems(changed))

    def test_documents_name_their_schemas(self):
        """Each page in docs/formats links to the file of its schema, and explains each key of it."""
        pages = {}
        for path in glob.glob(f'{DOCUMENTS}/*-json.md'):
            with open(path, encoding='utf-8') as file:
                pages[os.path.basename(path)] = file.read()
        documented = set()
        for page, text in pages.items():
            # A page may refer to another page for the parts that both have.
            near = text + ''.join(other for name, other in pages.items() if f'({name}' in text or f'({page}' in other)
            for schema in set(re.findall(r'`(kmemtrace\.[a-z-]+/\d+)`', text)) - PRIVATE_SCHEMAS:
                file = schemas.file_of(schema)
                documented.add(file)
                with self.subTest(page, schema=schema):
                    self.assertTrue(f'(../../schemas/{file})' in text, 'the page does not link to the schema')
                    self.assertEqual(schema, self.schema_named_by(schemas.load(file)))
                    keys = {key for place, one in objects_in(schemas.load(file)) for key in one['properties']
                            if not is_group_keys(place)}
                    self.assertEqual([], sorted(key for key in keys if not re.search(f'[`"]{key}[`"]', near)
                                                and not (key.endswith('_total') and '…_total' in near)))
        self.assertEqual(set(self.FILES) - {'common-1.json'}, documented)

    @staticmethod
    def schema_named_by(schema):
        return json.loads(re.search(r'"const": ("kmemtrace\.[^"]+")', json.dumps(schema))[1])


if __name__ == '__main__':
    unittest.main()
