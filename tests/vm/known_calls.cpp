// SPDX-License-Identifier: GPL-2.0-or-later
// Makes system calls with unique arguments, and writes down the arguments and results. The calls are made by more tasks
// than there are CPUs, and the tasks move between CPUs all the time.
//   known_calls FILE TASKS ROUNDS
// Each line of FILE is a call: task ID, name, arguments and result, separated by tabs. The calls of a task are in
// order. The first task makes no calls itself and only waits.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr long kRoundsOnCpu = 16;
constexpr long kRoundsWithoutClone = 128;
constexpr long kRoundsWithoutUntouched = 32;
constexpr std::uint64_t kPage = 4096;

// Returns the raw result of the kernel.
template <typename... Arguments>
long call(long number, Arguments... arguments) {
  const long result = ::syscall(number, arguments...);
  return result == -1 ? -errno : result;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

class Task {
 public:
  explicit Task(long number) : number_(number), id_(static_cast<int>(::syscall(SYS_gettid))) {
    zero_ = open("/dev/zero", O_RDONLY);
    file_ = open("/tmp/known-" + std::to_string(number), O_RDWR | O_CREAT);
    if (zero_ < 0 || file_ < 0 || ::ftruncate(file_, kPage) != 0) std::abort();
  }

  void run(long rounds, long cpus) {
    for (long round = 0; round < rounds; ++round) {
      if (round % kRoundsOnCpu == 0) move_to(static_cast<unsigned>((number_ + round / kRoundsOnCpu) % cpus));
      const std::uint64_t unique = static_cast<std::uint64_t>(number_) << 32 | static_cast<std::uint64_t>(round);
      read_unknown(unique);
      read_zeros(round);
      seek(round % 5 == 0 ? -1 - static_cast<long>(unique) : static_cast<long>(unique));
      open_missing(unique);
      if (round % kRoundsWithoutUntouched == 0) open_untouched(unique);
      map(unique);
      if (round % kRoundsWithoutClone == 0) clone_task(round);
    }
  }

  // Appends the recorded calls to the file. Writing them is not recorded.
  void save(int to) const {
    std::size_t written = 0;
    while (written < lines_.size()) {
      const ssize_t bytes = ::write(to, lines_.data() + written, lines_.size() - written);
      if (bytes <= 0) std::abort();
      written += static_cast<std::size_t>(bytes);
    }
  }

 private:
  template <typename... Values>
  void note(const char* name, Values... values) {
    lines_ += std::to_string(id_) + '\t' + name;
    ((lines_ += '\t', add(values)), ...);
    lines_ += '\n';
  }
  void add(const std::string& text) { lines_ += text; }
  template <typename Number>
  void add(Number number) {
    lines_ += std::to_string(number);
  }

  int open(const std::string& path, int flags) {
    const long result = call(SYS_openat, AT_FDCWD, path.c_str(), flags, 0600);
    note("openat", AT_FDCWD, path, result);
    return static_cast<int>(result);
  }

  static void move_to(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }

  void read_unknown(std::uint64_t unique) {
    const unsigned descriptor = 1000 + static_cast<unsigned>(number_);
    auto* const buffer = reinterpret_cast<void*>(0x10000 + unique * 8);
    note("read", descriptor, address_of(buffer), unique, call(SYS_read, descriptor, buffer, unique));
  }

  void read_zeros(long round) {
    const auto bytes = static_cast<std::size_t>(1 + round % 64);
    char* const to = buffer_ + round % 1024;
    note("read", zero_, address_of(to), bytes, call(SYS_read, zero_, to, bytes));
  }

  void seek(long offset) { note("lseek", file_, offset, SEEK_SET, call(SYS_lseek, file_, offset, SEEK_SET)); }

  void open_missing(std::uint64_t unique) {
    std::string name = "missing-" + std::to_string(number_) + "-" + std::to_string(unique);
    if (unique % 64 == 0) name += "-" + std::string(300, 'x');  // longer than the longest string that is recorded
    const int folder = -1000 - static_cast<int>(unique % 1000);
    const bool is_absolute = unique % 2 == 0;
    if (is_absolute) name.insert(0, "/");
    const long result = call(SYS_openat, folder, name.c_str(), O_RDONLY, 0);
    note("openat", folder, name, result);
  }

  // Opens a name on a page that is not mapped until the kernel reads the name.
  void open_untouched(std::uint64_t unique) {
    const std::string name = "untouched-" + std::to_string(unique);
    if (::pwrite(file_, name.c_str(), name.size() + 1, 0) < 0) std::abort();
    auto* const page = static_cast<const char*>(::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, file_, 0));
    const long result = call(SYS_openat, AT_FDCWD, page, O_RDONLY, 0);
    note("openat", AT_FDCWD, name, result);
    ::munmap(const_cast<char*>(page), kPage);
  }

  void map(std::uint64_t unique) {
    const std::uint64_t bytes = (1 + unique % 1000) * kPage;
    const std::uint64_t hint = 0x100000000 + unique % 100000 * kPage;
    const long at = call(SYS_mmap, hint, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    note("mmap", hint, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0, at);
    if (at > 0) ::munmap(reinterpret_cast<void*>(at), bytes);
  }

  void clone_task(long round) {
    unsigned long flags = SIGCHLD;
    if (round / kRoundsWithoutClone % 2 != 0) flags |= CLONE_FS;
    if (round / kRoundsWithoutClone % 3 != 0) flags |= CLONE_FILES;
    const long child = call(SYS_clone, flags, 0, 0, 0, 0);
    if (child == 0) ::syscall(SYS_exit, 0);
    note("clone", flags & ~0xfful, child);
    if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  }

  long number_;
  int id_;
  int zero_ = -1;
  int file_ = -1;
  std::string lines_;
  char buffer_[2048] = {};
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int to = ::open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  const long tasks = std::atol(arguments[2]);
  const long rounds = std::atol(arguments[3]);
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (to < 0 || tasks < 1 || cpus < 1) return 1;
  for (long number = 0; number < tasks; ++number) {
    if (::fork() != 0) continue;
    Task task(number);
    task.run(rounds, cpus);
    task.save(to);
    ::_exit(0);
  }
  int status = 0;
  bool good = true;
  while (::wait(&status) > 0) good = good && status == 0;
  return good ? 0 : 1;
}
