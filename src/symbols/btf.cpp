// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/btf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostSteps = 64;          // limit for the typedefs, qualifiers and tags around a type
constexpr std::size_t kMostNameBytes = 512;  // KSYM_NAME_LEN

// While an object of this class exists, libbpf writes no messages to stderr.
class Silence {
 public:
  Silence() : before_(libbpf_set_print(nullptr)) {}
  ~Silence() { libbpf_set_print(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  libbpf_print_fn_t before_;
};

const char* reason_of(int error) {
  // Some errors of libbpf have numbers for which the C library has no text.
  if (error >= __LIBBPF_ERRNO__START || error == EPROTO)
    return "this is neither BTF nor an ELF file with a section .BTF that can be read on this machine, which may have "
           "another byte order";
  if (error == EINVAL)
    return "the file is damaged or incomplete, or this version of libbpf does not know all of its types";
  return std::strerror(error);
}

}  // namespace

Btf::Btf(Bytes bytes) {
  const Silence silence;
  if (bytes.size() <= UINT32_MAX) btf_.reset(btf__new(bytes.data(), static_cast<std::uint32_t>(bytes.size())));
  if (!btf_) throw Error("The types of calls are damaged: invalid BTF");
  index_functions();
}

Btf::Btf(const std::string& path, const Btf* kernel) {
  const Silence silence;
  btf_.reset(btf__parse_split(path.c_str(), kernel != nullptr ? kernel->btf_.get() : nullptr));
  if (!btf_) {
    const int error = errno;
    throw Error(fmt::format("Cannot read types: {}", reason_of(error)),
                error == EACCES || error == EPERM ? ExitCode::unsupported : ExitCode::bad_input)
        .at({path, {}, {}})
        .hint("Types are in /sys/kernel/btf/vmlinux, and in kernel files that have a section .BTF");
  }
  index_functions();
}

void Btf::index_functions() {
  for (std::uint32_t id = 1, end = btf__type_cnt(btf_.get()); id < end; ++id)
    if (const btf_type* const found = type(id); found != nullptr && btf_is_func(found))
      functions_.emplace(name_of(*found), found->type);
}

const btf_type* Btf::type(std::uint32_t id) const {
  return id != 0 && id < btf__type_cnt(btf_.get()) ? btf__type_by_id(btf_.get(), id) : nullptr;
}

std::string_view Btf::name(std::uint32_t offset) const {
  const char* const text = btf__name_by_offset(btf_.get(), offset);
  return text != nullptr ? std::string_view(text, ::strnlen(text, kMostNameBytes)) : std::string_view();
}

const btf_type* Btf::prototype(std::string_view function) const {
  const auto found = functions_.find(function);
  const btf_type* const prototype = found != functions_.end() ? type(found->second) : nullptr;
  return prototype != nullptr && btf_is_func_proto(prototype) ? prototype : nullptr;
}

std::vector<std::string> Btf::functions() const {
  std::vector<std::string> names;
  for (const auto& [name, prototype] : functions_) names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

Btf::Stripped Btf::strip(std::uint32_t id) const {
  Stripped stripped;
  for (unsigned step = 0; step < kMostSteps; ++step) {
    const btf_type* const here = type(id);
    stripped.id = id;
    stripped.type = here;
    stripped.is_broken = here == nullptr && id != 0;
    if (here == nullptr) return stripped;
    switch (btf_kind(here)) {
      case BTF_KIND_CONST: stripped.is_const = true; break;
      case BTF_KIND_TYPE_TAG: stripped.is_user = stripped.is_user || name_of(*here) == "user"; break;
      case BTF_KIND_TYPEDEF: {
        const std::string_view name = name_of(*here);
        stripped.is_size = stripped.is_size || name == "size_t";
        stripped.is_gfp = stripped.is_gfp || name == "gfp_t";
        stripped.is_mode = stripped.is_mode || name == "umode_t" || name == "mode_t";
        stripped.is_fault_result = stripped.is_fault_result || name == "vm_fault_t";
        break;
      }
      case BTF_KIND_VOLATILE:
      case BTF_KIND_RESTRICT: break;
      default: return stripped;
    }
    id = here->type;
  }
  stripped.type = nullptr;
  stripped.is_broken = true;
  return stripped;
}

std::optional<std::uint64_t> Btf::size_of(std::uint32_t id) const {
  std::uint64_t elements = 1;
  for (unsigned step = 0; step < kMostSteps; ++step) {
    const Stripped stripped = strip(id);
    if (stripped.type == nullptr) return std::nullopt;
    std::uint64_t size = 0;
    switch (btf_kind(stripped.type)) {
      case BTF_KIND_INT:
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
      case BTF_KIND_FLOAT:
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION: size = stripped.type->size; break;
      case BTF_KIND_PTR: size = btf__pointer_size(btf_.get()); break;
      case BTF_KIND_ARRAY:
        elements *= btf_array(stripped.type)->nelems;
        if (elements > UINT32_MAX) return std::nullopt;
        id = btf_array(stripped.type)->type;
        continue;
      default: return std::nullopt;
    }
    return elements * size;
  }
  return std::nullopt;
}

bool Btf::is_character(std::uint32_t id) const {
  const btf_type* const found = strip(id).type;
  return found != nullptr && btf_is_int(found) && found->size == 1 && (btf_int_encoding(found) & BTF_INT_BOOL) == 0;
}

std::string type_text(const Btf& btf, std::uint32_t id) {
  std::string after;
  for (unsigned step = 0; step < kMostSteps; ++step) {
    const btf_type* const type = btf.type(id);
    if (type == nullptr) return "void" + (after.empty() ? after : " " + after);
    const std::string name(btf.name_of(*type));
    const auto named = [&](const char* kind) {
      return kind + (name.empty() ? std::string() : (*kind != 0 ? " " : "") + name) +
             (after.empty() ? after : " " + after);
    };
    switch (btf_kind(type)) {
      case BTF_KIND_PTR: after += '*'; break;
      case BTF_KIND_CONST:
      case BTF_KIND_VOLATILE:
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG: break;
      case BTF_KIND_ARRAY:
        after += fmt::format("[{}]", btf_array(type)->nelems);
        id = btf_array(type)->type;
        continue;
      case BTF_KIND_STRUCT: return named("struct");
      case BTF_KIND_UNION: return named("union");
      case BTF_KIND_FWD: return named(btf_kflag(type) ? "union" : "struct");
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64: return named("enum");
      case BTF_KIND_FUNC_PROTO: return "a function";
      default: return named("");
    }
    id = type->type;
  }
  return "a type that names itself";
}

}  // namespace kmt
