// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the vDSO, which is code that the kernel maps into programs without a file. There is one for each word size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

inline constexpr std::string_view kVdso = "[vdso]";

struct Vdso {
  std::string build_id;  // in hex
  std::string symbols;   // the symbols in the format of CodeObject::symbols
};

// Parses the image in memory, which is a whole ELF file. The members are empty if the image is not an ELF file.
Vdso vdso_of(Bytes image);

class Vdsos {
 public:
  // Returns the vDSO at this address of the task's memory. For a program of another word size, the vDSO is read from
  // the task's memory if the task still lives, and then kept for all tasks.
  const Vdso& at(std::int32_t task, std::uint64_t start, std::uint64_t end);
  // Returns the vDSO of 32-bit programs on a 64-bit kernel, if known.
  const Vdso& narrow() const { return narrow_; }
  // Returns the symbols of the vDSO that has this build ID.
  const std::string& symbols_of(const std::string& build_id) const {
    return (build_id == own_.build_id ? own_ : build_id == narrow_.build_id ? narrow_ : none_).symbols;
  }

 private:
  Vdso own_;
  bool has_own_ = false;
  Vdso narrow_;
  Vdso none_;
};

}  // namespace kmt
