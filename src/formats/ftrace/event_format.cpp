// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/event_format.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <traceevent/event-parse.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

struct FreeTep {
  void operator()(tep_handle* tep) const { tep_free(tep); }
};
using TepHandle = std::unique_ptr<tep_handle, FreeTep>;

TepHandle new_tep() {
  // Keep libtraceevent from printing warnings on stderr, because important failures become findings.
  tep_set_loglevel(TEP_LOG_NONE);
  TepHandle tep(tep_alloc());
  if (!tep) throw std::bad_alloc();
  return tep;
}

// libtraceevent gets descriptions without the print format. The library would parse this C expression recursively to
// any depth, which is unsafe for untrusted text. kmemtrace needs only the fields.
constexpr std::string_view kPrintFormat = "print fmt:";
std::string without_print_format(const std::string& text) { return text.substr(0, text.find(kPrintFormat)); }
std::string print_format_of(const std::string& text) {
  const std::size_t at = text.find(kPrintFormat);
  return at == std::string::npos ? std::string() : text.substr(at + kPrintFormat.size());
}

// True if libtraceevent can parse the text without a crash. libtraceevent 1.7 dereferences a null pointer if no token
// follows a bracket. This happens at a non-ASCII byte or at the end of the text. The kernel writes neither.
bool is_safe_to_parse(std::string_view text) {
  const auto is_plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\n'; };
  if (!std::ranges::all_of(text, is_plain)) return false;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t opened = line.rfind('[');
    if (opened != std::string_view::npos && line.find(']', opened) == std::string_view::npos) return false;
  }
  return true;
}

// Removes attributes such as `__attribute__((btf_type_tag("user")))`, which kernels built by clang write into the
// argument types of system calls. libtraceevent 1.7 leaks memory when parsing them. Empty if an attribute has no end.
std::optional<std::string> without_attributes(const std::string& text) {
  constexpr std::string_view kAttribute = "__attribute__";
  std::string kept;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find(kAttribute, at);
    kept.append(text, at, begin - at);
    if (begin == std::string::npos) return kept;
    at = begin + kAttribute.size();
    int depth = 0;
    do {
      if (at == text.size()) return std::nullopt;
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      ++at;
    } while (depth > 0);
  }
}

void append_fields(const tep_format_field* first, std::vector<FormatField>& fields) {
  for (const tep_format_field* field = first; field != nullptr; field = field->next) {
    if (field->offset < 0 || field->size < 0) continue;
    const auto is = [flags = field->flags](unsigned long flag) { return (flags & flag) != 0; };
    fields.push_back({field->name, static_cast<unsigned>(field->offset), static_cast<unsigned>(field->size),
                      is(TEP_FIELD_IS_DYNAMIC), is(TEP_FIELD_IS_RELATIVE), is(TEP_FIELD_IS_ARRAY),
                      is(TEP_FIELD_IS_STRING), is(TEP_FIELD_IS_SIGNED), field->elementsize});
  }
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, std::min(text.find('\n'), std::size_t{80})));
}

// Returns the number in the line "ID: N". Empty if the number does not fit into a record.
std::optional<unsigned> id_of(const std::string& text) {
  const std::size_t line = text.find("\nID:");
  if (line == std::string::npos) return std::nullopt;
  const auto id = parse_leading<unsigned>(trim(std::string_view(text).substr(line + 4, 16)));
  return id <= 0xFFFFu ? id : std::nullopt;
}

std::optional<EventFormat> parse_event_format(const FormatText& format) {
  // Parses each format with a separate handle, because libtraceevent would search all earlier formats of a shared
  // handle.
  const TepHandle tep = new_tep();
  std::optional<std::string> text = without_attributes(without_print_format(format.text));
  if (!text || !is_safe_to_parse(*text)) return std::nullopt;
  *text += "print fmt: \"\"\n";
  tep_event* event = nullptr;  // owned by the handle
  const tep_errno code = tep_parse_format(tep.get(), &event, text->c_str(), text->size(), format.system.c_str());
  if (code != 0 || event == nullptr) return std::nullopt;
  EventFormat parsed;
  parsed.id = static_cast<unsigned>(event->id);
  parsed.system = format.system;
  parsed.name = event->name;
  append_fields(event->format.common_fields, parsed.fields);
  append_fields(event->format.fields, parsed.fields);
  parsed.print_format = print_format_of(format.text);
  return parsed;
}

}  // namespace

const FormatField* EventFormat::field(const char* wanted) const {
  for (const FormatField& field : fields)
    if (field.name == wanted) return &field;
  return nullptr;
}

std::vector<EventFormat> parse_event_formats(const std::vector<FormatText>& texts, Findings& findings) {
  std::vector<EventFormat> formats;
  std::set<unsigned> ids;
  for (const FormatText& format : texts) {
    const std::optional<unsigned> id = id_of(format.text);
    const bool again = id && !ids.insert(*id).second;
    std::optional<EventFormat> parsed;
    if (id && !again) parsed = parse_event_format(format);
    if (parsed && parsed->id == *id) {
      formats.push_back(std::move(*parsed));
      continue;
    }
    const Imperfection kind = again ? Imperfection::duplicate_event_id : Imperfection::bad_event_format;
    std::string detail;
    if (findings.wants(kind))
      detail = fmt::format("system {}: \"{}\"", printable(format.system), first_line(format.text));
    findings.add({kind, std::move(detail), {}, {}, {}});
  }
  return formats;
}

unsigned long_bytes_of_header_page(const std::string& header_page) {
  const TepHandle tep = new_tep();
  std::string text = header_page;  // a copy, because the library requires a mutable buffer
  const bool parsed =
      is_safe_to_parse(text) && tep_parse_header_page(tep.get(), text.data(), text.size(), sizeof(long)) == 0;
  const int size = tep_get_header_page_size(tep.get());
  if (!parsed || (size != 4 && size != 8))
    throw Error("Cannot determine the ring buffer's layout: the description of its page header cannot be parsed")
        .hint("Record again on Linux 2.6.31 or later; the file may also be damaged");
  return static_cast<unsigned>(size);
}

}  // namespace kmt
