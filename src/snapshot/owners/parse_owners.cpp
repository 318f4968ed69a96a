// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the text "owners" of a snapshot. Computes bytes from the facts that the kernel showed.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

// Larger amounts are from a damaged text. The sum of all lines of a text does not overflow.
constexpr std::uint64_t kMostOwnedBytes = std::uint64_t{1} << 42;

// The facts of a line.
class Facts {
 public:
  explicit Facts(std::string_view line) {
    for (const std::string_view fact : split(line, '\t'))
      if (const std::size_t at = fact.find('='); at != std::string_view::npos)
        facts_.emplace(fact.substr(0, at), fact.substr(at + 1));
  }
  std::string_view text(std::string_view name) const {
    const auto found = facts_.find(name);
    return found == facts_.end() ? std::string_view() : found->second;
  }
  std::optional<std::uint64_t> number(std::string_view name) const { return whole_number(text(name), kMostOwnedBytes); }
  std::uint64_t number_or_0(std::string_view name) const { return number(name).value_or(0); }
  std::string process() const {
    const auto pid = number("pid");
    return pid ? fmt::format("{} (pid {})", text("process"), *pid) : "unknown process";
  }

 private:
  std::map<std::string_view, std::string_view> facts_;
};

using Owner = std::optional<MemoryOwner>;

std::uint64_t in_pages(std::uint64_t bytes, std::uint64_t page_size) {
  return (bytes + page_size - 1) / page_size * page_size;
}

// Returns the size of a block of pages, which is a power of two.
std::uint64_t in_order(std::uint64_t bytes, std::uint64_t page_size) {
  std::uint64_t size = page_size;
  while (size < bytes) size *= 2;
  return size;
}

Owner page_pool(const Facts& facts, std::uint64_t) {
  const auto bytes = facts.number("inflight_mem");
  if (!bytes) return std::nullopt;
  std::string name = fmt::format("{} (pool {}", facts.text("interface"), facts.text("id"));
  if (facts.number_or_0("napi") != 0) name += fmt::format(", NAPI {}", facts.text("napi"));
  if (facts.number_or_0("detached") != 0) name += ", detached";
  const bool is_of_others = facts.number_or_0("of_others") != 0;  // memory of a dma-buf or a process
  return MemoryOwner{OwnerKind::page_pool,
                     name + ")",
                     *bytes,
                     1,
                     OwnerExactness::exact,
                     is_of_others ? OwnerPlace::device : OwnerPlace::unaccounted};
}

// Returns the pages of a ring buffer. The kernel shows the size without the header of each sub-buffer. Each CPU has one
// sub-buffer more for the reader.
Owner ftrace(const Facts& facts, std::uint64_t page_size) {
  constexpr std::uint64_t kHeader = 16;
  const std::uint64_t sub_buffer = std::max(in_pages(facts.number_or_0("subbuf_kb") << 10, page_size), page_size);
  std::uint64_t bytes = 0;
  for (const std::string_view size : split(facts.text("size_kb"), ',')) {
    const auto kilobytes = whole_number(size, kMostOwnedBytes >> 10);
    if (!kilobytes || bytes > kMostOwnedBytes) return std::nullopt;
    const std::uint64_t payload = sub_buffer - kHeader;
    bytes += (((*kilobytes << 10) + payload - 1) / payload + 1) * sub_buffer;
  }
  const std::string_view instance = facts.text("instance");
  return MemoryOwner{OwnerKind::ftrace, instance.empty() ? "top instance" : fmt::format("instance {}", instance),
                     bytes};
}

Owner perf(const Facts& facts, std::uint64_t) {
  const auto bytes = facts.number("mapped");
  if (!bytes) return std::nullopt;
  return MemoryOwner{OwnerKind::perf, facts.process(), *bytes, 1, OwnerExactness::estimate};
}

Owner packet_ring(const Facts& facts, std::uint64_t page_size) {
  const auto size = facts.number("block_size"), blocks = facts.number("blocks");
  if (!size || !blocks || *blocks == 0 || *size > kMostOwnedBytes / *blocks / 2) return std::nullopt;
  return MemoryOwner{OwnerKind::packet_ring, fmt::format("{} on {}", facts.process(), facts.text("interface")),
                     in_order(*size, page_size) * *blocks};
}

