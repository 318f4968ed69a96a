// SPDX-License-Identifier: GPL-2.0-or-later
// Maps a BPF map into this process.
#pragma once

#include <cstddef>
#include <utility>

namespace kmt {

class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(int map, std::size_t bytes);  // throws Error
  MappedArray(MappedArray&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedArray();

  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Waits until every running BPF program has ended. Programs run under rcu_read_lock(), so this is like
// synchronize_rcu(). With nohz_full CPUs, the kernel refuses the system call that waits. In that case, sleeps for 10
// ms, after which the programs have most likely ended.
void wait_for_running_programs();

}  // namespace kmt
