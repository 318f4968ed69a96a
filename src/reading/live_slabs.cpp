// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/live_slabs.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/utsname.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "snapshot/objects/kcore.hpp"
#include "snapshot/objects/vmcoreinfo.hpp"
#include "symbols/kallsyms_lines.hpp"
#include "symbols/slab_layout.hpp"

namespace kmt {

namespace {

enum class Architecture : std::uint8_t { x86_64, arm64 };

// Throws Error on other architectures.
Architecture architecture() {
  utsname name{};
  const std::string_view machine = ::uname(&name) == 0 ? name.machine : "";
  if (machine == "x86_64" && sizeof(void*) == sizeof(std::uint64_t)) return Architecture::x86_64;
  if (machine == "aarch64" && sizeof(void*) == sizeof(std::uint64_t)) return Architecture::arm64;
  throw Error("The slabs of the running kernel can be read only on x86-64 and arm64", ExitCode::unsupported)
      .hint("drgn can inspect objects of slab caches on other machines");
}

// Returns the number of possible CPUs or nodes, from a text such as "0-3". Throws Error.
unsigned possible(const std::string& path, const std::string& text) {
  const std::size_t last = text.find_last_of("-,");
  const auto number = parse_leading<unsigned>(std::string_view(text).substr(last == std::string::npos ? 0 : last + 1));
  if (number) return *number + 1;
  throw Error("The number of CPUs or nodes is unknown", ExitCode::unsupported).at({path, {}, {}});
}

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

LiveSlabs::LiveSlabs(std::unique_ptr<KernelReader> memory, std::uint64_t most_bytes)
    : has_kcore_((architecture(), memory == nullptr)),
      memory_(has_kcore_ ? std::make_unique<Kcore>() : std::move(memory), most_bytes),
      frames_(page_size()),
      types_(std::string(kKernelTypes) + "vmlinux"),
      layout_(slab_layout(types_)),
      kallsyms_(read_file("/proc/kallsyms")),
      addresses_(find_addresses()),
      slabs_(limited_memory(), layout_, addresses_, page_size()) {}

void LiveSlabs::find_x86_map(SlabAddresses& found) {
  // without CONFIG_DYNAMIC_MEMORY_LAYOUT
  constexpr std::uint64_t kFixedVmemmap = 0xffff'ea00'0000'0000;
  constexpr std::uint64_t kFixedPageOffset = 0xffff'8880'0000'0000;
  found.vmemmap = found.vmemmap == 0 ? kFixedVmemmap : read_word(memory_, found.vmemmap).value_or(0);
  found.page_offset = found.page_offset != 0 ? read_word(memory_, found.page_offset).value_or(0)
                                             : memory_.page_offset().value_or(kFixedPageOffset);
}

void LiveSlabs::find_arm64_map(SlabAddresses& found) {
  constexpr std::uint64_t kMostText = 1 << 16;
  const auto variable = [this](std::string_view name) {
    const auto line = find_kallsyms_line(
        kallsyms_, [name](const KallsymsLine& one) { return one.name() == name && one.module().empty(); });
    return line.rest.empty() ? 0 : read_word(memory_, line.address).value_or(0);
  };
  std::string text(to_size(std::min(variable("vmcoreinfo_size"), kMostText)), '\0');
  const std::uint64_t address = variable("vmcoreinfo_data");
  if (address == 0 || !memory_.read(address, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()})) return;
  const auto map = arm64_direct_map(text, page_size(), layout_.page_bytes);
  if (!map) return;
  found.page_offset = map->page_offset;
  found.vmemmap = map->vmemmap;
}

SlabAddresses LiveSlabs::find_addresses() {
  SlabAddresses found = slab_symbols(kallsyms_);
  if (architecture() == Architecture::arm64)
    find_arm64_map(found);
  else
    find_x86_map(found);
  const std::string cpus = "/sys/devices/system/cpu/possible";
  const std::string nodes = "/sys/devices/system/node/possible";  // missing without CONFIG_NUMA
  found.cpus = possible(cpus, read_file(cpus));
  found.nodes = possible(nodes, try_read_file(nodes).value_or("0"));
  if (found.vmemmap != 0 && found.page_offset != 0) return found;
  throw Error("Cannot find the kernel's page structures (vmemmap) or its direct map of RAM", ExitCode::unsupported)
      .hint("Please report this, with the output of `uname -a`");
}

// Limits reads to RAM and the kernel's image, because other addresses may be registers of devices. /proc/kcore lacks
// these. Returns the memory. Before this call, only variables of the image and the text for crash dumps are
// read.
KernelReader& LiveSlabs::limited_memory() {
  if (has_kcore_) return memory_;
  if (!frames_.knows_ram())
    throw Error("The addresses of RAM are unknown", ExitCode::unsupported).at({"/proc/iomem", {}, {}});
  std::vector<AddressRange> allowed = {{addresses_.image_begin, addresses_.image_end},
                                       {addresses_.modules_begin, addresses_.modules_end}};
  for (const FrameRange& range : frames_.ranges()) {
    allowed.push_back(
        {addresses_.page_offset + range.first * page_size(), addresses_.page_offset + range.end * page_size()});
    allowed.push_back(
        {addresses_.vmemmap + range.first * layout_.page_bytes, addresses_.vmemmap + range.end * layout_.page_bytes});
  }
  memory_.allow_only(std::move(allowed));
  return memory_;
}

}  // namespace kmt