// Returns the rings of an AF_XDP socket. A ring is a header and its entries: packet descriptors, or addresses of
// packets. Linux 6.3 and later allocate rings with vmalloc, and older kernels as blocks of pages.
Owner xdp_rings(const Facts& facts, std::uint64_t page_size, const std::vector<VmallocCaller>& vmalloc) {
  constexpr std::uint64_t kHeader = 320, kDescriptor = 16, kAddress = 8;
  constexpr std::pair<std::string_view, std::uint64_t> kRings[] = {
      {"rx", kDescriptor}, {"tx", kDescriptor}, {"fill", kAddress}, {"completion", kAddress}};
  const bool is_unknown = vmalloc.empty();  // the list of vmalloc areas is missing
  // vmallocinfo shows xskq_create(), or in some kernels its caller, such as xsk_setsockopt()
  const bool is_vmalloc = std::ranges::any_of(
      vmalloc, [](const VmallocCaller& caller) { return caller.function.starts_with("xsk") && caller.pages > 0; });
  MemoryOwner owner{OwnerKind::xdp, fmt::format("{} on {}", facts.process(), facts.text("interface"))};
  owner.exactness = is_unknown ? OwnerExactness::upper_bound : OwnerExactness::exact;
  owner.place = is_unknown   ? OwnerPlace::partly_unaccounted
                : is_vmalloc ? OwnerPlace::counted_kernel
                             : OwnerPlace::unaccounted;
  for (const auto& [name, entry_bytes] : kRings) {
    const auto entries = facts.number(name);
    if (!entries || *entries > kMostOwnedBytes / kDescriptor) return std::nullopt;
    const std::uint64_t bytes = kHeader + *entries * entry_bytes;
    if (*entries != 0) owner.bytes += is_vmalloc ? in_pages(bytes, page_size) : in_order(bytes, page_size);
  }
  return owner;
}

// Returns the memory for packets, which is user memory.
Owner xdp_umem(const Facts& facts) {
  return MemoryOwner{
      OwnerKind::xdp,  facts.process() + ", memory for packets", facts.number_or_0("umem"), 1, OwnerExactness::exact,
      OwnerPlace::user};
}

Owner io_uring(const Facts& facts, std::uint64_t page_size) {
  constexpr std::uint64_t kSubmission = 64, kCompletion = 16, kIndex = 4, kHeader = 320;
  const auto submissions = facts.number("sq_entries"), completions = facts.number("cq_entries");
  if (!submissions || !completions || *submissions > kMostOwnedBytes / kSubmission ||
      *completions > kMostOwnedBytes / kSubmission)
    return std::nullopt;
  const std::uint64_t rings = kHeader + *completions * kCompletion + *submissions * kIndex;
  return MemoryOwner{OwnerKind::io_uring, facts.process(),
                     in_pages(*submissions * kSubmission, page_size) + in_pages(rings, page_size), 1,
                     OwnerExactness::estimate};
}

Owner io_uring_buffers(const Facts& facts) {
  const auto bytes = facts.number("buffers");
  if (!bytes || *bytes == 0) return std::nullopt;
  return MemoryOwner{OwnerKind::io_uring, facts.process() + ", registered buffers", *bytes, 1, OwnerExactness::exact,
                     OwnerPlace::user};
}

Owner pipe(const Facts& facts, std::uint64_t page_size) {
  const auto bytes = facts.number("bytes");
  if (!bytes) return std::nullopt;
  return MemoryOwner{OwnerKind::pipe, facts.process(), in_pages(*bytes, page_size), 1, OwnerExactness::estimate};
}

Owner socket(const Facts& facts, std::uint64_t) {
  const auto received = facts.number("received"), sent = facts.number("sent");
  if (!received || !sent) return std::nullopt;
  return MemoryOwner{OwnerKind::socket,           fmt::format("{} of {}", facts.text("family"), facts.process()),
                     *received + *sent,           1,
                     OwnerExactness::upper_bound, OwnerPlace::partly_unaccounted};
}

// Only ring buffers take their pages directly from the page allocator. They map the pages, but not with vmalloc.
Owner bpf_map(const Facts& facts, std::uint64_t page_size) {
  constexpr std::uint64_t kRing = 27, kUserRing = 31;
  const auto bytes = facts.number("memlock"), type = facts.number("type");
  if (!bytes || !type) return std::nullopt;
  const bool is_ring = *type == kRing || *type == kUserRing;
  std::string name =
      fmt::format("{} (id {})", facts.text("name").empty() ? "map" : facts.text("name"), facts.text("id"));
  if (facts.number("pid")) name += " of " + facts.process();
  return MemoryOwner{OwnerKind::bpf_map,
                     std::move(name),
                     is_ring ? *bytes / page_size * page_size : *bytes,
                     1,
                     is_ring ? OwnerExactness::exact : OwnerExactness::estimate,
                     is_ring ? OwnerPlace::unaccounted : OwnerPlace::counted_kernel};
}

