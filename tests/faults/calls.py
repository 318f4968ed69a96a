# SPDX-License-Identifier: GPL-2.0-or-later
"""The system calls that the tests make fail. Each has errors that the call can return (section ERRORS of its manual
page)."""

WRITING = ('ENOSPC', 'EIO', 'EDQUOT', 'EINTR')
NAMES = ('EACCES', 'EIO', 'EDQUOT')
DESCRIPTORS = ('EMFILE', 'ENOMEM')

CALLS = {
    'openat': ('EACCES', 'ENOSPC', 'EMFILE', 'ENOMEM', 'EIO', 'EINTR'),
    'read': ('EIO', 'EINTR', 'EAGAIN'), 'pread64': ('EIO', 'EINTR'), 'readv': ('EIO',),
    'write': WRITING, 'pwrite64': WRITING, 'writev': WRITING, 'pwritev': WRITING, 'copy_file_range': WRITING,
    'sendfile': ('EIO', 'EAGAIN', 'ENOMEM'),
    'splice': ('EIO', 'EAGAIN', 'EINTR', 'ENOSPC', 'ENOMEM'), 'tee': ('ENOMEM',), 'vmsplice': ('ENOMEM',),
    'ftruncate': ('EIO', 'ENOSPC', 'EPERM', 'EINTR'), 'fallocate': ('ENOSPC', 'EPERM', 'EINTR'),
    'fsync': ('EIO', 'ENOSPC', 'EDQUOT'), 'fdatasync': ('EIO', 'ENOSPC'),
    'rename': NAMES, 'renameat': NAMES, 'renameat2': NAMES, 'link': ('EPERM', 'EDQUOT', 'EIO'), 'linkat': ('EPERM',),
    'symlink': NAMES, 'unlink': ('EACCES', 'EIO', 'EPERM'), 'unlinkat': ('EACCES', 'EIO'), 'rmdir': ('EACCES', 'EIO'),
    'mkdir': ('EACCES', 'ENOSPC', 'EDQUOT'), 'mkdirat': ('EACCES', 'ENOSPC'),
    'fchmod': ('EPERM', 'EIO'), 'fchown': ('EPERM', 'EIO'), 'fchmodat': ('EPERM',), 'fchownat': ('EPERM',),
    'fstat': ('EIO', 'ENOMEM'), 'newfstatat': ('EACCES', 'ENOMEM', 'EIO'), 'lstat': ('EACCES', 'EIO'),
    'stat': ('EACCES', 'EIO'), 'statx': ('EACCES', 'ENOMEM'), 'statfs': ('EIO',), 'getdents64': ('EIO', 'ENOMEM'),
    'readlink': ('EACCES', 'EIO'), 'access': ('EACCES', 'EIO'), 'lseek': ('EIO',), 'flock': ('EINTR', 'ENOMEM'),
    'mmap': ('ENOMEM', 'EAGAIN', 'EPERM'), 'mremap': ('ENOMEM',), 'mprotect': ('ENOMEM', 'EACCES'),
    'madvise': ('ENOMEM',), 'munmap': ('ENOMEM',), 'mlock': ('ENOMEM', 'EPERM'),
    'clone': ('EAGAIN', 'ENOMEM', 'EPERM'), 'clone3': ('EAGAIN', 'ENOMEM', 'EPERM', 'ENOSYS'), 'vfork': ('EAGAIN',),
    'execve': ('EACCES', 'ENOMEM', 'EIO'), 'wait4': ('EINTR',), 'waitid': ('EINTR',), 'kill': ('EPERM',),
    'poll': ('EINTR', 'ENOMEM', 'EAGAIN'), 'ppoll': ('EINTR', 'ENOMEM'), 'select': ('EINTR', 'ENOMEM'),
    'pselect6': ('EINTR', 'ENOMEM'), 'epoll_create1': DESCRIPTORS, 'epoll_ctl': ('ENOMEM', 'EPERM'),
    'epoll_wait': ('EINTR',), 'epoll_pwait': ('EINTR',), 'clock_nanosleep': ('EINTR',),
    'ioctl': ('EINTR', 'EIO', 'EPERM', 'ENOMEM'),
    'bpf': ('EPERM', 'ENOMEM', 'EAGAIN', 'EACCES', 'ENOSYS'),
    'perf_event_open': ('EMFILE', 'EACCES', 'EPERM', 'ENOMEM', 'ENOSYS'),
    'close_range': ('ENOSYS', 'ENOMEM', 'EMFILE'), 'landlock_create_ruleset': ('ENOSYS', 'ENOMEM', 'EMFILE'),
    'landlock_add_rule': ('ENOMEM', 'EPERM'), 'landlock_restrict_self': ('EPERM', 'ENOMEM'),
    'seccomp': ('EACCES', 'ENOMEM', 'ENOSYS'), 'prctl': ('EPERM', 'EINVAL'), 'capset': ('EPERM',), 'capget': ('EPERM',),
    'memfd_create': ('EMFILE', 'ENOMEM', 'ENOSYS', 'EACCES'),
    'pipe2': DESCRIPTORS, 'eventfd2': DESCRIPTORS, 'signalfd4': DESCRIPTORS, 'timerfd_create': DESCRIPTORS,
    'timerfd_settime': ('EINVAL',), 'socket': ('EMFILE', 'EACCES', 'ENOMEM'), 'socketpair': DESCRIPTORS,
    'sendto': ('EINTR', 'ENOMEM'), 'sendmsg': ('EINTR', 'ENOMEM'), 'recvfrom': ('EINTR', 'ENOMEM'),
    'recvmsg': ('EINTR', 'ENOMEM'), 'dup': ('EMFILE',), 'dup2': ('EMFILE', 'EINTR'), 'dup3': ('EMFILE', 'EINTR'),
    'fcntl': ('EMFILE', 'EACCES'), 'pidfd_open': ('EMFILE', 'ENOMEM', 'ENOSYS'),
    'sched_setaffinity': ('EPERM',), 'sched_getaffinity': ('EPERM',), 'sched_setscheduler': ('EPERM',),
    'sched_setattr': ('EPERM',), 'setpriority': ('EACCES',), 'prlimit64': ('EPERM',), 'mount': ('EPERM', 'ENOMEM'),
    'umount2': ('EBUSY',), 'setns': ('EPERM', 'ENOMEM'), 'unshare': ('EPERM', 'ENOMEM'), 'setsid': ('EPERM',),
    'rt_sigaction': ('EINVAL',), 'rt_sigprocmask': ('EINVAL',), 'getrandom': ('EINTR',), 'uname': ('EFAULT',),
    'fsetxattr': ('ENOSPC',), 'syncfs': ('EIO',), 'membarrier': ('EPERM',), 'sigaltstack': ('ENOMEM',),
}

# If one of these calls fails, the kernel keeps the file or folder that the program wanted to remove.
REMOVING = ('unlink', 'unlinkat', 'rmdir')
