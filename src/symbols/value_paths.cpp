// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/value_paths.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/call_signatures.hpp"
#include "trace/calls/stack_arguments.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostNesting = 16;    // maximum nesting depth of unnamed structures
constexpr std::size_t kMostNames = 200;  // maximum number of names listed in a message
// maximum number of members examined, including members of nested unnamed structures
constexpr unsigned kMostLooks = 1u << 16;
constexpr std::uint64_t kMostOffset = 1u << 30;

// True for system calls, and for functions to which system calls pass pointers to user memory.
bool takes_user_strings(const std::string& function) {
  constexpr const char* kGlobs[] = {"ksys_*",     "do_sys_*",      "__do_sys_*", "__se_sys_*",         "getname",
                                    "do_getname", "getname_flags", "user_path*", "strncpy_from_user*", "vfs_write"};
  return std::ranges::any_of(kGlobs, [&](const char* glob) { return glob_match(glob, function); });
}

bool is_composite(const btf_type* type) { return type != nullptr && btf_is_composite(type); }

void list_members(const Btf& btf, const btf_type& type, unsigned nesting, unsigned& looks,
                  std::vector<std::string>& names) {
  const btf_member* const members = btf_members(&type);
  for (unsigned i = 0; i < btf_vlen(&type) && names.size() < kMostNames && looks > 0; ++i) {
    --looks;
    const std::string_view name = btf.name(members[i].name_off);
    const btf_type* const inner = btf.strip(members[i].type).type;
    if (!name.empty())
      names.push_back(printable(name));
    else if (nesting < kMostNesting && is_composite(inner))
      list_members(btf, *inner, nesting + 1, looks, names);
  }
}

std::string member_list(const Btf& btf, const btf_type& type) {
  std::vector<std::string> names;
  unsigned looks = kMostLooks;
  list_members(btf, type, 0, looks, names);
  return fmt::format("Its members: {}{}", fmt::join(names, ", "), names.size() < kMostNames ? "" : ", …");
}

struct Member {
  std::uint32_t type = 0;
  std::uint64_t bit_offset = 0;
  std::uint8_t bits = 0;  // size of a bit field in bits; 0 for other members
};

std::optional<Member> find_member(const Btf& btf, const btf_type& type, std::string_view name, unsigned nesting,
                                  unsigned& looks) {
  const btf_member* const members = btf_members(&type);
  for (unsigned i = 0; i < btf_vlen(&type) && looks > 0; ++i) {
    --looks;
    Member member{members[i].type, btf_member_bit_offset(&type, i),
                  static_cast<std::uint8_t>(btf_member_bitfield_size(&type, i))};
    const std::string_view own = btf.name(members[i].name_off);
    const btf_type* const inner = btf.strip(member.type).type;
    if (own == name) {
      // In older BTF, only the integer type of a bit field has its size in bits.
      if (member.bits == 0 && inner != nullptr && btf_is_int(inner) && btf_int_bits(inner) != 8 * inner->size) {
        member.bits = btf_int_bits(inner);
        member.bit_offset += btf_int_offset(inner);
      }
      return member;
    }
    if (!own.empty() || nesting >= kMostNesting || !is_composite(inner)) continue;
    if (std::optional<Member> found = find_member(btf, *inner, name, nesting + 1, looks)) {
      found->bit_offset += member.bit_offset;
      return found;
    }
  }
  return std::nullopt;
}

class Resolver {
 public:
  Resolver(const Btf& btf, const CallAbi& abi, const std::string& function, std::string_view text)
      : btf_(btf), abi_(abi), function_(function), text_(text), rest_(text) {}

  ResolvedValue resolve() {
    begin();
    while (!rest_.empty()) {
      if (bits_ != 0) fail(fmt::format("{} is a bit field and has no members", before()));
      if (take("->"))
        arrow();
      else if (take("."))
        member();
      else if (take("["))
        element();
      else
        fail(fmt::format("after \"{}\" there must be ->, . or [", before()));
    }
    return end();
  }

 private:
  [[noreturn]] void fail(const std::string& why, const std::string& hint = {}) const {
    Error error(fmt::format("Cannot show {} of {}(): {}", printable(text_), printable(function_), why));
    if (!hint.empty()) error.hint(hint);
    throw error;
  }

