// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/fleet/account.hpp"

#include <algorithm>

namespace kmt {

namespace {

bool is_release_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the number at the start of the text and returns its digits without zeros before them.
std::string_view take_release_number(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_release_digit(text[size])) ++size;
  std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

bool is_older_release(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_release_digit(a.front()) && is_release_digit(b.front())) {
      const std::string_view left = take_release_number(a), right = take_release_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && !b.empty();
}

std::set<std::string> AccountRow::growing_host_names() const {
  std::set<std::string> names;
  for (const AccountOnKernel& one : kernels) names.insert(one.growing_host_names.begin(), one.growing_host_names.end());
  return names;
}

std::uint64_t AccountRow::growing_hosts() const { return growing_host_names().size(); }

double AccountRow::bytes_per_s() const {
  double most = 0;
  for (const AccountOnKernel& one : kernels) most = std::max(most, one.bytes_per_s);
  return most;
}

const AccountOnKernel* AccountRow::since() const {
  const AccountOnKernel* first = nullptr;
  for (std::size_t i = kernels.size(); i-- > 0 && kernels[i].growing_hosts > 0;) first = &kernels[i];
  return first;
}

const AccountOnKernel* AccountRow::before() const {
  const AccountOnKernel* const first = since();
  return first == nullptr || first == kernels.data() ? nullptr : first - 1;
}

}  // namespace kmt
