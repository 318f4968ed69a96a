// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/calls/signature.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/calls/stack_arguments.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

namespace {

std::string ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += ascii({&c, 1});
  }
  return out + '"';
}

std::uint64_t extended(std::uint64_t value, unsigned bits, bool is_signed) {
  if (bits == 0 || bits >= 64) return value;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  value &= mask;
  return is_signed && (value >> (bits - 1)) != 0 ? value | ~mask : value;
}

std::string flags_text(const NamedFlags& flags, std::uint64_t value) {
  const std::uint64_t rest = (value & flags.number_mask) == 0 ? value & ~flags.number_mask : value;
  const bool is_zero = !flags.zero.empty() && (value & flags.number_mask) == 0;
  std::string text = is_zero ? flags.zero : "";
  if (rest == 0) return text;
  return text + (is_zero ? "|" : "") + gfp_text(flags.names, rest);
}

void set_number(CallValue& value, const ValueType& type, std::uint64_t raw, unsigned bits) {
  value.kind = type.kind;
  value.is_signed = type.is_signed;
  value.is_hex = type.is_hex;
  value.is_octal = type.is_octal;
  value.is_long = type.is_long;
  value.bits = extended(raw, bits, type.is_signed);
  if (type.kind == ValueKind::boolean) value.bits = value.bits != 0 ? 1 : 0;
  if (type.enumerators) {
    const auto named =
        std::ranges::find(*type.enumerators, value.bits, [](const auto& enumerator) { return enumerator.first; });
    if (named != type.enumerators->end()) value.text = named->second;
  }
  if (type.flags && value.text.empty()) value.flags = flags_text(*type.flags, value.bits);
  value.is_failure = type.flags && (value.bits & type.flags->errors) != 0;
}

void set_number(CallValue& value, const ValueType& type, const CallAbi& abi, std::uint64_t raw, unsigned bits) {
  set_number(value, type, raw, bits);
  if (type.is_gfp && abi.gfp_flags != nullptr && value.bits != 0) value.flags = gfp_text(*abi.gfp_flags, value.bits);
}

// Returns the text of a structure, such as "{kernel=0x7ffe…, is_kernel=false}", from its bytes in memory.
std::string members_text(const std::vector<StructureMember>& members, const CallAbi& abi, Bytes bytes) {
  std::string text;
  for (const StructureMember& member : members) {
    if (member.offset + std::size_t{member.type.bytes} > bytes.size()) continue;
    const std::uint64_t raw = load_sized(bytes.data() + member.offset, member.type.bytes, abi.byte_order);
    CallValue value;
    set_number(value, member.type, abi, raw >> member.bit_shift,
               member.bits != 0 ? member.bits : 8 * member.type.bytes);
    text += fmt::format("{}{}={}", text.empty() ? "{" : ", ", ascii(member.name), value_text(value, false));
  }
  return text.empty() ? "{}" : text + '}';
}

// Takes arguments from the argument registers in the order of the ABI.
class Registers {
 public:
  Registers(const CallAbi& abi, std::span<const std::uint64_t> registers) : abi_(abi), registers_(registers) {}

  bool any_left() const { return next_ < registers_.size(); }
  // Returns the first register of the last argument that take() returned. Empty if this argument was not in a register.
  std::optional<unsigned> last() const { return last_; }

  CallValue take(const Parameter& parameter) {
    CallValue value;
    value.name = parameter.name;
    last_.reset();
    const ValueType& type = parameter.type;
    if (type.kind == ValueKind::structure) {
      take_structure(type, value);
    } else if (type.kind == ValueKind::string) {
      set_number(value, {.kind = ValueKind::pointer}, take_words(1), abi_.word_bits);
    } else if (type.kind != ValueKind::unknown) {
      const unsigned words = type.bytes > word_bytes() ? 2 : 1;
      // AAPCS32: an argument in two registers starts at an even register.
      if (words == 2 && abi_.arch.starts_with("arm")) next_ += next_ % 2;
      if (next_ + words > registers_.size())
        next_ = registers_.size();
      else
        set_number(value, type, abi_, take_words(words), 8 * type.bytes);
    }
    return value;
  }

 private:
  unsigned word_bytes() const { return abi_.word_bits / 8; }

  std::uint64_t take_words(unsigned words) {
    last_ = static_cast<unsigned>(next_);
    const std::uint64_t first = registers_[next_++];
    if (words == 1) return first;
    const std::uint64_t second = registers_[next_++];
    return abi_.byte_order == ByteOrder::big ? first << 32 | (second & 0xFFFFFFFF)
                                             : second << 32 | (first & 0xFFFFFFFF);
  }

