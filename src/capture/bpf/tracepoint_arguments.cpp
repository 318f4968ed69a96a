// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/tracepoint_arguments.hpp"

#include <string_view>

#include <bpf/btf.h>

#include "capture/bpf/kernel_btf.hpp"
#include "capture/features/types_file.hpp"

namespace kmt {

namespace {

// Returns the member of `places` in which to store the index of the argument `name` (a name in include/trace/events).
// Returns nullptr for arguments that kmemtrace does not need.
signed char* place_of(kmt_arguments& places, std::string_view name) {
  if (name == "call_site") return &places.call_site;
  if (name == "ptr" || name == "page") return &places.pointer;
  if (name == "s") return &places.cache;
  if (name == "bytes_req" || name == "size") return &places.requested;
  if (name == "bytes_alloc") return &places.allocated;
  if (name == "order") return &places.order;
  if (name == "failed") return &places.failed;
  if (name == "migratetype") return &places.migratetype;
  return nullptr;
}

}  // namespace

KernelTypes::KernelTypes() : held_(kernel_btf()), types_(held_.get()) {}

// Returns the names of a tracepoint's arguments. BPF programs see the type btf_trace_NAME, which has no argument names.
// The function __traceiter_NAME, which calls the attached functions, has the names.
std::optional<std::vector<std::string>> KernelTypes::argument_names(const std::string& tracepoint) const {
  if (btf__find_by_name_kind(types_, ("btf_trace_" + tracepoint).c_str(), BTF_KIND_TYPEDEF) < 0) return {};
  const int function = btf__find_by_name_kind(types_, ("__traceiter_" + tracepoint).c_str(), BTF_KIND_FUNC);
  if (function < 0) return {};
  const btf_type* const prototype =
      btf__type_by_id(types_, btf__type_by_id(types_, static_cast<unsigned>(function))->type);
  const btf_param* const parameters = btf_params(prototype);
  std::vector<std::string> names;
  for (int i = 1; i < btf_vlen(prototype); ++i)  // argument 0 belongs to the attached program
    names.emplace_back(btf__name_by_offset(types_, parameters[i].name_off));
  return names;
}

std::optional<kmt_arguments> KernelTypes::arguments_of(const std::string& tracepoint) const {
  const auto names = argument_names(tracepoint);
  if (!names) return {};
  kmt_arguments places{KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT,
                       KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT, KMT_NO_ARGUMENT};
  for (std::size_t i = 0; i < names->size() && i < KMT_MOST_ARGUMENTS; ++i)
    if (signed char* const place = place_of(places, (*names)[i])) *place = static_cast<signed char>(i);
  return places;
}

std::optional<unsigned> KernelTypes::parameters_of_function(const std::string& name) const {
  const int function = btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_FUNC);
  if (function < 0) return {};
  return btf_vlen(btf__type_by_id(types_, btf__type_by_id(types_, static_cast<unsigned>(function))->type));
}

std::optional<std::uint64_t> KernelTypes::bytes_of_structure(const std::string& name) const {
  const int type = btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_STRUCT);
  if (type < 0) return {};
  return btf__type_by_id(types_, static_cast<unsigned>(type))->size;
}

std::optional<std::uint64_t> KernelTypes::offset_of_member(const std::string& structure,
                                                           const std::string& member) const {
  const int id = btf__find_by_name_kind(types_, structure.c_str(), BTF_KIND_STRUCT);
  if (id < 0) return {};
  const btf_type* const type = btf__type_by_id(types_, static_cast<unsigned>(id));
  for (unsigned i = 0; i < btf_vlen(type); ++i)
    if (member == btf__name_by_offset(types_, btf_members(type)[i].name_off)) return btf_member_bit_offset(type, i) / 8;
  return {};
}

bool KernelTypes::has_member(const std::string& structure, const std::string& member) const {
  return offset_of_member(structure, member).has_value();
}

std::optional<std::uint64_t> KernelTypes::offset_of_cpu_variable(const std::string& name) const {
  const int variable = btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_VAR);
  const int section = btf__find_by_name_kind(types_, ".data..percpu", BTF_KIND_DATASEC);
  if (variable < 0 || section < 0) return {};
  const btf_type* const type = btf__type_by_id(types_, static_cast<unsigned>(section));
  for (int i = 0; i < btf_vlen(type); ++i)
    if (btf_var_secinfos(type)[i].type == static_cast<unsigned>(variable)) return btf_var_secinfos(type)[i].offset;
  return {};
}

bool KernelTypes::has_function(const std::string& name) const {
  return btf__find_by_name_kind(types_, name.c_str(), BTF_KIND_FUNC) >= 0;
}

bool KernelTypes::offers_function(const std::string& name) const { return types_file().empty() && has_function(name); }

std::optional<std::uint64_t> KernelTypes::enumerated(const std::string& name) const {
  for (unsigned id = 1; id < btf__type_cnt(types_); ++id) {
    const btf_type* const type = btf__type_by_id(types_, id);
    if (!btf_is_enum(type)) continue;
    const struct btf_enum* const constants = btf_enum(type);
    for (int i = 0; i < btf_vlen(type); ++i)
      if (name == btf__name_by_offset(types_, constants[i].name_off))
        return static_cast<std::uint64_t>(constants[i].val);
  }
  return {};
}

}  // namespace kmt
