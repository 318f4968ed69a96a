// SPDX-License-Identifier: GPL-2.0-or-later
// The code that the kernel itself maps into programs, `[vdso]`, which no file holds: one for each word size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

inline constexpr std::string_view kVdso = "[vdso]";

struct Vdso {
  std::string build_id;  // in hex
  std::string symbols;   // CodeObject::symbols
};

// Of its memory, which is its file. Empty texts where that is no such image.
Vdso vdso_of(Bytes image);

class Vdsos {
 public:
  // What is mapped there in the task's memory. Of a program of another word size than this one's it is read from there,
  // if the task lives, and known for all from then on.
  const Vdso& at(std::int32_t task, std::uint64_t start, std::uint64_t end);
  // That of 32-bit programs on a 64-bit kernel, as far as it is known.
  const Vdso& narrow() const { return narrow_; }
  // Of one of them, by its build-id.
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
