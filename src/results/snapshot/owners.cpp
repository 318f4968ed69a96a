// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/owners.hpp"

#include <array>

namespace kmt {

namespace {

constexpr std::array<OwnerText, kOwnerKinds> kOwnerTexts = {{
    {"page_pool", "page pool"},
    {"ftrace", "ftrace buffers"},
    {"perf", "perf buffers"},
    {"packet_ring", "packet rings"},
    {"xdp", "AF_XDP"},
    {"io_uring", "io_uring"},
    {"pipe", "pipes"},
    {"socket", "sockets"},
    {"bpf_map", "BPF map"},
    {"dma_buf", "dma-buf"},
    {"gpu", "GPU buffers"},
}};
constexpr std::array<OwnerText, 3> kExactnessTexts = {
    {{"exact", "exact"}, {"estimate", "estimate"}, {"upper_bound", "at most"}}};
constexpr std::array<OwnerText, 5> kPlaceTexts = {{
    {"unaccounted", "unaccounted"},
    {"partly_unaccounted", "partly unaccounted"},
    {"counted_kernel", "slab, vmalloc, percpu"},
    {"user", "user"},
    {"device", "device memory"},
}};

}  // namespace

const OwnerText& describe(OwnerKind kind) { return kOwnerTexts[static_cast<std::size_t>(kind)]; }
const OwnerText& describe(OwnerExactness exactness) { return kExactnessTexts[static_cast<std::size_t>(exactness)]; }
const OwnerText& describe(OwnerPlace place) { return kPlaceTexts[static_cast<std::size_t>(place)]; }

std::string full_name(const MemoryOwner& owner) { return std::string(describe(owner.kind).label) + ": " + owner.name; }

}  // namespace kmt
