// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/watch/kernel_caches.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <linux/types.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/kernel_caches.h"
#include "capture/bpf/programs/kernel_caches.skel.h"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

using Object = BpfSkeleton<kernel_caches_bpf, kernel_caches_bpf__create_skeleton, kernel_caches_bpf__load,
                           kernel_caches_bpf__destroy>;

std::string slabinfo_text() { return try_read_file("/proc/slabinfo").value_or(""); }

// Returns the number of possible NUMA nodes; empty if it is unknown. The file contains "0" or "0-3". Kernels without
// NUMA have no such file.
std::optional<std::uint32_t> possible_nodes() {
  const auto text = try_read_file("/sys/devices/system/node/possible");
  if (!text) return 1;
  const std::string_view last = std::string_view(*text).substr(text->find_last_of(",-") + 1);
  const auto number = parse_number<std::uint32_t>(trim(last));
  if (!number || *number >= KMT_MOST_NODES) return {};
  return *number + 1;
}

SlabInfo slab_of(const kmt_kernel_cache& from) {
  SlabInfo slab;
  slab.name = {from.name, ::strnlen(from.name, sizeof from.name)};
  slab.active_objects = from.active;
  slab.objects = from.objects;
  slab.object_bytes = from.object_bytes;
  return slab;
}

}  // namespace

struct KernelCaches::Program {
  Object object;
  bpf_link* link = nullptr;

  explicit Program(std::uint32_t nodes) {
    object->rodata->nodes = nodes;
    object.load();
    link = bpf_program__attach_iter(object->progs.list_caches, nullptr);
    if (!link) throw_bpf_error("Cannot attach the BPF program list_caches", errno);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { bpf_link__destroy(link); }
};

KernelCaches::KernelCaches() {
  if (!parse_slabinfo(slabinfo_text()).caches.empty()) return;
  const auto nodes = possible_nodes();
  if (!nodes || !KernelTypes().offers_function("bpf_iter_kmem_cache")) return;
  try {
    program_ = std::make_unique<Program>(*nodes);
  } catch (const Error&) {
    // The kernel refuses the program. Tables then lack the column that this program fills, as without slabinfo before
    // Linux 6.13.
  }
}

KernelCaches::~KernelCaches() = default;
KernelCaches::KernelCaches(KernelCaches&&) noexcept = default;
KernelCaches& KernelCaches::operator=(KernelCaches&&) noexcept = default;

std::vector<SlabInfo> KernelCaches::read(std::string_view slabinfo) const {
  std::vector<SlabInfo> caches = parse_slabinfo(slabinfo).caches;
  if (!caches.empty() || !program_) return caches;
  const FileDescriptor iterator(bpf_iter_create(bpf_link__fd(program_->link)));
  if (iterator.get() < 0) throw_bpf_error("Cannot list the slab caches", errno);
  std::vector<kmt_kernel_cache> entries(64);
  std::size_t kept = 0;  // bytes of an incomplete entry
  while (true) {
    auto* const bytes = reinterpret_cast<char*>(entries.data());
    const ssize_t got = ::read(iterator.get(), bytes + kept, entries.size() * sizeof entries[0] - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_bpf_error("Cannot list the slab caches", errno);
    if (got == 0) return caches;
    const std::size_t all = kept + static_cast<std::size_t>(got);
    for (std::size_t i = 0; i < all / sizeof entries[0]; ++i)
      if (entries[i].knows_objects) caches.push_back(slab_of(entries[i]));
    kept = all % sizeof entries[0];
    std::memmove(bytes, bytes + all - kept, kept);
  }
}

std::vector<SlabInfo> KernelCaches::read() const { return read(slabinfo_text()); }

}  // namespace kmt
