// SPDX-License-Identifier: GPL-2.0-or-later
// Leaves memory in states that `investigate` must recognise.
//   planted_memory cgroups FOLDER FILES COUNT   makes and removes COUNT cgroups below the cgroup FOLDER. Each holds a
//                                               page of a file in the folder FILES of a tmpfs
//   planted_memory pollute MOVABLE UNMOVABLE    fills MOVABLE MiB, which should be nearly all, with anonymous memory,
//                                               and UNMOVABLE MiB with data in pipes. Then replaces 64 KiB of each
//                                               MiB of anonymous memory by data in pipes, and frees some of the rest.
//                                               Prints "ready", and keeps the memory until it is killed
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kPiece = 64 << 10;

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
  const std::string page(4096, 'x');
  for (long i = 0; i < count; ++i) {
    const std::string cgroup = folder + "/" + std::to_string(i);
    checked(::mkdir(cgroup.c_str(), 0700), cgroup.c_str());
    write_text(cgroup + "/cgroup.procs", "0");  // this process
    write_text(files + "/" + std::to_string(i), page, O_CREAT);
    write_text(folder + "/../cgroup.procs", "0");
    checked(::rmdir(cgroup.c_str()), cgroup.c_str());
  }
}

// Data in pipes, in pages that the kernel cannot move.
class Pipes {
 public:
  void add(std::size_t bytes) {
    for (std::size_t left = bytes; left > 0; left -= kPiece) {
      if (room_ == 0) open_pipe();
      checked(::write(end_, data_.data(), kPiece), "write");
      room_ -= kPiece;
    }
  }

 private:
  void open_pipe() {
    int ends[2];
    checked(::pipe(ends), "pipe");
    checked(::fcntl(ends[1], F_SETPIPE_SZ, kMiB), "F_SETPIPE_SZ");
    end_ = ends[1];
    room_ = kMiB;
  }
  int end_ = -1;
  std::size_t room_ = 0;
  std::vector<char> data_ = std::vector<char>(kPiece, 'x');
};

void pollute(std::size_t movable, std::size_t unmovable) {
  void* const memory = ::mmap(nullptr, movable, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap");
  ::madvise(memory, movable, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<char*>(memory);
  std::memset(bytes, 1, movable);
  Pipes pipes;
  pipes.add(unmovable);
  for (std::size_t at = 0; at < movable; at += kMiB) {
    ::madvise(bytes + at, kPiece, MADV_DONTNEED);
    pipes.add(kPiece);
  }
  ::madvise(bytes, movable / 5, MADV_DONTNEED);  // room for other programs
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::strcmp(arguments[1], "cgroups") == 0)
    leave_cgroups(arguments[2], arguments[3], std::atol(arguments[4]));
  else if (count == 4 && std::strcmp(arguments[1], "pollute") == 0)
    pollute(std::strtoul(arguments[2], nullptr, 10) * kMiB, std::strtoul(arguments[3], nullptr, 10) * kMiB);
  else
    return 2;
}
