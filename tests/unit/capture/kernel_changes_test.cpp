// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which data of the kernel is read during a recording, and when.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "capture/sideband/kernel_changes.hpp"

namespace kmt {
namespace {

using namespace std::chrono_literals;

bool reads_symbols() {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::filesystem::read_symlink(entry.path(), gone) == "/proc/kallsyms") return true;
  return false;
}

TEST(KernelChanges, ReadSymbolsInAdvanceAfterAQuietSecond) {
  std::string kallsyms;
  for (int line = 0; line < 1000; ++line) kallsyms += "0000000000000000 T kernel\n";
  KernelChanges changes([] { return std::uint64_t{0}; }, kallsyms + "0000000000000000 t module\t[module]\n");
  changes.wait(10ms);
  EXPECT_FALSE(reads_symbols());
  changes.wait(1100ms);
  changes.wait(10ms);
  EXPECT_TRUE(reads_symbols());
}

}  // namespace
}  // namespace kmt
