# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds kernel modules for the virtual machines, with Debian's packages of headers."""
import glob
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
# Packages of these releases have host programs for a newer C library than that of Debian 12.
NEWER = {'trixie-backports': 'trixie'}
LIBRARIES = ('libc6', 'libelf1t64', 'zlib1g', 'libzstd1')
# The host programs, and the names under which they run. They derive the architecture from this name.
PROGRAMS = {'scripts/mod/modpost': 'modpost.real-lsb-64', 'tools/objtool/objtool': 'objtool.real-x86'}


def load_run():
    loader = importlib.machinery.SourceFileLoader('vm_run', f'{HERE}/run')
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('vm_run', loader))
    loader.exec_module(module)
    return module


def kernel_release(kernel):
    """Returns the release of the cached or offered kernel, for example 6.12.117+deb12-cloud-amd64."""
    run = load_run()
    suite = run.SUITES.get(kernel)
    image = run.Packages('amd64', suite).get(
        re.compile(rf'linux-image-{re.escape(kernel)}\.[\w.+]*(-\d+)?-cloud-amd64'))
    return os.path.basename(image).replace('linux-image-', '')


def use_newer_libraries(run, suite, tree, kbuild):
    """Lets the host programs run with the C library of their own release."""
    libraries = os.path.join(tree, 'libraries')
    for name in LIBRARIES:
        shutil.copytree(run.Packages('amd64', suite).get(re.compile(re.escape(name))), libraries, symlinks=True,
                        dirs_exist_ok=True)
    [loader] = glob.glob(f'{libraries}/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2')
    for program, real in PROGRAMS.items():
        path = os.path.join(kbuild, program)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/sh\nexec {loader} --library-path {os.path.dirname(loader)} '
                       f'{os.path.join(os.path.dirname(path), real)} "$@"\n')


def build_module(kernel, source, tree):
    """Builds the module from one source file. `tree` is a folder for temporary files. Returns the path of the
    module. Raises run.Skip if packages are missing."""
    run = load_run()
    release = kernel_release(kernel)
    version = release.replace('-cloud-amd64', '')
    suite = run.SUITES.get(kernel)
    packages = run.Packages('amd64', suite)
    kbuild_of = {'6.1': '6.1', '5.10': '5.10'}.get(kernel, version)
    for name in (f'linux-headers-{release}', f'linux-headers-{version}-common', f'linux-kbuild-{kbuild_of}'):
        shutil.copytree(packages.get(re.compile(re.escape(name))), tree, symlinks=True, dirs_exist_ok=True)
    if suite in NEWER:
        use_newer_libraries(run, NEWER[suite], tree, f'{tree}/usr/lib/linux-kbuild-{kbuild_of}')
    headers = f'{tree}/usr/src/linux-headers-{release}'
    with open(f'{headers}/Makefile', encoding='utf-8') as file:
        text = file.read().replace('/usr/src', f'{tree}/usr/src')
    with open(f'{headers}/Makefile', 'w', encoding='utf-8') as file:
        file.write(text)
    name = os.path.splitext(os.path.basename(source))[0]
    folder = f'{tree}/module'
    os.makedirs(folder)
    shutil.copy(source, folder)
    with open(f'{folder}/Kbuild', 'w', encoding='utf-8') as file:
        file.write(f'obj-m := {name}.o\n')
    # The compiler is that of Debian 12, which lacks an option of newer ones. pahole may not be installed.
    subprocess.run(['make', '-s', '-C', headers, f'M={folder}', 'CC=gcc', 'CONFIG_DEBUG_INFO_BTF_MODULES=',
                    'CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=', 'modules'], check=True, stdout=subprocess.DEVNULL)
    return f'{folder}/{name}.ko'
