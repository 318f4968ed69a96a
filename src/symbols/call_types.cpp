// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/call_types.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/error.hpp"
#include "symbols/call_flags.hpp"
#include "symbols/call_signatures.hpp"
#include "symbols/value_paths.hpp"
#include "trace/calls/stack_arguments.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostDepth = 64;

// Copies the types of functions to a new BTF, which stays small. A structure that fits into registers keeps its
// members, and other structures keep only their name and size. A structure to which a pointer points becomes a
// declaration, and pointers in structures lose their target. As a result, no type refers to itself.
class TypeCopier {
 public:
  TypeCopier() : out_(btf__new_empty(), &btf__free) {
    if (!out_) throw std::bad_alloc();
  }

  void add_function(const Btf& from, const std::string& name) {
    const btf_type* const prototype = from.prototype(name);
    add_flags(from, flag_meaning_of_result(from.strip(prototype->type)));
    const int result = copy(from, prototype->type, 0);
    const btf_param* const parameters = btf_params(prototype);
    std::vector<int> types;
    for (unsigned i = 0; i < btf_vlen(prototype); ++i) {
      const std::uint32_t type = parameters[i].type;
      add_flags(from, flag_meaning(name, from.name(parameters[i].name_off), from.strip(type)));
      types.push_back(copy(from, type, 0));
    }
    const int copied = done(btf__add_func_proto(out_.get(), result));
    for (unsigned i = 0; i < types.size(); ++i)
      done(btf__add_func_param(out_.get(), text(from, parameters[i].name_off).c_str(), types[i]));
    done(btf__add_func(out_.get(), name.c_str(), BTF_FUNC_GLOBAL, copied));
  }

  int copy(const Btf& from, std::uint32_t id, unsigned depth) {
    const btf_type* const type = from.type(id);
    if (type == nullptr || depth > kMostDepth) return 0;
    const auto known = ids_.find({&from, id});
    if (known != ids_.end()) return known->second;
    const int copied = done(add(from, *type, depth));
    ids_.emplace(std::pair{&from, id}, copied);
    return copied;
  }

  // Stores the names of flags by copying the kernel's enum that defines them.
  void add_flags(const Btf& from, FlagMeaning meaning) {
    if (const auto id = flag_enumeration(from, meaning)) copy(from, *id, 0);
  }

  std::vector<std::uint8_t> bytes() const {
    std::uint32_t size = 0;
    const auto* const data = static_cast<const std::uint8_t*>(btf__raw_data(out_.get(), &size));
    if (data == nullptr) throw std::bad_alloc();
    return {data, data + size};
  }

 private:
  static std::string text(const Btf& from, std::uint32_t offset) { return std::string(from.name(offset)); }

  // Returns the ID of a type that libbpf has added. Throws Error for an invalid type, which the types of the running
  // kernel should not have.
  static int done(int id) {
    if (id < 0) throw Error("Cannot store the types of the calls: the kernel's types are invalid");
    return id;
  }

  int add(const Btf& from, const btf_type& type, unsigned depth) {
    btf* const out = out_.get();
    const std::string name = text(from, type.name_off);
    const auto inner = [&] { return copy(from, type.type, depth + 1); };
    switch (btf_kind(&type)) {
      case BTF_KIND_INT: return btf__add_int(out, name.c_str(), type.size, btf_int_encoding(&type));
      case BTF_KIND_FLOAT: return btf__add_float(out, name.c_str(), type.size);
      case BTF_KIND_PTR: return btf__add_ptr(out, pointee(from, type.type, depth + 1));
      case BTF_KIND_TYPEDEF: return btf__add_typedef(out, name.c_str(), inner());
      case BTF_KIND_CONST: return btf__add_const(out, inner());
      case BTF_KIND_VOLATILE: return btf__add_volatile(out, inner());
      case BTF_KIND_RESTRICT: return btf__add_restrict(out, inner());
      case BTF_KIND_TYPE_TAG: return btf__add_type_tag(out, name.c_str(), inner());
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION: return add_composite(from, type, name, depth);
      case BTF_KIND_FWD: return btf__add_fwd(out, name.c_str(), btf_kflag(&type) ? BTF_FWD_UNION : BTF_FWD_STRUCT);
      case BTF_KIND_ENUM: return add_enumeration(from, type, name);
      case BTF_KIND_ENUM64: return add_enumeration64(from, type, name);
      default: return 0;  // functions and arrays are omitted: pointers to them are shown as plain pointers
    }
  }

  int add_composite(const Btf& from, const btf_type& type, const std::string& name, unsigned depth) {
    // In bytes; only structures up to this size are passed in registers.
    constexpr std::uint32_t kMostBytes = 2 * sizeof(long);
    const btf_member* const members = btf_members(&type);
    std::vector<int> types;
    for (unsigned i = 0; type.size <= kMostBytes && i < btf_vlen(&type); ++i)
      types.push_back(member(from, members[i].type, depth + 1));
    const int id = btf_kind(&type) == BTF_KIND_UNION ? btf__add_union(out_.get(), name.c_str(), type.size)
                                                     : btf__add_struct(out_.get(), name.c_str(), type.size);
    for (unsigned i = 0; id > 0 && i < types.size(); ++i)
      if (types[i] != 0)
        done(btf__add_field(out_.get(), text(from, members[i].name_off).c_str(), types[i],
                            btf_member_bit_offset(&type, i), btf_member_bitfield_size(&type, i)));
    return id;
  }

  // Copies the type of a member. Omits the target of a pointer, because types could otherwise refer to themselves.
  // Returns 0 for members that kmemtrace does not show.
  int member(const Btf& from, std::uint32_t id, unsigned depth) {
    const btf_type* const type = from.strip(id).type;
    if (type == nullptr || btf_is_array(type)) return 0;
    return btf_is_ptr(type) ? done(btf__add_ptr(out_.get(), 0)) : copy(from, id, depth);
  }

