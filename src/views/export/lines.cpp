// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/lines.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "views/common/event_fields.hpp"

namespace kmt {

namespace {

class LinesExport : public EventSink {
 public:
  LinesExport(const TraceInfo& info, const SymbolNames& symbols, TextSink sink)
      : names_(info, symbols), sink_(std::move(sink)) {}

  void end(const StreamEnd&) override { give(); }

 protected:
  void give_when_full() {
    constexpr std::size_t kEnough = 256 << 10;
    if (text_.size() > kEnough) give();
  }
  void put(std::string_view text) { text_.append(text.data(), text.data() + text.size()); }
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  void put_number(std::uint64_t number) { put(std::string_view(fmt::format_int(number).str())); }

  // Returns the text of a stack. `add` appends the text of each frame. Texts of stacks are cached, because most stacks
  // occur often. The cache is limited, because a trace may have any number of stacks.
  template <typename Add>
  const std::string& stack_text(StackId id, Add&& add) {
    constexpr std::size_t kMostKept = 1 << 13;
    if (stacks_.size() >= kMostKept && !stacks_.contains(id.value)) stacks_.clear();
    const auto known = stacks_.try_emplace(id.value);
    std::string& text = known.first->second;
    if (known.second) names_.stack(id, [&](const std::string& frame) { add(text, frame); });
    return text;
  }

  EventNames names_;
  fmt::memory_buffer text_;

 private:
  void give() {
    sink_({text_.data(), text_.size()});
    text_.clear();
  }

  TextSink sink_;
  std::unordered_map<std::uint32_t, std::string> stacks_;
};

class CsvExport : public LinesExport {
 public:
  CsvExport(const TraceInfo& info, const SymbolNames& symbols, TextSink sink)
      : LinesExport(info, symbols, std::move(sink)) {
    put("time_ns,cpu,tid,task,context,event,outcome,allocator,address,bytes_requested,bytes_allocated,call_site,symbol,"
        "cache,order,migrate_type,gfp_flags,node,allocation,lifetime_ns,stack\n");
  }

  void add(const StreamedEvent& streamed) override {
    const Event& event = *streamed.event;
    const EventFields fields = names_.fields_of(streamed);
    put_number(event.time_ns);
    comma();
    put_number(event.cpu);
    put(",{},", event.tid);
    text(fields.task);
    comma();
    put(streamed.context);
    comma();
    text(fields.name);
    comma();
    put(outcome_text(streamed.outcome));
    comma();
    put(fields.allocator);
    comma();
    address(fields.address);
    number(fields.bytes_requested);
    number(fields.bytes_allocated);
    address(fields.call_site);
    text(fields.symbol);
    comma();
    text(fields.cache);
    comma();
    number(fields.order);
    text(fields.migrate_type);
    comma();
    text(fields.gfp_flags);
    comma();
    number(fields.node);
    if (fields.allocation != 0) put_number(fields.allocation);
    comma();
    number(fields.lifetime_ns);
    if (event.stack.value != 0) text(joined(event.stack));
    put("\n");
    give_when_full();
  }

 private:
  void comma() { put(","); }
  void number(const auto& number) {
    if (number) put("{}", *number);
    comma();
  }
  void address(const std::optional<std::uint64_t>& address) {
    if (address) put("{:#x}", *address);
    comma();
  }
  // Writes a text. A spreadsheet would evaluate text that starts like a formula, and the text may be malicious. So if a
  // text starts like a formula, its first character is escaped like an unprintable character.
  void text(std::string_view text) {
    const bool quoted = text.find_first_of(",\"") != std::string_view::npos;
    if (quoted) put("\"");
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) {
      put("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    }
    if (!quoted) return put(text);
    for (const char c : text) {
      if (c == '"') put("\"");
      put(std::string_view(&c, 1));
    }
    put("\"");
  }
  // Returns the frames, separated by semicolons. Semicolons within names are escaped.
  const std::string& joined(StackId id) {
    return stack_text(id, [](std::string& text, const std::string& frame) {
      if (!text.empty()) text += ';';
      for (const char c : frame) c == ';' ? text += "\\x3b" : text += c;
    });
  }
};

class JsonLinesExport : public LinesExport {
 public:
  using LinesExport::LinesExport;

  void add(const StreamedEvent& streamed) override {
    const Event& event = *streamed.event;
    const EventFields fields = names_.fields_of(streamed);
    put("{{\"time_ns\":{},\"cpu\":{},\"tid\":{}", event.time_ns, event.cpu, event.tid);
    text("task", fields.task);
    text("context", streamed.context);
    text("event", fields.name);
    text("outcome", outcome_text(streamed.outcome));
    text("allocator", fields.allocator);
    address("address", fields.address);
    number("bytes_requested", fields.bytes_requested);
    number("bytes_allocated", fields.bytes_allocated);
    address("call_site", fields.call_site);
    text("symbol", fields.symbol);
    text("cache", fields.cache);
    number("order", fields.order);
    text("migrate_type", fields.migrate_type);
    text("gfp_flags", fields.gfp_flags);
    number("node", fields.node);
    if (fields.allocation != 0) put(",\"allocation\":{}", fields.allocation);
    number("lifetime_ns", fields.lifetime_ns);
    if (event.stack.value != 0) put(",\"stack\":[{}]", frames(event.stack));
    put("}\n");
    give_when_full();
  }

 private:
  void number(const char* key, const auto& number) {
    if (number) put(",\"{}\":{}", key, *number);
  }
  // Addresses are written as text, because many JSON readers keep only 53 bits of a number.
  void address(const char* key, const std::optional<std::uint64_t>& address) {
    if (address) put(",\"{}\":\"{:#x}\"", key, *address);
  }
  void text(const char* key, std::string_view text) {
    if (text.empty()) return;
    put(",\"{}\":", key);
    quote(text, text_);
  }
  // Writes a text in quotes. The text must be printable: no control characters, and valid UTF-8.
  template <typename Out>
  static void quote(std::string_view text, Out& out) {
    out.push_back('"');
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = std::min(text.find_first_of("\"\\", at), text.size());
      out.append(text.data() + at, text.data() + next);
      if (next < text.size()) out.push_back('\\'), out.push_back(text[next]);
      at = next + 1;
    }
    out.push_back('"');
  }
  const std::string& frames(StackId id) {
    return stack_text(id, [](std::string& text, const std::string& frame) {
      if (!text.empty()) text += ',';
      quote(frame, text);
    });
  }
};

}  // namespace

std::unique_ptr<EventSink> csv_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink) {
  return std::make_unique<CsvExport>(info, symbols, std::move(sink));
}

std::unique_ptr<EventSink> json_lines_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink) {
  return std::make_unique<JsonLinesExport>(info, symbols, std::move(sink));
}

}  // namespace kmt
