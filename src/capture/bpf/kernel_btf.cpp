// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/kernel_btf.hpp"

#include <cerrno>

#include <bpf/btf.h>

#include "capture/bpf/object.hpp"
#include "capture/features/types_file.hpp"

namespace kmt {

std::shared_ptr<btf> kernel_btf() {
  static std::weak_ptr<btf> known;
  std::shared_ptr<btf> types = known.lock();
  if (types) return types;
  const std::string& file = types_file();
  btf* const read = file.empty() ? btf__load_vmlinux_btf() : btf__parse(file.c_str(), nullptr);
  if (read == nullptr) throw_bpf_error("Cannot read the kernel's types (BTF)", errno);
  types.reset(read, btf__free);
  known = types;
  return types;
}

}  // namespace kmt
