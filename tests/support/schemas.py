# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks JSON documents of the program against the schemas in schemas/."""
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:  # this Python is not Debian's, but Debian's package works for it
    sys.path.append('/usr/lib/python3/dist-packages')
    import jsonschema

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'schemas')


def load(name):
    """Returns the schema in the file of this name, such as "report-1.json"."""
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        return json.load(file)


def file_of(schema):
    """Returns "report-1.json" for the schema "kmemtrace.report/1"."""
    return re.sub(r'^kmemtrace\.([a-z-]+)/(\d+)$', r'\1-\2.json', schema)


def validator(name, changed=None):
    """Returns a validator for the schema in a file. The dict `changed` has schemas that replace those of files."""
    schemas = {file: load(file) for file in sorted(os.listdir(FOLDER)) if file.endswith('.json')} | (changed or {})
    jsonschema.Draft202012Validator.check_schema(schemas[name])
    try:  # jsonschema 4.18 and later
        from referencing import Registry, Resource
    except ImportError:
        resolver = jsonschema.RefResolver(name, schemas[name], store=schemas)
        return jsonschema.Draft202012Validator(schemas[name], resolver=resolver)
    registry = Registry().with_resources((file, Resource.from_contents(schema)) for file, schema in schemas.items())
    return jsonschema.Draft202012Validator({'$ref': name}, registry=registry)


_validators = {}


def problems(document):
    """Returns up to 5 differences between a document and its schema, as texts. The document names its schema."""
    name = file_of(document['schema'])
    if name not in _validators:
        _validators[name] = validator(name)
    found = []
    for error in _validators[name].iter_errors(document):
        error = jsonschema.exceptions.best_match([error])  # the deepest cause of an error in "anyOf"
        found.append(f'/{"/".join(map(str, error.absolute_path))}: {error.message[:400]}')
        if len(found) == 5:
            break
    return found


def check(test, text):
    """Fails a test unless the JSON text matches the schema that it names. Returns the document."""
    document = json.loads(text)
    test.assertEqual([], problems(document), document['schema'])
    return document
