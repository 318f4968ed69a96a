// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/types_option.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/types_file.hpp"
#include "capture/tracefs/mount.hpp"
#include "cli/support/say.hpp"
#include "symbols/types_of_kernel.hpp"

namespace kmt {

void add_types_option(Command& command, std::string& btf) {
  command.option("--btf", &btf, "FILE",
                 "Read the kernel's types from FILE, for kernels without CONFIG_DEBUG_INFO_BTF\nFILE is BTF, or an ELF "
                 "file with BTF such as vmlinux, of exactly this kernel. If FILE is a folder, it contains RELEASE.btf, "
                 "or DISTRIBUTION/VERSION/ARCHITECTURE/RELEASE.btf as in BTFHub.");
}

void use_types(const std::string& btf) {
  if (btf.empty()) return;
  KernelIdentity kernel = running_kernel();
  std::error_code code;
  const std::string file = std::filesystem::is_directory(btf, code) ? find_types(btf, kernel) : btf;
  const std::string tracefs = find_tracefs().path;
  for (const char* const event : {"kmem/kmalloc", "kmem/kmem_cache_alloc", "kmem/kfree", "kmem/mm_page_alloc",
                                  "sched/sched_switch", "sched/sched_process_fork"})
    if (auto format = try_read_file(fmt::format("{}/events/{}/format", tracefs, event)); format && !tracefs.empty())
      kernel.formats[std::filesystem::path(event).filename()] = std::move(*format);
  if (const std::string reason = why_not_types_of(kernel, file); !reason.empty())
    throw Error(fmt::format("These are not the types of the running kernel: {}", reason))
        .at({file, {}, {}})
        .hint(fmt::format("Name the types of exactly this kernel ({}): wrong types give wrong numbers",
                          printable(kernel.release)));
  use_types_file(std::filesystem::absolute(file));
}

void say_types_of_programs() {
  if (types_file().empty()) return;
  say("note: BPF programs use the types in {}. Without types in the kernel itself, objects are not counted by slab "
      "cache, functions are not traced by BPF trampolines, and each event costs a few nanoseconds more\n",
      printable(types_file()));
}

}  // namespace kmt
