// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/metadata.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ctf/names.hpp"

namespace kmt::ctf {

namespace {

constexpr std::string_view kHead = R"(/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {order};
	packet.header := struct {{
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
	hostname = "{host}";
	domain = "kernel";
	sysname = "{system}";
	kernel_release = "{release}";
	kernel_version = "{version}";
	architecture = "{machine}";
	tracer_name = "kmemtrace";
	tracer_major = 0;
	tracer_minor = 1;
}};

clock {{
	name = "{clock}";
	description = "trace clock {clock_shown}, in nanoseconds";
	freq = 1000000000;
	offset = 0;
}};

typealias integer {{ size = 64; align = 8; signed = false; map = clock.{clock}.value; }} := timestamp_t;

stream {{
	id = 0;
	packet.context := struct {{
		timestamp_t timestamp_begin;
		timestamp_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t cpu_id;
	}};
	event.header := struct {{
		uint16_t id;
		timestamp_t timestamp;
	}};
	event.context := struct {{
		integer {{ size = 32; align = 8; signed = true; }} _tid;
		uint8_t _common_flags;
		uint8_t _common_preempt_count;
	}};
}};
)";

std::string in_quotes(std::string_view text) {
  std::string safe = printable(text);
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c == '"' || c == '\\' || c == '\n'; }, '_');
  return safe;
}

// Replaces characters that a name in TSDL, the language of the metadata, cannot have.
std::string identifier(std::string_view text) {
  std::string word;
  for (const char c : text) word += (c < 0x7F && std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
  return word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? "clock_" + word : word;
}

std::string uuid_text(const Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return text;
}

bool is_hex(std::string_view name) { return name == "call_site" || name == "ptr" || name == "page"; }

std::string integer(unsigned bytes, bool is_signed, bool hex) {
  return fmt::format("integer {{ size = {}; align = 8; signed = {:d}; encoding = none; base = {}; }}", 8 * bytes,
                     is_signed, hex ? 16 : 10);
}

std::string declaration(const WrittenField& written, const std::string& name) {
  const FormatField& field = written.field;
  const std::string element = integer(written.element_size, field.is_signed, is_hex(field.name));
  switch (written.form) {
    case FieldForm::number:
      return fmt::format("{} _{};", integer(field.size, field.is_signed, is_hex(field.name)), name);
    case FieldForm::characters:
      return fmt::format("integer {{ size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }} _{}[{}];", name,
                         field.size);
    case FieldForm::numbers: return fmt::format("{} _{}[{}];", element, name, field.size / written.element_size);
    case FieldForm::text: return fmt::format("string _{};", name);
    default: return fmt::format("uint16_t __{0}_length;\n\t\t{1} _{0}[ __{0}_length ];", name, element);
  }
}

bool is_element(unsigned size) { return std::has_single_bit(size) && size <= 8; }

}  // namespace

std::vector<WrittenField> written_fields(const EventFormat& format) {
  std::vector<WrittenField> written;
  for (const FormatField& field : format.fields) {
    if (field.name.starts_with("common_")) continue;
    unsigned element = is_element(field.element_size) ? field.element_size : 1;
    const bool is_last = &field == &format.fields.back();
    FieldForm form = FieldForm::number;
    if (field.is_dynamic)
      form = field.is_string ? FieldForm::text : FieldForm::sequence;
    else if (is_last && field.is_array && (field.size == 0 || format.system == "ftrace"))
      form = FieldForm::rest;  // the array extends to the end of the record
    else if (field.size == 0)
      continue;
    else if (field.is_array && field.is_string)
      form = FieldForm::characters;
    else if (field.is_array || !is_element(field.size))
      form = FieldForm::numbers;
    if (form == FieldForm::numbers && field.size % element != 0) element = 1;
    written.push_back({field, form, element});
  }
  return written;
}

std::string metadata_text(const KernelDescription& kernel, const Uuid& uuid, const std::vector<EventFormat>& formats) {
  using fmt::arg;
  std::string text = fmt::format(kHead, arg("uuid", uuid_text(uuid)),
                                 arg("order", kernel.byte_order == ByteOrder::little ? "le" : "be"),
                                 arg("host", in_quotes(kernel.node_name)), arg("system", in_quotes(kernel.system_name)),
                                 arg("release", in_quotes(kernel.release)), arg("version", in_quotes(kernel.version)),
                                 arg("machine", in_quotes(kernel.machine)), arg("clock", identifier(kernel.clock)),
                                 arg("clock_shown", in_quotes(kernel.clock)));
  for (const EventFormat& format : formats) {
    text += fmt::format("\nevent {{\n\tname = \"{}\";\n\tid = {};\n\tstream_id = 0;\n\tfields := struct {{\n",
                        in_quotes(lttng_event(format.system, format.name)), format.id);
    for (const WrittenField& field : written_fields(format))
      text += fmt::format("\t\t{}\n", declaration(field, lttng_field(format.system, field.field.name)));
    text += "\t};\n};\n";
  }
  return text;
}

}  // namespace kmt::ctf
