// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/initial_sections.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/tracedat/layout.hpp"

namespace kmt::tracedat {

namespace {

constexpr std::uint16_t kBtfMagic = 0xEB9F;  // Documentation/bpf/btf.rst, Linux 6.18

}  // namespace

void read_header_info(ByteReader& in, KernelDescription& kernel) {
  const auto expect = [&in](std::string_view tag) {
    const std::uint64_t at = in.file_offset();
    if (in.text(tag.size()) == tag) return;
    throw Error(fmt::format("Expected \"{}\"", tag.substr(0, tag.size() - 1))).at({{}, {}, at});
  };
  expect(std::string_view("header_page\0", 12));
  kernel.header_page = in.text(in.u64());
  expect(std::string_view("header_event\0", 13));
  kernel.header_event = in.text(in.u64());
}

void read_ftrace_formats(ByteReader& in, KernelDescription& kernel) {
  for (std::uint32_t left = in.u32(); left > 0; --left)
    kernel.formats.push_back({"ftrace", std::string(in.text(in.u64()))});
}

void read_event_formats(ByteReader& in, KernelDescription& kernel) {
  for (std::uint32_t systems = in.u32(); systems > 0; --systems) {
    const std::string system(in.c_string());
    for (std::uint32_t left = in.u32(); left > 0; --left)
      kernel.formats.push_back({system, std::string(in.text(in.u64()))});
  }
}

void read_kallsyms(ByteReader& in, KernelDescription& kernel) { kernel.kallsyms = std::string(in.text(in.u32())); }
void read_printk(ByteReader& in, KernelDescription& kernel) { kernel.printk_formats = in.text(in.u32()); }
void read_cmdlines(ByteReader& in, KernelDescription& kernel) { kernel.saved_cmdlines = in.text(in.u64()); }

void read_btf(ByteReader& in, KernelDescription& kernel) {
  // A size of 4 or 8 bytes may precede the BTF data. The magic number shows where the data starts, and the BTF header
  // has its length.
  const Bytes body = in.bytes(in.remaining());
  for (const std::size_t at : {std::size_t{8}, std::size_t{4}, std::size_t{0}}) {
    if (at + 2 > body.size() || load<std::uint16_t>(body.data() + at, kernel.byte_order) != kBtfMagic) continue;
    kernel.call_types.btf.assign(body.begin() + static_cast<std::ptrdiff_t>(at), body.end());
    return;
  }
  throw Error("It is not BTF");
}

void read_tracing_data(Bytes bytes, std::uint64_t offset, KernelDescription& kernel, Findings& findings) {
  try {
    ByteReader in(bytes, kernel.byte_order, offset);
    if (in.text(kMagic.size()) != kMagic) throw Error("Expected the start of a trace.dat").at({{}, {}, offset});
    const std::string_view version = in.c_string();
    if (version != "0.5" && version != "0.6")
      throw Error(fmt::format("Unknown version \"{}\"", printable(version))).at({{}, {}, offset + kMagic.size()});
    in.skip(1);  // skip the byte order, because the header of the perf.data has it too
    kernel.long_bytes = in.u8();
    kernel.page_size = in.u32();
    read_header_info(in, kernel);
    read_ftrace_formats(in, kernel);
    read_event_formats(in, kernel);
    read_kallsyms(in, kernel);
    read_printk(in, kernel);
    if (version != "0.5") read_cmdlines(in, kernel);
  } catch (const Error& error) {
    findings.add(
        {Imperfection::damaged_section, fmt::format("tracing data: {}", error.what()), {}, error.place().offset, {}});
  }
}

}  // namespace kmt::tracedat
