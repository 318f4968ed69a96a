// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/stat.hpp"

namespace kmt {

std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to) {
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
    to[i].events -= from[i].events;
    to[i].failed -= from[i].failed;
    to[i].requested -= from[i].requested;
    to[i].allocated -= from[i].allocated;
    to[i].missed -= from[i].missed;
  }
  return to;
}

}  // namespace kmt
