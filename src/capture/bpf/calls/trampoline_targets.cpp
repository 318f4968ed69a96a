// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/calls/trampoline_targets.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>
#include <linux/types.h>

#include "base/text.hpp"
#include "capture/bpf/kernel_btf.hpp"
#include "capture/features/types_file.hpp"

namespace kmt {

namespace {

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, FreeTypes>;

// Numbers of functions that have the same name. The kernel finds the function for a trampoline by name, and takes the
// first one of that name.
struct Namesakes {
  unsigned of_kernel = 0;
  unsigned of_modules = 0;
};

std::map<std::string_view, Namesakes> count_names(const std::vector<TracedFunction>& functions,
                                                  std::string_view kallsyms) {
  std::map<std::string_view, Namesakes> counts;
  for (const TracedFunction& function : functions) counts.emplace(function.name, Namesakes{});
  for (std::string_view line : split(kallsyms, '\n')) {
    const std::size_t module = line.find('\t');
    line = line.substr(0, module);
    const auto found = counts.find(line.substr(line.rfind(' ') + 1));
    if (found != counts.end())
      ++(module == std::string_view::npos ? found->second.of_kernel : found->second.of_modules);
  }
  return counts;
}

bool is_plain_type(const btf* types, unsigned id) {
  const int resolved = btf__resolve_type(types, id);
  const btf_type* const type = resolved < 0 ? nullptr : btf__type_by_id(types, static_cast<__u32>(resolved));
  return type != nullptr && (btf_is_int(type) || btf_is_any_enum(type) || btf_is_ptr(type)) &&
         (btf_is_ptr(type) || type->size <= sizeof(std::uint64_t));
}

bool is_plain_function(const btf* types, unsigned id) {
  constexpr unsigned kRegisters = 6;
  const btf_type* const prototype = btf__type_by_id(types, btf__type_by_id(types, id)->type);
  if (prototype == nullptr || !btf_is_func_proto(prototype) || btf_vlen(prototype) > kRegisters) return false;
  for (unsigned i = 0; i < btf_vlen(prototype); ++i)
    if (!is_plain_type(types, btf_params(prototype)[i].type)) return false;  // type 0 means variable arguments
  return prototype->type == 0 || is_plain_type(types, prototype->type);
}

struct ModuleTypes {
  FileDescriptor descriptor;
  Types types;
};

std::optional<ModuleTypes> types_of_module(const std::string& module, btf* of_kernel) {
  __u32 id = 0;
  while (bpf_btf_get_next_id(id, &id) == 0) {
    ModuleTypes found{FileDescriptor(bpf_btf_get_fd_by_id(id)), nullptr};
    std::array<char, 64> name{};
    bpf_btf_info info{};
    info.name = reinterpret_cast<std::uintptr_t>(name.data());
    info.name_len = name.size();
    __u32 bytes = sizeof info;
    if (!found.descriptor || bpf_obj_get_info_by_fd(found.descriptor.get(), &info, &bytes) != 0) continue;
    if (info.kernel_btf == 0 || module != name.data()) continue;
    found.types.reset(btf__load_from_kernel_by_id_split(id, of_kernel));
    if (found.types) return found;
  }
  return {};
}

}  // namespace

TrampolineTargets find_trampoline_targets(const std::vector<TracedFunction>& functions, std::string_view kallsyms) {
  const std::shared_ptr<btf> of_kernel = kernel_btf();
  const std::map<std::string_view, Namesakes> names = count_names(functions, kallsyms);
  TrampolineTargets targets;
  if (!types_file().empty()) {
    targets.of.resize(functions.size(), {.why_not = "the kernel does not describe its types itself"});
    return targets;
  }
  std::map<std::string_view, std::optional<ModuleTypes>> modules;
  for (const TracedFunction& function : functions) {
    TrampolineTarget& target = targets.of.emplace_back();
    const Namesakes& count = names.at(function.name);
    if (count.of_kernel + (function.module.empty() ? 0 : count.of_modules) > 1) {
      target.why_not = "several functions have this name";
      continue;
    }
    const btf* types = of_kernel.get();
    if (!function.module.empty()) {
      const auto [module, is_new] = modules.try_emplace(function.module);
      if (is_new) module->second = types_of_module(function.module, of_kernel.get());
      if (!module->second) {
        target.why_not = fmt::format("the kernel has no types of the module {}", function.module);
        continue;
      }
      types = module->second->types.get();
      target.types = module->second->descriptor.get();
    }
    const int id = btf__find_by_name_kind(types, function.name.c_str(), BTF_KIND_FUNC);
    if (id <= 0) {
      target.why_not = "its type is not in the kernel's BTF";
      continue;
    }
    target.id = static_cast<unsigned>(id);
    target.is_plain = is_plain_function(types, target.id);
  }
  for (auto& [name, module] : modules)
    if (module) targets.of_modules.push_back(std::move(module->descriptor));
  return targets;
}

}  // namespace kmt
