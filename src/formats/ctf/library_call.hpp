// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace kmt::ctf {

// Marks that this thread runs code of libbabeltrace2, which aborts the program if it finds a packet that it considers
// impossible (BT_ASSERT). If runs() is true during an abort, the library has caused it.
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
