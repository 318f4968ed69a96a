// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces ZSTD_decompress() in a reader, acts like code injected by a hostile trace, and tries to access files. Prints
// a line "NAME ERRNO" to standard error for each attempt; ERRNO is 0 if the attempt succeeded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void tried(const char* name, long result) { fprintf(stderr, "attack %s %d\n", name, result < 0 ? errno : 0); }

// Sends requests to the process outside the sandbox, on each descriptor that is a socket.
static void ask_outside(const char* victim) {
  char name[64], request[4200], reply[256];
  char control[CMSG_SPACE(sizeof(int))];
  for (int fd = 3; fd < 256; fd++) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) continue;
    const char* const paths[] = {victim, "/etc/shadow", "/dev/null", "/proc/self/environ", "/etc"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
      struct iovec part = {reply, sizeof reply};
      struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
      const int bytes = 2 + snprintf(request + 2, sizeof request - 2, "%s", paths[i]);
      memcpy(request, "o", 2);
      send(fd, request, bytes, 0);
      recvmsg(fd, &message, 0);
      errno = ENOENT;
      snprintf(name, sizeof name, "ask_to_open_%u", i);
      tried(name, message.msg_controllen == 0 ? -1 : 0);
    }
    const char* const wrong[] = {"n99", "r99", "n-1", "k0", "x", "n18446744073709551615"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      int error = 0;
      send(fd, wrong[i], strlen(wrong[i]), 0);
      recv(fd, &error, sizeof error, 0);
      errno = error;
      snprintf(name, sizeof name, "ask_for_nonsense_%u", i);
      tried(name, error != 0 ? -1 : 0);
    }
  }
}

static void attack(void) {
  const char* const victim = getenv("VICTIM");   // a file in the folder of the input and output
  const char* const folder = getenv("FOLDER");   // the folder of VICTIM, the input and the output
  char new_name[4096], temporary[4096];
  snprintf(new_name, sizeof new_name, "%s/new", folder);
  snprintf(temporary, sizeof temporary, "%s/kmemtrace-attack", getenv("TMPDIR"));
  tried("read_secret", open("/etc/shadow", O_RDONLY));
  tried("read", open(victim, O_RDONLY));
  tried("list", open(folder, O_RDONLY | O_DIRECTORY));
  tried("write", open(victim, O_WRONLY));
  tried("create", open(new_name, O_CREAT | O_WRONLY, 0600));
  tried("create_temporary", open(temporary, O_CREAT | O_WRONLY, 0600));
  tried("create_unnamed", open(folder, O_TMPFILE | O_RDWR, 0600));
  tried("unlink", unlink(victim));
  tried("rename", rename(victim, new_name));
  tried("link", link(victim, new_name));
  tried("symlink", symlink(victim, new_name));
  tried("mkdir", mkdir(new_name, 0700));
  tried("truncate", truncate(victim, 0));
  tried("chmod", chmod(victim, 0777));
  tried("chown", chown(victim, 1, 1));
  tried("setxattr", setxattr(victim, "user.x", "", 0, 0));
  tried("touch", utimensat(AT_FDCWD, victim, NULL, 0));
  tried("memory", open("/proc/self/mem", O_WRONLY));
  tried("environment", open("/proc/1/environ", O_RDONLY));
  tried("device", open("/dev/mem", O_RDONLY));
  tried("tracefs", open("/sys/kernel/tracing/README", O_RDONLY));
  tried("socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tried("network", socket(AF_INET, SOCK_STREAM, 0));
  tried("ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
  tried("program", execl("/bin/true", "true", (char*)NULL));
  tried("program_in_memory", fexecve(memfd_create("program", 0), (char* const[]){"true", NULL}, environ));
  tried("empty_what_is_read", open("trace.kmt", O_RDONLY | O_TRUNC));
  tried("terminal", ioctl(0, TIOCSTI, "x"));
  tried("signal", kill(getppid(), 0));
  tried("namespace", unshare(CLONE_NEWUSER));
  ask_outside(victim);
  fputs("attack done 1\n", stderr);
}

size_t ZSTD_decompress(void* to, size_t room, const void* from, size_t bytes) {
  static int attacked;
  if (!attacked++) attack();
  size_t (*real)(void*, size_t, const void*, size_t) = dlsym(RTLD_NEXT, "ZSTD_decompress");
  return real(to, room, from, bytes);
}
