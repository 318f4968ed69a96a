// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the files of the C interface: converts exceptions to errors, and strings to C strings.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <kmemtrace/kmemtrace.h>

#include "library/convert.hpp"

struct kmt_error {
  std::string message;
  std::string file;
  std::optional<std::uint64_t> offset;
  std::string hint;
};

namespace kmemtrace {

// Stores the error that `make` returns at `error`, unless that is null. Stores null if there is no memory for an error.
template <typename Make>
void store(kmt_error** error, Make&& make) noexcept {
  if (error == nullptr) return;
  try {
    *error = new kmt_error(make());
  } catch (...) {
    *error = nullptr;
  }
}
// Returns a copy that kmt_free() frees. Throws std::bad_alloc.
char* copy_of(std::string_view text);

// Returns the result of `work`. If it throws, stores the error and returns `failed`. No exception leaves the C
// interface.
template <typename Result, typename Work>
Result without_exceptions(kmt_error** error, Result failed, Work&& work) noexcept {
  try {
    return guarded(work);
  } catch (const Error& problem) {
    store(error, [&] { return kmt_error{problem.what(), problem.file(), problem.offset(), problem.hint()}; });
  } catch (const std::bad_alloc&) {
    if (error != nullptr) *error = nullptr;
  } catch (const std::exception& problem) {
    store(error, [&] { return kmt_error{problem.what(), {}, {}, {}}; });
  } catch (...) {
    store(error, [] { return kmt_error{"Unknown error", {}, {}, {}}; });
  }
  return failed;
}

}  // namespace kmemtrace
