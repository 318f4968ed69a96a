# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies this Python into the virtual machine of tests/vm/run."""
import importlib.machinery
import importlib.util
import os
import re
import sys
import sysconfig

VM = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'vm', 'run')
# The Python library without its large and optional parts.
UNUSED = re.compile(r'/(test|idlelib|lib2to3|ensurepip|site-packages|dist-packages|tkinter|turtledemo|config-[^/]*)$')


def load_vm_run():
    """Returns tests/vm/run as a module."""
    loader = importlib.machinery.SourceFileLoader('vm_run', VM)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('vm_run', loader))
    loader.exec_module(module)
    return module


def add_python(archive, libraries):
    """Adds the interpreter that runs this program, and its library."""
    program, library = os.path.realpath(sys.executable), sysconfig.get_path('stdlib')
    extensions = os.path.join(library, 'lib-dynload')
    archive.add(program)
    archive.add(library, filter=lambda one: None if UNUSED.search('/' + one.name) else one)
    needed = set(libraries(program))
    for name in os.listdir(extensions):
        if name.startswith('_ctypes.'):
            needed.update(libraries(os.path.join(extensions, name)))
    for path in needed:
        archive.add(os.path.realpath(path), path)
