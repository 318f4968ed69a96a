// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the place of ZSTD_decompress() in a reader, as code of a hostile trace would, and tries to reach files. Each
// attempt is a line "NAME ERRNO" on standard error; 0: it succeeded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void tried(const char* name, long result) { fprintf(stderr, "attack %s %d\n", name, result < 0 ? errno : 0); }

static void attack(void) {
  const char* const victim = getenv("VICTIM");   // a file beside input and output
  const char* const folder = getenv("FOLDER");   // the folder of all three
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
  tried("socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tried("network", socket(AF_INET, SOCK_STREAM, 0));
  tried("ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
  tried("program", execl("/bin/true", "true", (char*)NULL));
  fputs("attack done 1\n", stderr);
}

size_t ZSTD_decompress(void* to, size_t room, const void* from, size_t bytes) {
  static int attacked;
  if (!attacked++) attack();
  size_t (*real)(void*, size_t, const void*, size_t) = dlsym(RTLD_NEXT, "ZSTD_decompress");
  return real(to, room, from, bytes);
}
