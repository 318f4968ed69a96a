// SPDX-License-Identifier: GPL-2.0-or-later
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "cli/support/errors.hpp"
#include "formats/ctf/library_call.hpp"

namespace kmt {
namespace {

TEST(Aborts, OnlyAbortsOfLibbabeltraceBecomeErrors) {
  const auto abort_in_library = [] {
    catch_aborts_of_libraries();
    const ctf::LibraryCall call;
    std::abort();
  };
  EXPECT_EXIT(abort_in_library(), testing::ExitedWithCode(2), "Damaged packets of a CTF trace");
  const auto abort_elsewhere = [] {
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    catch_aborts_of_libraries();
    { const ctf::LibraryCall call; }
    std::abort();
  };
  EXPECT_EXIT(abort_elsewhere(), testing::KilledBySignal(SIGABRT), "^$");
}

}  // namespace
}  // namespace kmt
