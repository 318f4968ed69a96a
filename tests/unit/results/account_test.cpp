// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/fleet/account.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "results/fleet/fleet.hpp"
#include "views/text/fleet.hpp"

namespace kmt {
namespace {

AccountOnKernel on_kernel(std::string kernel, std::uint64_t hosts, std::vector<std::string> growing) {
  AccountOnKernel one;
  one.kernel = std::move(kernel);
  one.hosts = one.files = hosts;
  one.growing_hosts = one.growing_files = growing.size();
  one.growing_host_names = std::move(growing);
  one.bytes_per_s = static_cast<double>(one.growing_hosts) * 100.0;
  return one;
}

// The host "a" had both kernels, and leaked on both.
TEST(FleetAccounts, AHostWithTwoKernelsCountsOnce) {
  FleetAccount account;
  account.hosts = 3;
  account.rows.push_back(
      {"slab_caches",
       "kmalloc-64",
       {on_kernel("6.9.1", 1, {}), on_kernel("6.12.0", 2, {"a"}), on_kernel("6.12.7", 2, {"a", "b"})}});
  const AccountRow& row = account.rows.front();
  EXPECT_EQ(row.growing_hosts(), 2u);
  EXPECT_EQ(row.growing_host_names(), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(row.since()->kernel, "6.12.0");
  EXPECT_EQ(row.before()->kernel, "6.9.1");
  const std::string text = text_fleet(account, FleetOptions(), TextStyle());
  const std::size_t begin = text.find("kmalloc-64");
  ASSERT_NE(begin, text.npos);
  std::vector<std::string> words;
  std::istringstream line(text.substr(begin, text.find('\n', begin) - begin));
  for (std::string word; line >> word;) words.push_back(word);
  // name, growth with its unit, growing hosts, hosts, since, not on, names
  EXPECT_EQ((std::vector<std::string>(words.end() - 6, words.end())),
            (std::vector<std::string>{"2", "3", "6.12.0", "6.9.1", "a", "b"}))
      << text;
}

}  // namespace
}  // namespace kmt
