// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/collect_owners.hpp"

#include <chrono>
#include <utility>

#include "snapshot/owners/bpf_maps.hpp"
#include "snapshot/owners/files.hpp"
#include "snapshot/owners/lines.hpp"
#include "snapshot/owners/network.hpp"
#include "snapshot/owners/processes.hpp"

namespace kmt {

namespace {

constexpr std::chrono::seconds kOwnersTime(3);

OwnerLines lines_until_limit() {
  OwnerLines lines;
  lines.until = std::chrono::steady_clock::now() + kOwnersTime;
  return lines;
}

}  // namespace

CollectedOwners collect_owners() {
  OwnerLines lines = lines_until_limit();
  read_ftrace("", lines);
  read_dma_bufs("", lines);
  const HeldObjects held = read_processes(lines);
  read_bpf_maps(held, lines);
  read_network(held, lines);
  return {std::move(lines.text), std::move(lines.missing)};
}

CollectedOwners collect_owners_from(const std::string& folder) {
  OwnerLines lines = lines_until_limit();
  read_ftrace(folder, lines);
  read_dma_bufs(folder, lines);
  if (!lines.text.empty())
    lines.missing.push_back({"owners", "copies only have the buffers of ftrace and dma-buf",
                             "take a snapshot on the machine itself: kmemtrace snapshot -o FILE.kmt"});
  return {std::move(lines.text), std::move(lines.missing)};
}

}  // namespace kmt
