// SPDX-License-Identifier: GPL-2.0-or-later
// This program leaks 100 pipes a second: it opens pipes and never closes them, until it has no more descriptors.
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  const struct rlimit limit = {20000, 20000};
  setrlimit(RLIMIT_NOFILE, &limit);
  int ends[2];
  while (pipe(ends) == 0) usleep(10000);
  pause();
}