  // Takes a structure that is passed by value. x86-64 (psABI) uses up to two registers, or the stack if too few
  // registers are left. AArch64 (AAPCS64) also uses up to two registers, but passes larger structures by reference.
  // s390x uses one register for 1, 2, 4 or 8 bytes, otherwise a reference. On other machines, a structure is decoded
  // only if it fits into one register and the machine is little-endian. Otherwise, the raw registers are shown.
  void take_structure(const ValueType& type, CallValue& value) {
    const std::uint32_t bytes = type.bytes;
    if (bytes == 0) return;
    const std::size_t words = (bytes + word_bytes() - 1) / word_bytes();
    const std::size_t left = registers_.size() - next_;
    const bool x86 = abi_.arch == "x86_64";
    if (x86 && (words > 2 || words > left)) return;
    const bool by_reference = abi_.arch == "aarch64" ? words > 2
                              : abi_.arch == "s390x" ? bytes > 8 || (bytes & (bytes - 1)) != 0
                                                     : false;
    value.kind = ValueKind::structure;
    const bool is_one_word = words == 1 && abi_.byte_order == ByteOrder::little;
    const bool is_known = x86 || abi_.arch == "aarch64" || abi_.arch == "s390x" || is_one_word;
    if (type.members && is_known && !by_reference && words <= std::min(left, std::size_t{2})) {
      value.text = members_text(*type.members, abi_, bytes_of_structure(bytes, words));
      return;
    }
    value.text = by_reference ? "(STRUCT *)[" : "(STRUCT)[";
    const std::size_t shown = std::min(by_reference ? 1 : words, left);
    for (std::size_t i = 0; i < shown; ++i) value.text += fmt::format("{}{:#x}", i > 0 ? ":" : "", registers_[next_++]);
    value.text += shown < words && !by_reference ? "...]" : "]";
  }

  // Takes a structure of up to two words from the registers. On big-endian machines, a structure that is shorter than a
  // word is at the end of the register.
  Bytes bytes_of_structure(std::uint32_t bytes, std::size_t words) {
    const bool is_big = abi_.byte_order == ByteOrder::big;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t word = registers_[next_++];
      for (std::size_t byte = 0; byte < 8; ++byte)
        memory_[8 * i + byte] = static_cast<std::uint8_t>(word >> 8 * (is_big ? 7 - byte : byte));
    }
    return Bytes(memory_).subspan(is_big && bytes < 8 ? 8 - bytes : 0, bytes);
  }

  const CallAbi& abi_;
  std::span<const std::uint64_t> registers_;
  std::array<std::uint8_t, 16> memory_{};
  std::size_t next_ = 0;
  std::optional<unsigned> last_;
};

// Iterates over the values that were read from memory, in the order in which they were recorded.
class Recorded {
 public:
  Recorded(Bytes bytes, ByteOrder order) : bytes_(bytes), order_(order), tried_(!bytes.empty()) {}

  std::optional<Bytes> next() {
    was_refused_ = false;
    was_left_out_ = tried_;
    if (bytes_.size() < 2) return std::nullopt;
    const auto length = load<std::uint16_t>(bytes_.data(), order_);
    bytes_ = bytes_.subspan(2);
    was_refused_ = length == kValueNotRead;
    was_left_out_ = length == kValueLeftOut;
    if (was_refused_ || was_left_out_) return std::nullopt;
    if (length > bytes_.size()) {
      bytes_ = {};
      return std::nullopt;
    }
    const Bytes value = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return value;
  }
  // Sets the reason why next() returned nothing: the value could not be read, did not fit into the record, or was not
  // recorded.
  void say_why(CallValue& value) const {
    value.is_unreadable = was_refused_;
    value.is_left_out = was_left_out_;
  }

 private:
  Bytes bytes_;
  ByteOrder order_;
  bool tried_;
  bool was_refused_ = false;
  bool was_left_out_ = false;
};

CallValue recorded_value(const RecordedValueType& recorded, Bytes bytes, const CallAbi& abi) {
  CallValue value;
  value.name = recorded.text;
  if (recorded.type.kind == ValueKind::string) {
    value.kind = ValueKind::string;
    value.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const std::size_t end = value.text.find('\0'); end != std::string::npos) value.text.resize(end);
    value.is_cut = value.text.size() >= kMostStringBytes;
    return value;
  }
  const std::size_t size = bytes.size();
  if (size != recorded.type.bytes || (size != 1 && size != 2 && size != 4 && size != 8)) return value;
  const std::uint64_t raw = load_sized(bytes.data(), static_cast<unsigned>(size), abi.byte_order);
  set_number(value, recorded.type, abi, recorded.bit_shift < 64 ? raw >> recorded.bit_shift : 0,
             recorded.bits != 0 ? recorded.bits : static_cast<unsigned>(8 * size));
  return value;
}

}  // namespace

