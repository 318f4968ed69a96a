// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/tracepoint_arguments.hpp"

#include <cerrno>
#include <string_view>

#include <bpf/btf.h>

#include "capture/bpf/object.hpp"

namespace kmt {

namespace {

// By the names that include/trace/events gives them; others are of no interest.
signed char* place_of(kmt_arguments& places, std::string_view name) {
  if (name == "call_site") return &places.call_site;
  if (name == "ptr" || name == "page") return &places.pointer;
  if (name == "s") return &places.cache;
  if (name == "bytes_req" || name == "size") return &places.requested;
  if (name == "bytes_alloc") return &places.allocated;
  if (name == "order") return &places.order;
  if (name == "failed") return &places.failed;
  return nullptr;
}

}  // namespace

KernelTypes::KernelTypes() : types_(btf__load_vmlinux_btf()) {
  if (!types_) throw_bpf_error("Cannot read the kernel's types (BTF)", errno);
}

KernelTypes::~KernelTypes() { btf__free(types_); }

// btf_trace_NAME is the type that BPF sees, but has no names of arguments; __traceiter_NAME, which calls what is
// attached, has them.
std::optional<kmt_arguments> KernelTypes::arguments_of(const std::string& tracepoint) const {
  if (btf__find_by_name_kind(types_, ("btf_trace_" + tracepoint).c_str(), BTF_KIND_TYPEDEF) < 0) return {};
  const int function = btf__find_by_name_kind(types_, ("__traceiter_" + tracepoint).c_str(), BTF_KIND_FUNC);
  if (function < 0) return {};
  const btf_type* const prototype =
      btf__type_by_id(types_, btf__type_by_id(types_, static_cast<unsigned>(function))->type);
  kmt_arguments places{KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT,
                       KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT};
  const btf_param* const parameters = btf_params(prototype);
  for (int i = 1; i < btf_vlen(prototype) && i <= KMT_MOST_ARGUMENTS; ++i)  // 0 is the attached program's own
    if (signed char* const place = place_of(places, btf__name_by_offset(types_, parameters[i].name_off)))
      *place = static_cast<signed char>(i - 1);
  return places;
}

}  // namespace kmt
