// SPDX-License-Identifier: GPL-2.0-or-later
// Leaves memory in states that `investigate` and `snapshot` must recognise.
//   planted_memory cgroups FOLDER FILES COUNT   makes and removes COUNT cgroups below the cgroup FOLDER. Each holds a
//                                               page of a file in the folder FILES of a tmpfs, and a socket. Prints
//                                               "ready", and keeps the sockets until it is killed. Since about Linux
//                                               7.0, files alone do not keep cgroups
//   planted_memory pollute LEFT                 fills the memory with anonymous memory and page tables, until LEFT MiB
//                                               are free. Then replaces 1/8 of the anonymous memory by page tables,
//                                               some in each pageblock, and frees 1/3 of the rest. Prints "ready", and
//                                               keeps the memory until it is killed
//   planted_memory eventfds RATE [COUNT]        opens RATE eventfds each second, and keeps them open until it is
//                                               killed, or until COUNT are open. Prints "planted N" after each second
//   planted_memory xdp                          binds an AF_XDP socket to the device lo, with 16 MiB for packets and
//                                               rings of 65536, 4096, 2048 and 1024 entries (rx, tx, fill,
//                                               completion). Prints "ready", and keeps the socket until it is killed
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kPage = 4096;

long checked(long result, const char* action) {
  if (result >= 0) return result;
  std::perror(action);
  std::exit(1);
}

void write_text(const std::string& path, const std::string& text, int flags = 0) {
  const auto file = static_cast<int>(checked(::open(path.c_str(), O_WRONLY | flags, 0600), path.c_str()));
  checked(::write(file, text.data(), text.size()), path.c_str());
  ::close(file);
}

void leave_cgroups(const std::string& folder, const std::string& files, long count) {
  const auto files_open = static_cast<rlim_t>(count) + 100;
  const rlimit limit{files_open, files_open};
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  const std::string page(4096, 'x');
  for (long i = 0; i < count; ++i) {
    const std::string cgroup = folder + "/" + std::to_string(i);
    checked(::mkdir(cgroup.c_str(), 0700), cgroup.c_str());
    write_text(cgroup + "/cgroup.procs", "0");  // this process
    write_text(files + "/" + std::to_string(i), page, O_CREAT);
    checked(::socket(AF_INET, SOCK_DGRAM, 0), "socket");
    write_text(folder + "/../cgroup.procs", "0");
    checked(::rmdir(cgroup.c_str()), cgroup.c_str());
  }
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}

std::size_t free_memory() {
  std::FILE* const file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) checked(-1, "/proc/meminfo");
  std::size_t kib = 0;
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "MemFree: %zu", &kib) != 1) {
  }
  std::fclose(file);
  return kib << 10;
}

char* reserve(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap");
  checked(::madvise(memory, bytes, MADV_NOHUGEPAGE), "MADV_NOHUGEPAGE");
  return static_cast<char*>(memory);
}

// Page tables, which the kernel cannot move. A read of unused memory needs a table for the shared page of zeros, but no
// other page.
class PageTables {
 public:
  explicit PageTables(std::size_t most) : end_(reserve(most * kReach)) {}
  void add(std::size_t count) {
    for (; count > 0; --count, end_ += kReach) *static_cast<volatile char*>(end_);
  }

 private:
  static constexpr std::size_t kReach = 2 * kMiB;  // memory of one page table
  char* end_;
};

// While whole pageblocks are free, the kernel gives them to page tables. Only if no whole pageblock is free does it put
// page tables into blocks of movable pages.
void pollute(std::size_t left) {
  constexpr std::size_t kStretch = 256 << 10;
  constexpr std::size_t kRounds = 4;  // each round reaches blocks that the others missed
  // More than is free now, because the kernel also frees memory meanwhile.
  const std::size_t most = 2 * (free_memory() / kStretch) * kStretch;
  char* const memory = reserve(most);
  PageTables tables(most / kPage);
  std::size_t movable = 0;
  for (; free_memory() > left + 4 * kMiB && movable < most; movable += kStretch)
    std::memset(memory + movable, 1, kStretch);
  while (free_memory() > left) tables.add(64);
  for (std::size_t round = 0; round < kRounds; ++round)
    for (std::size_t at = round * kStretch / kRounds; at < movable; at += kStretch) {
      ::madvise(memory + at, 2 * kPage, MADV_DONTNEED);
      tables.add(2);
    }
  // Makes room for other programs, but leaves movable pages in each pageblock.
  for (std::size_t at = 0; at < movable; at += 3 * kPage) ::madvise(memory + at, kPage, MADV_DONTNEED);
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}

void open_eventfds(unsigned rate, unsigned long most) {
  for (unsigned long opened = 0; opened < most;) {
    checked(::eventfd(0, 0), "eventfd");
    ++opened;
    ::usleep(1'000'000 / rate);
    if (opened % rate == 0) std::printf("planted %lu\n", opened);
    std::fflush(stdout);
  }
}

void bind_xdp() {
  const auto socket = static_cast<int>(checked(::socket(AF_XDP, SOCK_RAW, 0), "socket"));
  const auto set = [socket](int option, const auto& value) {
    checked(::setsockopt(socket, SOL_XDP, option, &value, sizeof value), "setsockopt");
  };
  xdp_umem_reg umem{};
  umem.len = 16 * kMiB;
  umem.addr = reinterpret_cast<std::uintptr_t>(reserve(umem.len));
  umem.chunk_size = kPage;
  set(XDP_UMEM_REG, umem);
  set(XDP_RX_RING, 65536);
  set(XDP_TX_RING, 4096);
  set(XDP_UMEM_FILL_RING, 2048);
  set(XDP_UMEM_COMPLETION_RING, 1024);
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = ::if_nametoindex("lo");
  checked(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::strcmp(arguments[1], "cgroups") == 0)
    leave_cgroups(arguments[2], arguments[3], std::atol(arguments[4]));
  else if (count == 3 && std::strcmp(arguments[1], "pollute") == 0)
    pollute(std::strtoul(arguments[2], nullptr, 10) * kMiB);
  else if ((count == 3 || count == 4) && std::strcmp(arguments[1], "eventfds") == 0)
    open_eventfds(static_cast<unsigned>(std::atoi(arguments[2])),
                  count == 4 ? std::strtoul(arguments[3], nullptr, 10) : ~0ul);
  else if (count == 2 && std::strcmp(arguments[1], "xdp") == 0)
    bind_xdp();
  else
    return 2;
}
