// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record/page_table.hpp"

#include <algorithm>

#include <linux/types.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/pages.h"
#include "capture/bpf/programs/pages.skel.h"

namespace kmt {

namespace {

using Object = BpfSkeleton<pages_bpf, pages_bpf__create_skeleton, pages_bpf__load, pages_bpf__destroy>;

constexpr unsigned kAttempts = 10;
constexpr std::uint32_t kFewestPairs = 4;

void allocate_and_free_pages() {
  const std::size_t bytes = std::size_t{KMT_PAGE_PAIRS} * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) throw system_error("Cannot allocate memory", "");
  ::munmap(memory, bytes);
}

}  // namespace

// Finds the address of the page descriptors from frees by this task. Two programs run for each freed page: one reads
// the address, and one the frame number. If an interrupt frees pages between these two runs, their values do not belong
// to one page. The measurement is then repeated.
std::optional<PageTable> find_page_table(const KernelTypes& types) {
  const auto bytes_each = types.bytes_of_structure("page");
  if (!bytes_each || *bytes_each == 0) return std::nullopt;
  Object object;
  object->rodata->own_task = static_cast<std::uint32_t>(::gettid());
  object.load();
  object.attach(object->progs.take_address);
  object.attach(object->progs.take_number);
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto& seen = *object->bss;
    seen.addresses_taken = seen.numbers_taken = 0;
    allocate_and_free_pages();
    const std::uint32_t pairs = std::min({seen.addresses_taken, seen.numbers_taken, std::uint32_t{KMT_PAGE_PAIRS}});
    const PageTable table{seen.addresses[0] - seen.numbers[0] * *bytes_each, *bytes_each};
    bool all_agree = pairs >= kFewestPairs;
    for (std::uint32_t i = 0; i < pairs; ++i)
      all_agree &= table.first + seen.numbers[i] * table.bytes_each == seen.addresses[i];
    if (all_agree) return table;
  }
  return std::nullopt;
}

}  // namespace kmt
