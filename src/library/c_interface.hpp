// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the files of the C interface: converts exceptions to errors, and strings to C strings.
#pragma once

#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include <kmemtrace/kmemtrace.h>

#include "library/convert.hpp"

struct kmt_error {
  std::string message;
  std::string file;
  std::optional<std::uint64_t> offset;
  std::string hint;
};

namespace kmemtrace {

// Stores an error at `error`, unless that is null.
void store(kmt_error** error, kmt_error&& problem) noexcept;
// Returns a copy that kmt_free() frees. Throws std::bad_alloc.
char* copy_of(std::string_view text);

// Returns the result of `work`. If it throws, stores the error and returns `failed`. No exception leaves the C
// interface.
template <typename Result, typename Work>
Result without_exceptions(kmt_error** error, Result failed, Work&& work) noexcept {
  try {
    return guarded(work);
  } catch (const Error& problem) {
    store(error, {problem.what(), problem.file(), problem.offset(), problem.hint()});
  } catch (const std::exception& problem) {
    store(error, {problem.what(), {}, {}, {}});
  }
  return failed;
}

}  // namespace kmemtrace
