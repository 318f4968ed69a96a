// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/format_text.hpp"

#include <fmt/format.h>

namespace kmt {

namespace {

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string declaration_of(const TextField& field) {
  if (field.is_text) return "__data_loc char[] " + field.name;
  const bool is_array = field.element_bytes != 0;
  const unsigned bytes = is_array ? field.element_bytes : field.bytes;
  const char* const types[] = {"char", "short", "int", "long long"};
  return fmt::format("{}{}{}{} {}", is_array ? "__data_loc " : "", field.is_signed ? "" : "unsigned ",
                     types[bytes == 8 ? 3 : bytes / 2], is_array ? "[]" : "", field.name);
}

// Returns the format specifier that the kernel uses for a field of this name.
const char* print_of(const TextField& field) {
  if (field.is_text) return "%s";
  const bool is_long = field.bytes == 8;
  for (const char* const name : {"call_site", "ptr", "page", "pfn", "addr", "va_start", "gfp_flags"})
    if (field.name == name) return is_long ? "0x%llx" : "0x%x";
  if (field.is_signed) return is_long ? "%lld" : "%d";
  return is_long ? "%llu" : "%u";
}

std::string flags_argument(const std::vector<FlagName>& flags) {
  std::string pairs;
  for (const FlagName& flag : flags)
    pairs += fmt::format("{}{{{:#x}, \"{}\"}}", pairs.empty() ? "" : ", ", flag.bits, flag.name);
  return fmt::format("(REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", {}) : \"none\"", pairs);
}

}  // namespace

std::vector<unsigned> offsets_of(const std::vector<TextField>& fields) {
  std::vector<unsigned> offsets;
  unsigned offset = kCommonBytes;
  for (const TextField& field : fields) {
    offset = (offset + field.bytes - 1) / field.bytes * field.bytes;
    offsets.push_back(offset);
    offset += field.bytes;
  }
  offsets.push_back(offset);
  return offsets;
}

std::string format_text(const std::string& name, unsigned id, const std::vector<TextField>& fields,
                        const std::vector<FlagName>& gfp_flags) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n{}", name, id, kCommonFields);
  const std::vector<unsigned> offsets = offsets_of(fields);
  std::string print;
  std::string values;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const TextField& field = fields[i];
    text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{:d};\n", declaration_of(field), offsets[i],
                        field.bytes, field.is_signed || field.is_text);
    if (field.element_bytes != 0) continue;  // the print format omits arrays
    const bool by_name = field.name == "gfp_flags" && !gfp_flags.empty();
    print += fmt::format("{}{}={}", print.empty() ? "" : " ", field.name, by_name ? "%s" : print_of(field));
    values += field.is_text ? fmt::format(", __get_str({})", field.name)
              : by_name     ? ", " + flags_argument(gfp_flags)
                            : fmt::format(", REC->{}", field.name);
  }
  return fmt::format("{}\nprint fmt: \"{}\"{}\n", text, print, values);
}

namespace {

FormatText describe_stack(const char* name, const char* in_front, unsigned callers, unsigned id, unsigned long_bytes) {
  return {"ftrace", fmt::format("name: {}\nID: {}\nformat:\n{}"
                                "\tfield:{};\toffset:{};\tsize:4;\tsigned:1;\n"
                                "\tfield:unsigned long caller[{}];\toffset:{};\tsize:{};\tsigned:0;\n\n"
                                "print fmt: \"%d\", REC->{}\n",
                                name, id, kCommonFields, in_front, kCommonBytes, callers, kCommonBytes + long_bytes,
                                callers * long_bytes,
                                std::string_view(in_front).substr(std::string_view(in_front).rfind(' ') + 1))};
}

}  // namespace

FormatText describe_kernel_stack(unsigned id, unsigned long_bytes) {
  return describe_stack("kernel_stack", "int size", 8, id, long_bytes);
}

FormatText describe_user_stack(unsigned id, unsigned long_bytes) {
  constexpr unsigned kMostCallers = 256;
  return describe_stack("user_stack", "unsigned int tgid", kMostCallers, id, long_bytes);
}

std::string header_page_text(unsigned long_bytes, unsigned page_bytes) {
  const unsigned data = 8 + long_bytes;
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      long_bytes, data, page_bytes - data);
}

std::string header_event_text() {
  return "# compressed entry header\n"
         "\ttype_len    :    5 bits\n"
         "\ttime_delta  :   27 bits\n"
         "\tarray       :   32 bits\n";
}

}  // namespace kmt