// Buffers of the system heaps are pages without a counter. Those of udmabuf are shared memory. Buffers of other drivers
// may be in the memory of a device.
Owner dma_buf(const Facts& facts, std::uint64_t page_size) {
  const auto bytes = facts.number("size");
  if (!bytes) return std::nullopt;
  const std::string_view exporter = facts.text("exporter");
  const bool is_heap = exporter.starts_with("system");
  return MemoryOwner{OwnerKind::dma_buf,
                     fmt::format("exporter {}", exporter),
                     in_pages(*bytes, page_size),
                     1,
                     is_heap ? OwnerExactness::exact : OwnerExactness::upper_bound,
                     is_heap                 ? OwnerPlace::unaccounted
                     : exporter == "udmabuf" ? OwnerPlace::user
                                             : OwnerPlace::partly_unaccounted};
}

// Drivers with TTM allocate pages directly, and other drivers use shared memory.
Owner gpu(const Facts& facts, std::uint64_t) {
  constexpr std::string_view kDirect[] = {"amdgpu", "radeon", "nouveau", "xe", "vmwgfx", "qxl"};
  const auto bytes = facts.number("bytes");
  if (!bytes) return std::nullopt;
  const std::string_view region = facts.text("region"), driver = facts.text("driver");
  const bool is_device = region.starts_with("vram") || region.starts_with("local") || region.starts_with("stolen") ||
                         region.starts_with("visible");
  const bool is_direct = std::ranges::find(kDirect, driver) != std::end(kDirect);
  return MemoryOwner{OwnerKind::gpu,
                     fmt::format("{} {} of {}", driver, region, facts.process()),
                     *bytes,
                     1,
                     OwnerExactness::upper_bound,
                     is_device   ? OwnerPlace::device
                     : is_direct ? OwnerPlace::partly_unaccounted
                                 : OwnerPlace::user};
}

struct OwnerParser {
  std::string_view kind;
  Owner (*parse)(const Facts&, std::uint64_t page_size);
};
constexpr OwnerParser kParsers[] = {
    {"page_pool", page_pool}, {"ftrace", ftrace}, {"perf", perf},     {"packet_ring", packet_ring},
    {"io_uring", io_uring},   {"pipe", pipe},     {"socket", socket}, {"bpf_map", bpf_map},
    {"dma_buf", dma_buf},     {"gpu", gpu},
};

}  // namespace

void parse_owners(std::string_view text, KernelMemory& memory) {
  const std::uint64_t page_size = std::max<std::uint64_t>(memory.page_size, 1 << 10);
  std::map<std::pair<OwnerKind, std::string>, std::size_t> known;
  // Owners of one kind and name, such as all pipes of a process, become one owner.
  const auto add = [&](Owner&& owner) {
    if (!owner || owner->bytes == 0 || owner->bytes > kMostOwnedBytes) return;
    const auto [found, is_new] = known.try_emplace({owner->kind, owner->name}, memory.owners.size());
    if (is_new) return memory.owners.push_back(std::move(*owner));
    MemoryOwner& sum = memory.owners[found->second];
    sum.bytes += owner->bytes;
    ++sum.count;
  };
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    const std::string_view kind = line.substr(0, line.find('\t'));
    if (kind == "xdp") {
      const Facts facts(line);
      Owner rings = xdp_rings(facts, page_size, memory.vmalloc);
      if (!rings) return keep_unknown("owners", line, memory);
      add(std::move(rings));
      return add(xdp_umem(facts));
    }
    const auto* const parser = std::ranges::find(kParsers, kind, &OwnerParser::kind);
    if (parser == std::end(kParsers)) return keep_unknown("owners", line, memory);
    const Facts facts(line);
    Owner owner = parser->parse(facts, page_size);
    if (!owner) return keep_unknown("owners", line, memory);
    add(std::move(owner));
    if (parser->parse == io_uring) add(io_uring_buffers(facts));
  });
}

}  // namespace kmt