CallValues call_values(const CallSignature& signature, const CallAbi& abi, std::span<const std::uint64_t> registers,
                       Bytes recorded_bytes) {
  CallValues result;
  Registers in(abi, registers);
  const unsigned all_registers = argument_registers(abi.arch);
  for (const Parameter& parameter : signature.parameters) {
    if (registers.empty()) break;  // no registers were recorded
    CallValue& value = result.values.emplace_back(in.any_left() ? in.take(parameter) : CallValue{parameter.name});
    const bool has_value = parameter.type.kind != ValueKind::unknown && parameter.type.bytes != 0;
    if (value.kind != ValueKind::unknown || !(has_value || parameter.type.kind == ValueKind::string)) continue;
    value.is_left_out = true;
    value.is_on_stack = all_registers != 0 && registers.size() >= all_registers;
  }
  result.more = signature.more || result.values.size() < signature.parameters.size();
  result.arguments = result.values.size();

  Recorded recorded(recorded_bytes, abi.byte_order);
  for (const RecordedValueType& type : signature.recorded) {
    const std::optional<Bytes> bytes = recorded.next();
    const auto end = result.values.begin() + static_cast<std::ptrdiff_t>(result.arguments);
    const auto argument =
        std::find_if(result.values.begin(), end, [&](const CallValue& value) { return value.name == type.text; });
    if (argument == end) {
      result.values.push_back(bytes ? recorded_value(type, *bytes, abi) : CallValue{type.text});
      if (!bytes) recorded.say_why(result.values.back());
    } else if (bytes) {
      *argument = recorded_value(type, *bytes, abi);
    } else if (argument->bits != 0) {
      recorded.say_why(*argument);  // a string whose text is unknown is shown as a pointer
    }
  }
  return result;
}

void add_late_values(CallValues& values, const CallSignature& signature, const CallAbi& abi, Bytes late) {
  while (late.size() >= 4) {
    const auto number = load<std::uint16_t>(late.data(), abi.byte_order);
    const auto length = load<std::uint16_t>(late.data() + 2, abi.byte_order);
    late = late.subspan(4);
    if (number >= signature.recorded.size() || length > late.size()) return;
    const RecordedValueType& type = signature.recorded[number];
    const auto found = std::ranges::find(values.values, type.text, &CallValue::name);
    if (found != values.values.end()) {
      *found = recorded_value(type, late.first(length), abi);
      found->is_late = true;
    }
    late = late.subspan(length);
  }
}

std::optional<unsigned> register_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter) {
  constexpr std::uint64_t kNone[kArgumentRegisters] = {};
  Registers in(abi, kNone);
  for (std::size_t i = 0; i < signature.parameters.size() && in.any_left(); ++i) {
    in.take(signature.parameters[i]);
    if (i == parameter) return in.last();
  }
  return std::nullopt;
}

std::optional<CallValue> result_value(const ValueType& type, const CallAbi& abi, std::uint64_t value) {
  if (type.kind == ValueKind::nothing || type.kind == ValueKind::unknown || type.kind == ValueKind::structure)
    return std::nullopt;
  CallValue result;
  if (type.kind == ValueKind::string)
    set_number(result, {.kind = ValueKind::pointer}, value, abi.word_bits);
  else if (type.bytes > abi.word_bits / 8)
    return std::nullopt;  // the result is in two registers, but only one was recorded
  else
    set_number(result, type, value, 8 * type.bytes);
  const bool may_be_error = result.kind == ValueKind::pointer || type.is_long;
  if (may_be_error && abi.word_bits < 64 && result.bits > 0xFFFFFFFF - kMostErrno)
    result.bits |= 0xFFFFFFFF00000000;  // ERR_PTR of a 32-bit kernel: extend the sign to 64 bits
  return result;
}

std::optional<int> error_of(const CallValue& value) {
  const bool may_be =
      value.kind == ValueKind::pointer || (value.kind == ValueKind::integer && (value.is_signed || value.is_long));
  const auto number = static_cast<std::int64_t>(value.bits);
  if (!may_be || number >= 0 || number < -kMostErrno) return std::nullopt;
  return static_cast<int>(number);
}

