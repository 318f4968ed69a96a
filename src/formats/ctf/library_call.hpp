// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace kmt::ctf {

// While this object exists, libbabeltrace2 reads in this thread. The library aborts the program on packets that it
// considers impossible (BT_ASSERT).
class LibraryCall {
 public:
  LibraryCall() { runs_ = true; }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  ~LibraryCall() { runs_ = false; }

  static bool runs() { return runs_; }

 private:
  static inline thread_local bool runs_ = false;
};

}  // namespace kmt::ctf