  std::string before() const { return printable(text_.substr(0, text_.size() - rest_.size())); }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    here_ = before();
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view word() {
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const auto end = static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_part) - rest_.begin());
    const std::string_view name = rest_.substr(0, end);
    if (name.empty()) fail(fmt::format("a name must follow \"{}\"", before()));
    rest_.remove_prefix(end);
    return name;
  }

  void begin() {
    const btf_type* const prototype = btf_.prototype(function_);
    if (prototype == nullptr) fail("the kernel's types do not have the function");
    const std::string_view name = word();
    const btf_param* const parameters = btf_params(prototype);
    std::vector<std::string> names;
    for (unsigned i = 0; i < btf_vlen(prototype) && names.size() < kMostNames; ++i) {
      const std::string_view own = btf_.name(parameters[i].name_off);
      names.push_back(printable(own));
      if (own != name) continue;
      type_ = parameters[i].type;
      const auto signature = BtfSignatures(btf_, {}, abi_.word_bits).signature(function_);
      const auto in = register_of(*signature, abi_, i);
      const auto on_stack = stack_offset_of(*signature, abi_, i);
      if (!in && !on_stack) fail(fmt::format("{} is in no register", printable(name)));
      value_.path.argument = in ? *in : kStackPointer;
      if (in) return;
      in_memory_ = true;
      offset_ = *on_stack;
      return;
    }
    fail(fmt::format("it has no argument {}", printable(name)),
         names.empty() ? "It has no arguments" : fmt::format("Its arguments: {}", fmt::join(names, ", ")));
  }

  // Dereferences the current pointer: the current value becomes the value to which it points.
  void follow(const btf_type& pointer) {
    if (in_memory_) value_.path.offsets.push_back(static_cast<std::uint32_t>(offset_));
    in_memory_ = true;
    offset_ = 0;
    value_.path.in_user_memory = value_.path.in_user_memory || btf_.strip(pointer.type).is_user;
    type_ = pointer.type;
  }

  void arrow() {
    const btf_type* const here = btf_.strip(type_).type;
    if (here == nullptr || !btf_is_ptr(here))
      fail(fmt::format("{} is {}, not a pointer", here_, type_text(btf_, type_)),
           is_composite(here) ? "Write . instead of ->" : "");
    follow(*here);
    step_into();
  }

  void member() {
    const btf_type* const here = btf_.strip(type_).type;
    if (here != nullptr && btf_is_ptr(here))
      fail(fmt::format("{} is {}", here_, type_text(btf_, type_)), "Write -> instead of .");
    if (!in_memory_) fail(fmt::format("{} is in registers, and has no address", here_));
    step_into();
  }

  void step_into() {
    const btf_type* const here = btf_.strip(type_).type;
    const std::string_view name = word();
    if (here != nullptr && btf_is_fwd(here))
      fail(fmt::format("the kernel's types do not have the members of {}", type_text(btf_, type_)));
    if (!is_composite(here)) fail(fmt::format("{} is of type {}, which has no members", here_, type_text(btf_, type_)));
    unsigned looks = kMostLooks;
    const std::optional<Member> found = find_member(btf_, *here, name, 0, looks);
    if (!found)
      fail(fmt::format("{} has no member {}", type_text(btf_, type_), printable(name)), member_list(btf_, *here));
    type_ = found->type;
    bits_ = found->bits;
    bit_offset_ = 8 * offset_ + found->bit_offset;
    add(found->bit_offset / 8);
  }

  void element() {
    const auto index = take_number<std::uint64_t>(rest_);
    if (!index || !rest_.starts_with(']')) fail(fmt::format("\"{}[\" must be followed by a number and ]", here_));
    rest_.remove_prefix(1);
    const btf_type* const here = btf_.strip(type_).type;
    if (here != nullptr && btf_is_ptr(here)) {
      follow(*here);
    } else if (here != nullptr && btf_is_array(here)) {
      if (btf_array(here)->nelems != 0 && index >= btf_array(here)->nelems)
        fail(fmt::format("{} has {} elements", here_, btf_array(here)->nelems));
      type_ = btf_array(here)->type;
    } else {
      fail(fmt::format("{} is {}, neither an array nor a pointer", here_, type_text(btf_, type_)));
    }
    const auto size = size_of(type_);
    if (!size) fail(fmt::format("{} has no size", type_text(btf_, type_)));
    if (*index > kMostOffset) fail("its offset is too large");
    add(*index * *size);
  }

  std::optional<std::uint64_t> size_of(std::uint32_t id) const {
    const btf_type* const here = btf_.strip(id).type;
    if (here != nullptr && btf_is_ptr(here)) return abi_.word_bits / 8;
    return btf_.size_of(id);
  }

  void add(std::uint64_t bytes) {
    if (bytes > kMostOffset || offset_ + bytes > kMostOffset) fail("its offset is too large");
    offset_ += bytes;
  }

  ResolvedValue end() {
    ValuePath& path = value_.path;
    path.text = text_;
    const Btf::Stripped stripped = btf_.strip(type_);
    const btf_type* const type = stripped.type;
    value_.type = type_;
    here_ = before();
    if (type == nullptr) fail(fmt::format("{} is {}", here_, type_text(btf_, type_)));
    switch (btf_kind(type)) {
      case BTF_KIND_PTR:
        if (btf_.is_character(type->type)) {
          follow(*type);
          return string(0);
        }
        return number(abi_.word_bits / 8);
      case BTF_KIND_ARRAY:
        if (in_memory_ && btf_.is_character(btf_array(type)->type)) return string(btf_array(type)->nelems);
        fail(fmt::format("{} is {}", here_, type_text(btf_, type_)), "Name an element: [0]");
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION:
        fail(fmt::format("{} is {}: name one of its members", here_, type_text(btf_, type_)), member_list(btf_, *type));
      case BTF_KIND_INT:
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64: return number(type->size);
      default: fail(fmt::format("{} is {}, which cannot be shown", here_, type_text(btf_, type_)));
    }
  }

  ResolvedValue string(std::uint32_t most) {
    value_.path.is_string = true;
    // The first pointer argument of these functions points to user memory. In kernels built with gcc, BTF does not show
    // this, because there are no type tags.
    if (value_.path.offsets.empty() && takes_user_strings(function_)) value_.path.in_user_memory = true;
    value_.path.size = most;
    value_.path.offsets.push_back(static_cast<std::uint32_t>(offset_));
    return value_;
  }

  ResolvedValue number(std::uint32_t size) {
    if (size != 1 && size != 2 && size != 4 && size != 8)
      fail(fmt::format("{} has {} bytes, which cannot be shown", here_, size));
    value_.path.size = size;
    if (bits_ != 0) {
      const std::uint64_t whole = std::uint64_t{8} * size;
      // Find the integer that contains the bit field. BTF counts bits in the order of memory, which starts with the
      // highest bit on big-endian machines.
      offset_ = bit_offset_ / 8 / size * size;
      const std::uint64_t from = bit_offset_ - 8 * offset_;
      if (from + bits_ > whole) fail(fmt::format("{} is a bit field that lies in two words", here_));
      value_.bits = bits_;
      value_.bit_shift = static_cast<std::uint8_t>(abi_.byte_order == ByteOrder::big ? whole - from - bits_ : from);
    }
    if (in_memory_) value_.path.offsets.push_back(static_cast<std::uint32_t>(offset_));
    return value_;
  }

  const Btf& btf_;
  const CallAbi& abi_;
  const std::string& function_;
  std::string_view text_;
  std::string_view rest_;
  std::string here_;  // the part of the path that was handled so far, for messages
  ResolvedValue value_;
  std::uint32_t type_ = 0;
  bool in_memory_ = false;
  std::uint64_t offset_ = 0;
  std::uint64_t bit_offset_ = 0;
  std::uint8_t bits_ = 0;
};

}  // namespace

ResolvedValue resolve_value(const Btf& btf, const CallAbi& abi, const std::string& function, const std::string& text) {
  return Resolver(btf, abi, function, text).resolve();
}

}  // namespace kmt
