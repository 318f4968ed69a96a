// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/slab_layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "symbols/btf_members.hpp"
#include "symbols/kallsyms_lines.hpp"

namespace kmt {

namespace {

MemberPlace needed(const Btf& btf, std::string_view structure, std::string_view member) {
  if (const auto place = member_of(btf, structure, member); place && place->size != 0) return *place;
  throw Error(fmt::format("This kernel's slab caches cannot be read: its types have no {}.{}", structure, member),
              ExitCode::unsupported)
      .at({"/sys/kernel/btf/vmlinux", {}, {}})
      .hint("Only the allocator SLUB is supported, in Linux 5.10 and later. drgn and crash can also read slab caches");
}

void add_sheaves(const Btf& btf, SlubLayout& layout) {
  layout.cpu_sheaves = member_of(btf, "kmem_cache", "cpu_sheaves");
  if (!layout.cpu_sheaves) return;
  layout.main = needed(btf, "slub_percpu_sheaves", "main");
  layout.spare = needed(btf, "slub_percpu_sheaves", "spare");
  layout.rcu_free = needed(btf, "slub_percpu_sheaves", "rcu_free");
  layout.sheaf_size = needed(btf, "slab_sheaf", "size");
  if (const auto objects = member_of(btf, "slab_sheaf", "objects")) layout.sheaf_objects = *objects;
  layout.sheaf_list = needed(btf, "slab_sheaf", "barn_list");
  layout.barn_full = needed(btf, "node_barn", "sheaves_full");
  layout.barn = member_of(btf, "kmem_cache_node", "barn");
  if (layout.barn) return;
  layout.barn = member_of(btf, "kmem_cache_per_node_ptrs", "barn");
  layout.barn_in_cache = layout.barn.has_value();
}

// Sets the range of the modules. On x86-64, they are between the kernel and a fixed address (MODULES_END in
// arch/x86/include/asm/pgtable_64_types.h). On arm64, they are before or after the kernel. BPF programs and other
// vmalloc memory may be there too, so the range is that of the modules' symbols.
void add_modules(std::string_view kallsyms, SlabAddresses& addresses) {
  constexpr std::uint64_t kX86Image = 0xffff'ffff'8000'0000;
  constexpr std::uint64_t kEndOfX86Modules = 0xffff'ffff'ff00'0000;
  constexpr std::uint64_t kMostDistance = std::uint64_t{1} << 32;  // per-CPU symbols of modules are not near the kernel
  constexpr std::uint64_t kLastSymbol = 1 << 16;
  if (addresses.image_begin >= kX86Image) {
    addresses.image_end = kEndOfX86Modules;
    return;
  }
  for_each_kallsyms_line(kallsyms, [&addresses](const KallsymsLine& line) {
    const std::string_view module = line.module();
    const std::uint64_t distance =
        std::max(line.address, addresses.image_begin) - std::min(line.address, addresses.image_begin);
    if (module.empty() || module == "bpf" || module.starts_with("__builtin__") || distance > kMostDistance) return;
    if (addresses.modules_end == 0) addresses.modules_begin = line.address;
    addresses.modules_begin = std::min(addresses.modules_begin, line.address);
    addresses.modules_end = std::max(addresses.modules_end, line.address + kLastSymbol);
  });
}

}  // namespace

SlubLayout slab_layout(const Btf& btf) {
  SlubLayout layout;
  const btf_type* const page = structure_named(btf, "page");
  if (page != nullptr) layout.page_bytes = page->size;
  // Linux 5.17 moved these members from struct page to struct slab.
  const std::string_view slab = structure_named(btf, "slab") != nullptr ? "slab" : "page";
  layout.slab_cache = needed(btf, slab, "slab_cache");
  layout.slab_freelist = needed(btf, slab, "freelist");
  layout.slab_inuse = needed(btf, slab, "inuse");
  layout.slab_objects = needed(btf, slab, "objects");
  layout.slab_frozen = member_of(btf, slab, "frozen");
  layout.name = needed(btf, "kmem_cache", "name");
  layout.list = needed(btf, "kmem_cache", "list");
  layout.size = needed(btf, "kmem_cache", "size");
  layout.object_size = needed(btf, "kmem_cache", "object_size");
  layout.free_pointer = needed(btf, "kmem_cache", "offset");
  layout.left_pad = member_of(btf, "kmem_cache", "red_left_pad").value_or(MemberPlace{});
  layout.random = member_of(btf, "kmem_cache", "random");
  const auto per_node = member_of(btf, "kmem_cache", "per_node");
  layout.nodes = per_node ? *per_node : needed(btf, "kmem_cache", "node");
  layout.cpu_slab = member_of(btf, "kmem_cache", "cpu_slab");
  if (layout.cpu_slab) layout.cpu_freelist = needed(btf, "kmem_cache_cpu", "freelist");
  add_sheaves(btf, layout);
  return layout;
}

SlabAddresses slab_symbols(std::string_view kallsyms) {
  SlabAddresses found;
  for_each_kallsyms_line(kallsyms, [&found](const KallsymsLine& line) {
    if (!line.module().empty()) return;
    const std::string_view name = line.name();
    if (name == "_end") found.image_end = line.address;
    if (name == "slab_caches") found.slab_caches = line.address;
    if (name == "vmemmap_base") found.vmemmap = line.address;
    if (name == "page_offset_base") found.page_offset = line.address;
    if (name == "__per_cpu_offset") found.per_cpu_offset = line.address;
    if (name == "_text") found.image_begin = line.address;
  });
  if (found.slab_caches != 0 && found.image_begin != 0 && found.image_end != 0) {
    add_modules(kallsyms, found);
    return found;
  }
  throw Error("Cannot find the slab caches in the kernel's symbols", ExitCode::unsupported)
      .at({"/proc/kallsyms", {}, {}})
      .hint(fmt::format(
          "The kernel needs CONFIG_KALLSYMS_ALL. If it has this option, {}, and if kernel.kptr_restrict is 2, "
          "show addresses: sysctl kernel.kptr_restrict=1",
          advice_for_more_privileges()));
}

}  // namespace kmt
