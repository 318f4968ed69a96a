// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/mapped_array.hpp"

#include <cerrno>

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/bpf/object.hpp"

namespace kmt {

MappedArray::MappedArray(int map, std::size_t bytes) : bytes_(bytes) {
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (memory_ != MAP_FAILED) return;
  memory_ = nullptr;
  throw_bpf_error("Cannot map a table", errno);
}

MappedArray::~MappedArray() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

void wait_for_running_programs() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) ::usleep(10000);
}

}  // namespace kmt