  int add_enumeration(const Btf& from, const btf_type& type, const std::string& name) {
    const int id = btf__add_enum(out_.get(), name.c_str(), type.size);
    for (unsigned i = 0; id > 0 && i < btf_vlen(&type); ++i) {
      const struct btf_enum& value = btf_enum(&type)[i];
      const std::int64_t number = btf_kflag(&type) ? value.val : std::int64_t{static_cast<std::uint32_t>(value.val)};
      done(btf__add_enum_value(out_.get(), text(from, value.name_off).c_str(), number));
    }
    return id;
  }

  int add_enumeration64(const Btf& from, const btf_type& type, const std::string& name) {
    const int id = btf__add_enum64(out_.get(), name.c_str(), type.size, btf_kflag(&type));
    for (unsigned i = 0; id > 0 && i < btf_vlen(&type); ++i) {
      const struct btf_enum64& value = btf_enum64(&type)[i];
      done(btf__add_enum64_value(out_.get(), text(from, value.name_off).c_str(), btf_enum64_value(&value)));
    }
    return id;
  }

  // Copies the target of a pointer. A structure becomes a declaration. An enumeration or an unnamed structure becomes
  // void.
  int pointee(const Btf& from, std::uint32_t id, unsigned depth) {
    const btf_type* const type = from.type(id);
    if (type == nullptr) return 0;
    const auto kind = btf_kind(type);
    if (kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64) return 0;
    if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) return copy(from, id, depth);
    if (type->name_off == 0) return 0;
    const auto [known, is_new] = declarations_.try_emplace({&from, id}, 0);
    if (is_new)
      known->second = done(btf__add_fwd(out_.get(), text(from, type->name_off).c_str(),
                                        kind == BTF_KIND_UNION ? BTF_FWD_UNION : BTF_FWD_STRUCT));
    return known->second;
  }

  using Place = std::pair<const Btf*, std::uint32_t>;
  std::unique_ptr<btf, decltype(&btf__free)> out_;
  std::map<Place, int> ids_;
  std::map<Place, int> declarations_;
};

// True if the parameter is the length of the string in the previous parameter, as in write(). Such a string need not
// end with a NUL.
bool is_count(const Parameter& parameter) {
  constexpr std::array<std::string_view, 6> kNames = {"count", "len", "length", "size", "n", "nbytes"};
  return parameter.type.kind == ValueKind::integer &&
         (parameter.type.is_size || std::ranges::find(kNames, parameter.name) != kNames.end());
}

CallAbi running_abi() {
  utsname names{};
  ::uname(&names);
  return {kHostOrder, 8 * static_cast<unsigned>(sizeof(long)), names.machine};
}

}  // namespace

PreparedCalls prepare_calls(const std::vector<CallRequest>& requests, const std::vector<std::string>& shown,
                            const std::string& folder, const std::string& kernel_types) {
  const CallAbi abi = running_abi();
  const Btf kernel(kernel_types.empty() ? folder + "/vmlinux" : kernel_types);
  std::map<std::string, std::optional<Btf>> modules;
  PreparedCalls prepared;
  TypeCopier copier;
  std::vector<std::optional<Error>> refused(shown.size());
  std::vector<bool> found(shown.size());
  for (const CallRequest& request : requests) {
    FunctionValues& function = prepared.functions.emplace_back(FunctionValues{request.function, {}});
    const Btf* types = &kernel;
    if (!request.module.empty()) {
      const auto [module, is_new] = modules.try_emplace(request.module);
      const std::string path = folder + "/" + request.module;
      if (is_new && ::access(path.c_str(), F_OK) == 0) module->second.emplace(path, &kernel);
      types = module->second ? &*module->second : nullptr;
    }
    if (types == nullptr) continue;
    const auto signature = BtfSignatures(*types, {}, abi.word_bits).signature(request.function);
    if (!signature) continue;
    RecordedFunction recorded{request.function, {}};
    const auto record = [&](const std::string& text) {
      const ResolvedValue value = resolve_value(*types, abi, request.function, text);
      const bool is_string = value.path.is_string;
      const int type = is_string ? 0 : copier.copy(*types, value.type, 0);
      recorded.values.push_back({text, is_string, static_cast<std::uint32_t>(type), value.bit_shift, value.bits});
      function.values.push_back(value.path);
    };
    copier.add_function(*types, request.function);
    for (std::size_t i = 0; i < signature->parameters.size(); ++i) {
      const Parameter& parameter = signature->parameters[i];
      const bool is_string = parameter.type.kind == ValueKind::string;
      if (parameter.name.empty() ||
          (register_of(*signature, abi, i) ? !is_string : !stack_offset_of(*signature, abi, i)))
        continue;
      record(parameter.name);
      if (is_string && i + 1 < signature->parameters.size() && is_count(signature->parameters[i + 1])) {
        function.values.back().counted_by = register_of(*signature, abi, i + 1);
        function.values.back().counted_by_int = 8 * signature->parameters[i + 1].type.bytes < abi.word_bits;
      }
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
      try {
        record(shown[i]);
        found[i] = true;
      } catch (const Error& error) {
        if (!refused[i]) refused[i] = error;
      }
    }
    if (!recorded.values.empty()) prepared.types.functions.push_back(std::move(recorded));
  }
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (!found[i])
      throw refused[i] ? *refused[i] : Error(fmt::format("Cannot show {}: no function's types are known", shown[i]));
  prepared.types.btf = copier.bytes();
  return prepared;
}

}  // namespace kmt
