// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/wrapped.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "base/encodings.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/units.hpp"
#include "formats/text/clean.hpp"
#include "formats/text/reader.hpp"

namespace kmt::text {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 28;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// -- zlib ---------------------------------------------------------------------------------------------------------

// True if the data starts like a zlib stream (RFC 1950), whose first two bytes are the method "deflate" and a checksum.
bool starts_like_zlib(std::string_view data) {
  if (data.size() < 2) return false;
  const auto first = static_cast<unsigned char>(data[0]), second = static_cast<unsigned char>(data[1]);
  return (first & 0x8F) == 8 && (first * 256u + second) % 31 == 0;
}

UnwrappedText inflate_text(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw Error("Not enough memory to unpack the compressed text");
  UnwrappedText out;
  std::array<char, 1 << 16> part{};
  int result = Z_OK;
  for (std::string_view rest = packed; result == Z_OK && (!rest.empty() || stream.avail_in > 0);) {
    if (stream.avail_in == 0) {
      const std::string_view piece = rest.substr(0, 1 << 20);
      rest.remove_prefix(piece.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    result = inflate(&stream, Z_NO_FLUSH);
    const bool is_first = out.text.empty();
    out.text.append(part.data(), part.size() - stream.avail_out);
    if (out.text.size() > kMostBytes || (is_first && !is_text(bytes_of(out.text)))) break;
  }
  inflateEnd(&stream);
  if (out.text.size() > kMostBytes)
    throw Error(fmt::format("The compressed text has more than {}", humane_bytes(kMostBytes)))
        .hint("Unpack it first, for example with zlib-flate or pigz -dz");
  if (result == Z_OK || result == Z_BUF_ERROR) out.damage = "the compressed text is cut off";
  if (result < 0 && result != Z_BUF_ERROR) out.damage = "the compressed text is damaged";
  return out;
}

// Returns the data with LF instead of CR LF. Old versions of adb wrote each line feed of the binary data as CR LF.
std::string without_carriage_returns(std::string_view data) {
  std::string out;
  out.reserve(data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != '\r' || i + 1 == data.size() || data[i + 1] != '\n') out += data[i];
  return out;
}

// Returns the data after the line "TRACE:", or all data if there is no such line.
std::string_view after_marker(std::string_view file) {
  constexpr std::string_view kMarker = "TRACE:";
  // Maximum size of messages before the marker, such as "capturing trace... done".
  constexpr std::size_t kMostBefore = 4096;
  const std::string_view begin = file.substr(0, kMostBefore);
  const std::size_t at = begin.find(kMarker);
  if (at == std::string_view::npos) return file;
  std::string_view rest = file.substr(at + kMarker.size());
  while (rest.starts_with('\r') || rest.starts_with('\n') || rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

std::optional<UnwrappedText> unwrap_zlib(std::string_view file) {
  const std::string_view packed = after_marker(file);
  if (!starts_like_zlib(packed)) return std::nullopt;
  UnwrappedText plain = inflate_text(packed);
  if (!plain.damage.empty() && packed.find("\r\n") != std::string_view::npos) {
    UnwrappedText repaired = inflate_text(without_carriage_returns(packed));
    if (repaired.damage.empty() || repaired.text.size() > plain.text.size()) plain = std::move(repaired);
  }
  if (!is_text(bytes_of(plain.text))) return std::nullopt;
  return plain;
}

// -- mails --------------------------------------------------------------------------------------------------------

// True if a mail program encoded the text as quoted-printable.
bool is_quoted_printable(std::string_view file) {
  constexpr std::size_t kLookAt = 64 << 10;
  const std::string_view begin = file.substr(0, kLookAt);
  if (begin.find('\0') != begin.npos) return false;
  return std::ranges::any_of(std::array{"call_site=3D", "ptr=3D", "bytes_req=3D", "pfn=3D", "order=3D"},
                             [begin](const char* field) { return begin.find(field) != begin.npos; });
}

// -- web pages ----------------------------------------------------------------------------------------------------

std::optional<std::uint32_t> number_in(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc() && end == digits.data() + digits.size() && value < 0x110000 ? std::optional(value)
                                                                                          : std::nullopt;
}

// Appends the character that an escape of a JavaScript string stands for. `rest` starts after the backslash.
void append_escaped(std::string& out, std::string_view& rest) {
  const char kind = rest.front();
  rest.remove_prefix(1);
  constexpr std::string_view kLetters = "ntrbfv0", kMeanings{"\n\t\r\b\f\v\0", 7};
  if (kind == '\n') return;  // a backslash at the end of a line continues the string in the next line
  if (kind == '\r') return rest.remove_prefix(rest.starts_with('\n') ? 1 : 0);
  if (const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0; digits > 0) {
    const auto code = rest.size() < digits ? std::nullopt : number_in(rest.substr(0, digits), 16);
    if (code) rest.remove_prefix(digits);
    return append_utf8(out, code.value_or(static_cast<unsigned char>(kind)));
  }
  const std::size_t letter = kLetters.find(kind);
  out += letter == std::string_view::npos ? kind : kMeanings[letter];
}

// Returns the contents of the JavaScript or JSON string that starts at the quotation mark.
std::string string_literal(std::string_view text) {
  const char quote = text.front();
  std::string out;
  for (std::string_view rest = text.substr(1); !rest.empty() && rest.front() != quote;) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\' && !rest.empty())
      append_escaped(out, rest);
    else
      out += c;
  }
  return out;
}

bool starts_with_word(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(), [](char wanted, char c) {
           return wanted == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

// Calls visit(contents) for each element <NAME …>contents</NAME>. The last element may lack its end.
template <typename Visit>
void for_each_element(std::string_view page, std::string_view name, const Visit& visit) {
  const std::string begin = fmt::format("<{}", name), end = fmt::format("</{}", name);
  for (std::size_t at = page.find('<'); at != std::string_view::npos; at = page.find('<', at + 1)) {
    if (!starts_with_word(page.substr(at), begin)) continue;
    const std::size_t contents = page.find('>', at);
    if (contents == std::string_view::npos) return;
    std::size_t close = page.find('<', contents);
    while (close != std::string_view::npos && !starts_with_word(page.substr(close), end))
      close = page.find('<', close + 1);
    visit(page.substr(contents + 1, close == std::string_view::npos ? close : close - contents - 1));
    if (close == std::string_view::npos) return;
    at = close;
  }
}

// Returns the name of the tag at the start of the text in lower case, such as "br", or "/span" at the end of an
// element. Empty if there is no tag. Names of tasks may be in angle brackets, so only common elements count.
std::string tag_at(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  static constexpr std::array<std::string_view, 47> kElements = {
      "a",   "abbr",  "b",     "blockquote", "body", "br",    "button", "code",  "dd",   "del",    "div",   "dl",
      "dt",  "em",    "font",  "h1",         "h2",   "h3",    "h4",     "head",  "html", "i",      "ins",   "kbd",
      "li",  "mark",  "ol",    "p",          "pre",  "s",     "samp",   "small", "span", "strong", "style", "sub",
      "sup", "table", "tbody", "td",         "th",   "thead", "tr",     "tt",    "u",    "ul",     "script"};
  if (!text.starts_with('<')) return {};
  std::string name;
  for (const char c : text.substr(1, kLongest + 1)) {
    const bool is_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || (c == '/' && name.empty());
    if (!is_name) break;
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (name.size() + 1 >= text.size() || std::string_view(" />\n").find(text[name.size() + 1]) == text.npos) return {};
  const std::string_view element = std::string_view(name).substr(name.starts_with('/') ? 1 : 0);
  return std::ranges::find(kElements, element) == kElements.end() ? std::string() : name;
}

// True if the text has tags of a web page: at least one end tag or one <br>.
bool has_tags(std::string_view text) {
  constexpr std::size_t kLookAt = 64 << 10;
  text = text.substr(0, kLookAt);
  if (text.find('\0') != text.npos) return false;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1))
    if (const std::string name = tag_at(text.substr(at)); name == "br" || name.starts_with('/')) return true;
  return false;
}

// Removes the tags of a web page. Elements that start a line become line breaks, and cells of tables become blanks.
std::string without_tags(std::string_view page) {
  constexpr std::string_view kInline[] = {"a",     "abbr", "b",      "button", "code", "del", "em",
                                          "font",  "i",    "ins",    "kbd",    "mark", "s",   "samp",
                                          "small", "span", "strong", "sub",    "sup",  "tt",  "u"};
  std::string out;
  while (!page.empty()) {
    const std::size_t open = std::min(page.find('<'), page.size());
    out += page.substr(0, open);
    page.remove_prefix(open);
    if (page.empty()) break;
    const std::string name = tag_at(page);
    std::size_t close = page.find('>');
    if (name.empty() || close == page.npos) {
      out += page.front();
      page.remove_prefix(1);
      continue;
    }
    if (name == "script" || name == "style") {
      const std::string end = fmt::format("</{}", name);
      std::size_t at = page.find('<', close);
      while (at != page.npos && !starts_with_word(page.substr(at), end)) at = page.find('<', at + 1);
      close = at == page.npos ? page.size() - 1 : std::min(page.find('>', at), page.size() - 1);
    }
    const std::string_view element = std::string_view(name).substr(name.starts_with('/') ? 1 : 0);
    if (element == "td" || element == "th")
      out += ' ';
    else if (std::ranges::find(kInline, element) == std::end(kInline))
      out += '\n';
    page.remove_prefix(close + 1);
  }
  return out;
}

// Appends the text to `out` if it is the text of a trace. Returns false if it is not.
bool append_trace(std::string_view text, std::string& out) {
  while (text.starts_with('\r') || text.starts_with('\n')) text.remove_prefix(1);
  if (!is_text(bytes_of(text))) return false;
  out += text;
  if (!out.ends_with('\n')) out += '\n';
  return true;
}

// Appends the trace in a string of old versions of systrace, or in a string of JSON from Chrome. Returns false if there
// is none.
bool append_string(std::string_view script, std::string& out) {
  for (const std::string_view name : {"linuxPerfData", "\"systemTraceEvents\"", "\"traceEvents\""}) {
    const std::size_t at = script.find(name);
    const std::size_t quote =
        at == std::string_view::npos ? at : script.find_first_not_of(" =:\t\r\n", at + name.size());
    if (quote == std::string_view::npos || (script[quote] != '"' && script[quote] != '\'')) continue;
    if (append_trace(string_literal(script.substr(quote)), out)) return true;
  }
  return false;
}

// Appends the trace in a script. The text of the script is the trace itself, or contains the trace as a string.
void append_script(std::string_view script, std::string& out) {
  if (!append_string(script, out)) append_trace(script, out);
}

// Appends the text in all strings of a JSON file, a line for each string. Returns false if it is no text of a trace.
bool append_all_strings(std::string_view json, std::string& out) {
  constexpr std::string_view kFields[] = {"ptr=", "pfn=", "call_site="};
  if (json.size() > kMostBytes) return false;
  if (std::ranges::none_of(kFields, [json](std::string_view field) { return json.find(field) != json.npos; }))
    return false;
  std::string all;
  for (std::size_t at = json.find('"'); at != json.npos; at = json.find('"', at + 1)) {
    const std::size_t begin = at;
    for (++at; at < json.size() && json[at] != '"'; ++at)
      if (json[at] == '\\') ++at;
    all += string_literal(json.substr(begin, at - begin + 1));
    if (!all.ends_with('\n')) all += '\n';
    if (at >= json.size()) break;
  }
  return append_trace(all, out);
}

// True if the file is a JSON array of strings or objects. A kernel log may also start with "[".
bool is_json_array(std::string_view file) {
  file.remove_prefix(std::min(file.find_first_not_of(" \t\r\n"), file.size()));
  if (!file.starts_with('[')) return false;
  const std::size_t first = file.find_first_not_of(" \t\r\n", 1);
  return first != file.npos && (file[first] == '"' || file[first] == '{');
}

bool is_json_object(std::string_view file) {
  file.remove_prefix(file.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  file.remove_prefix(std::min(file.find_first_not_of(" \t\r\n"), file.size()));
  return file.starts_with('{');
}

bool is_page(std::string_view file) {
  file.remove_prefix(file.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  file.remove_prefix(std::min(file.find_first_not_of(" \t\r\n"), file.size()));
  return starts_with_word(file, "<!doctype html") || starts_with_word(file, "<html") || starts_with_word(file, "<!--");
}

// -- line ends and NUL bytes --------------------------------------------------------------------------------------

constexpr std::size_t kBegin = 64 << 10;  // number of bytes to examine at the start of a file

// True if lines end with CR instead of LF, as old Macintosh programs write them.
bool has_only_carriage_returns(std::string_view file) {
  const std::string_view begin = file.substr(0, kBegin);
  return begin.find('\n') == begin.npos && begin.find('\r') != begin.npos && begin.find('\0') == begin.npos;
}

// Returns the text with a line end instead of each series of NUL bytes, which a crash or a full disk leaves in files.
// Returns nothing if the file is no text of a trace.
std::optional<UnwrappedText> without_zeros(std::string_view file) {
  const std::string_view begin = file.substr(0, kBegin);
  const auto mended = [](std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t zeros = std::min(text.find('\0', at), text.size());
      out += text.substr(at, zeros - at);
      at = std::min(text.find_first_not_of('\0', zeros), text.size());
      if (at > zeros && !out.ends_with('\n')) out += '\n';
    }
    return out;
  };
  const bool may_be_text =
      std::ranges::count(begin, '\0') * 2 < std::ssize(begin) && std::ranges::none_of(begin, [](unsigned char c) {
        return c != 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\x1B';
      });
  if (!may_be_text || file.size() > kMostBytes || file.find('\0') == file.npos || !is_text(bytes_of(mended(begin))))
    return std::nullopt;
  return UnwrappedText{mended(file), fmt::format("the text has NUL bytes ({}), so parts of it may be missing",
                                                 std::ranges::count(file, '\0'))};
}

UnwrappedText unwrap_page(std::string_view page) {
  UnwrappedText out;
  for_each_element(page, "script", [&out](std::string_view script) { append_script(script, out.text); });
  if (out.text.empty())
    for_each_element(page, "pre", [&out](std::string_view text) {
      append_trace(without_entities(has_tags(text) ? without_tags(text) : std::string(text)), out.text);
    });
  if (out.text.empty()) append_trace(without_entities(without_tags(page)), out.text);
  if (out.text.empty())
    throw Error("The web page has no text of a trace in it")
        .hint("kmemtrace reads the pages of Android's systrace, and pages whose text is a trace");
  return out;
}

}  // namespace

std::optional<UnwrappedText> unwrap(Bytes file) {
  const std::string_view text = as_text(file);
  if (is_page(text)) return unwrap_page(text);
  if (UnwrappedText out; is_json_object(text) && append_string(text, out.text)) return out;
  if (UnwrappedText out; (is_json_object(text) || is_json_array(text)) && append_all_strings(text, out.text))
    return out;
  if (has_only_carriage_returns(text)) {
    UnwrappedText out;
    std::string lines(text);
    std::ranges::replace(lines, '\r', '\n');
    if (append_trace(lines, out.text)) return out;
  }
  if (auto mended = without_zeros(text)) return mended;
  if (is_quoted_printable(text)) return UnwrappedText{decode_quoted_printable(text), {}};
  if (UnwrappedText out; has_tags(text) && append_trace(without_tags(text), out.text)) return out;
  return unwrap_zlib(text);
}

}  // namespace kmt::text