std::string error_name(int error) {
  // Error codes that are only used inside the kernel (include/linux/errno.h, Linux 6.18). The C library has no names
  // for them.
  constexpr std::pair<int, const char*> kInternal[] = {
      {512, "ERESTARTSYS"},
      {513, "ERESTARTNOINTR"},
      {514, "ERESTARTNOHAND"},
      {515, "ENOIOCTLCMD"},
      {516, "ERESTART_RESTARTBLOCK"},
      {517, "EPROBE_DEFER"},
      {518, "EOPENSTALE"},
      {519, "ENOPARAM"},
      {521, "EBADHANDLE"},
      {522, "ENOTSYNC"},
      {523, "EBADCOOKIE"},
      {524, "ENOTSUPP"},
      {525, "ETOOSMALL"},
      {526, "ESERVERFAULT"},
      {527, "EBADTYPE"},
      {528, "EJUKEBOX"},
      {529, "EIOCBQUEUED"},
      {530, "ERECALLCONFLICT"},
      {531, "ENOGRACE"},
  };
  for (const auto& [number, name] : kInternal)
    if (number == -error) return name;
  const char* const name = strerrorname_np(-error);
  return name != nullptr ? name : "";
}

std::optional<int> error_number(std::string_view name) {
  for (int error = -1; error >= -kMostErrno && !name.empty(); --error)
    if (error_name(error) == name) return error;
  return std::nullopt;
}

std::string value_text(const CallValue& value, bool as_result) {
  switch (value.kind) {
    case ValueKind::nothing: return {};
    case ValueKind::unknown: return "?";
    case ValueKind::boolean: return value.bits != 0 ? "true" : "false";
    case ValueKind::string: return quoted(value.text) + (value.is_cut ? "…" : "");
    case ValueKind::structure: return value.text;
    case ValueKind::enumeration:
      if (!value.text.empty()) return ascii(value.text);
      break;
    case ValueKind::integer:
    case ValueKind::pointer: break;
  }
  if (as_result)
    if (const auto error = error_of(value)) {
      const std::string name = error_name(*error);
      return name.empty() ? fmt::format("{}", *error) : fmt::format("{} ({})", *error, name);
    }
  if (!value.flags.empty()) return fmt::format("{:#x} ({})", value.bits, ascii(value.flags));
  if (value.is_octal) return fmt::format("{:#o}", value.bits);
  if (value.kind == ValueKind::pointer) return value.bits == 0 ? "NULL" : fmt::format("{:#x}", value.bits);
  if (value.is_signed || value.kind == ValueKind::enumeration) {
    const std::string name = value.text.empty() ? "" : fmt::format(" ({})", ascii(value.text));
    return fmt::format("{}{}", static_cast<std::int64_t>(value.bits), name);
  }
  return value.is_hex && value.bits >= 10 ? fmt::format("{:#x}", value.bits) : fmt::format("{}", value.bits);
}

namespace {

// True if a value was not read because the path to it contains a NULL pointer: `file->f_flags` if `file` is NULL.
bool is_after_null(const CallValue& value, const CallValues& values) {
  if (value.kind != ValueKind::unknown) return false;
  const std::string base = value.name.substr(0, value.name.find_first_of("-.["));
  const auto end = values.values.begin() + static_cast<std::ptrdiff_t>(values.arguments);
  const auto found = std::find_if(values.values.begin(), end, [&](const CallValue& one) { return one.name == base; });
  return found != end && found->kind == ValueKind::pointer && found->bits == 0;
}

}  // namespace

std::vector<NamedText> value_texts(const CallValues& values) {
  std::vector<NamedText> texts;
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    const CallValue& value = values.values[i];
    if (i >= values.arguments && is_after_null(value, values)) continue;
    const char* const how = value.is_late         ? " (read at exit)"
                            : value.is_unreadable ? " (unreadable)"
                            : value.is_left_out   ? " (not recorded)"
                                                  : "";
    if (i < values.arguments && value.kind == ValueKind::unknown && value.is_left_out)
      texts.emplace_back(value.name, value.is_on_stack ? "(on the stack, not recorded)" : "(not recorded)");
    else
      texts.emplace_back(value.name, value_text(value, false) + how);
  }
  return texts;
}

std::string values_text(const CallValues& values) {
  std::vector<std::string> parts;
  for (const auto& [name, text] : value_texts(values)) parts.push_back(name.empty() ? text : ascii(name) + '=' + text);
  if (values.more) parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(values.arguments), "...");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace kmt
