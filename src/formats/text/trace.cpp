// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/trace.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ftrace/record_decoder.hpp"

namespace kmt::text {

namespace {

constexpr std::uint32_t kPageBytes = 4096;  // of the ring buffer that there never was
constexpr std::size_t kMostEvents = 10'000;
constexpr std::size_t kMostFlags = 32;

enum class Code : std::uint8_t { number, pointer, frame, flags, call_site, text };

struct KnownField {
  const char* name;
  unsigned bytes = 8;
  Code code = Code::number;
  bool is_signed = false;
};

// What the decoder looks for, and no more.
constexpr KnownField kFields[] = {{"call_site", 8, Code::call_site},
                                  {"ptr", 8, Code::pointer},
                                  {"bytes_req"},
                                  {"bytes_alloc"},
                                  {"size"},
                                  {"pfn", 8, Code::frame},
                                  {"page", 8, Code::pointer},
                                  {"addr"},
                                  {"va_start"},
                                  {"failed"},
                                  {"gfp_flags", 8, Code::flags},
                                  {"node", 4, Code::number, true},
                                  {"name", 4, Code::text},
                                  {"order", 4},
                                  {"alloc_order", 4},
                                  {"fallback_order", 4},
                                  {"migratetype", 4, Code::number, true},
                                  {"alloc_migratetype", 4, Code::number, true},
                                  {"fallback_migratetype", 4, Code::number, true},
                                  {"percpu_refill", 4},
                                  {"change_ownership", 4}};
// One of these an event has to have.
constexpr const char* kIdentities[] = {"ptr", "pfn", "page", "addr", "va_start"};

// Functions get a place each, far from where kernels are.
constexpr std::uint64_t kFirstFunction = std::uint64_t{1} << 44;
constexpr std::uint64_t kFunctionBytes = 1 << 20;

bool is_nothing(std::string_view pointer) { return pointer == "(nil)" || pointer == "(null)"; }

// "(____ptrval____)": the kernel had no random numbers yet to hash it with.
bool is_hidden(std::string_view pointer) { return pointer.find("ptrval") != std::string_view::npos; }

std::uint64_t pointer_of(std::string_view text) {
  if (text.starts_with("0x")) return parse_number(text).value_or(0);
  return parse_number(fmt::format("0x{}", text)).value_or(0);
}

// "getname_flags+0x24", "foo+0x1c/0x80", then maybe " [module]"; an address stays one.
struct CallSite {
  std::string function;  // "foo [module]"; empty: it is an address
  std::uint64_t offset = 0;
};

CallSite call_site_in(std::string_view fields) {
  const std::string_view value = value_of(fields, "call_site");
  CallSite site;
  const bool digits = !value.empty() && value.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (value.starts_with("0x") || (digits && value.size() >= 8)) {
    site.offset = pointer_of(value);
    return site;
  }
  const std::size_t plus = value.rfind('+');
  site.function = value.substr(0, plus);
  if (plus != std::string_view::npos) {
    const std::string_view offset = value.substr(plus + 1);
    site.offset = parse_number(offset.substr(0, offset.find('/'))).value_or(0);
  }
  const auto behind = static_cast<std::size_t>(value.data() + value.size() - fields.data());
  const std::string_view rest = fields.substr(std::min(behind, fields.size()));
  if (rest.starts_with(" [") && rest.find(']') != std::string_view::npos)
    site.function += rest.substr(0, rest.find(']') + 1);
  return site;
}

std::string_view system_of(const Line& line) {
  if (!line.system.empty()) return line.system;
  for (const char* const system : {"kmem", "percpu", "vmalloc"})
    if (event_kind(system, line.event) != EventKind::other) return system;
  return "text";
}

}  // namespace

TextTrace::TextTrace(Bytes file) : file_(file) {
  Lines lines(file);
  while (const auto item = lines.next()) {
    if (const Line* const line = std::get_if<Line>(&*item)) learn(*line);
    if (const LostLine* const lost = std::get_if<LostLine>(&*item)) events_of_cpu_[lost->cpu];
    if (const std::string_view* const other = std::get_if<std::string_view>(&*item)) learn_header(*other);
  }
  describe();
}

void TextTrace::learn(const Line& line) {
  ++events_of_cpu_[line.cpu];
  time_in_ns_ = time_in_ns_ && line.time_in_ns;
  if (line.tid > 0) comms_[line.tid] = line.comm;
  auto found = shapes_.find(line.event);
  if (found == shapes_.end()) {
    if (shapes_.size() == kMostEvents) return;
    found = shapes_.emplace(line.event, Shape{}).first;
    found->second.system = system_of(line);
    found->second.kind = event_kind(found->second.system, line.event);
    found->second.id = static_cast<unsigned>(shapes_.size());
  }
  Shape& shape = found->second;
  if (shape.kind == EventKind::other) return;
  // Where there is a frame number the address of its struct page says nothing more.
  const bool has_frame = !value_of(line.fields, "pfn").empty();
  for (unsigned i = 0; i < std::size(kFields); ++i) {
    const std::string_view name = kFields[i].name;
    if (!value_of(line.fields, name).empty() && !(has_frame && name == "page")) shape.seen |= 1u << i;
  }
  learn_call_site(line.fields);
  learn_flags(value_of(line.fields, "gfp_flags"));
  learn_pointer(value_of(line.fields, "ptr"));
}

void TextTrace::learn_call_site(std::string_view fields) {
  const CallSite site = call_site_in(fields);
  if (site.function.empty()) {
    if (site.offset > 0xFFFFFFFF) long_pointers_ = true;
    return;
  }
  functions_.emplace(site.function, kFirstFunction + functions_.size() * kFunctionBytes);
}

void TextTrace::learn_flags(std::string_view flags) {
  if (flags.empty() || flags == "none") return;
  for (const std::string_view name : split(flags, '|')) {
    if (name.empty() || !std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
      continue;
    if (name.front() != '0') names_flags_ = true;
    // A number among names is one of them.
    if (flags_.size() < kMostFlags) flags_.emplace(name, std::uint64_t{1} << flags_.size());
  }
}

// %p prints all digits and no 0x; a hash has 32 bits.
void TextTrace::learn_pointer(std::string_view pointer) {
  if (pointer.empty() || is_nothing(pointer)) return;
  ++pointers_;
  if (is_hidden(pointer)) ++hidden_pointers_;
  const std::uint64_t value = pointer_of(pointer);
  if (value > 0xFFFFFFFF) long_pointers_ = true;
  const bool may_be_hash = !pointer.starts_with("0x") && value != 0;
  if (may_be_hash && pointer.size() == 16 && value <= 0xFFFFFFFF) ++hashed_pointers_;
  // Of 32-bit kernels: half of all hashes are below where such a kernel lies.
  if (may_be_hash && pointer.size() == 8 && value < 0x80000000) ++hashed_pointers_;
}

// "# entries-in-buffer/entries-written: 100/250   #P:4", and trace-cmd's "cpus=4"
void TextTrace::learn_header(std::string_view line) {
  constexpr std::string_view kEntries = "# entries-in-buffer/entries-written: ";
  if (line.starts_with("cpus="))
    cpus_ = std::max(cpus_, static_cast<unsigned>(parse_number(line.substr(5)).value_or(0)));
  if (!line.starts_with(kEntries)) return;
  line.remove_prefix(kEntries.size());
  const std::size_t slash = line.find('/');
  const std::size_t end = line.find(' ', slash == line.npos ? 0 : slash);
  if (slash == line.npos) return;
  const auto kept = parse_number(line.substr(0, slash));
  const auto written = parse_number(line.substr(slash + 1, end == line.npos ? end : end - slash - 1));
  if (kept && written && *written >= *kept) overwritten_ = *written - *kept;
  if (const std::size_t cpus = line.find("#P:"); cpus != line.npos)
    cpus_ = static_cast<unsigned>(parse_number(trim(line.substr(cpus + 3))).value_or(0));
}

void TextTrace::describe() {
  constexpr unsigned kMostCpus = 8192;
  KernelDescription& kernel = description_.kernel;
  kernel.byte_order = kHostOrder;
  kernel.long_bytes = long_pointers_ || hashed_pointers_ > 0 ? 8 : 4;
  if (pointers_ == 0) kernel.long_bytes = 8;
  kernel.page_size = kPageBytes;
  kernel.sub_buffer_bytes = kPageBytes;
  for (const auto& [cpu, events] : events_of_cpu_) cpus_ = std::max(cpus_, cpu + 1);
  kernel.cpus = std::min(cpus_, kMostCpus);
  kernel.clock = time_in_ns_ ? "unknown" : "counter";
  kernel.clock_choices = fmt::format("[{}]", kernel.clock);
  kernel.header_page = header_page_text(kernel.long_bytes, kPageBytes);
  kernel.header_event = header_event_text();
  std::vector<FlagName> flags;
  for (const auto& [name, bits] : flags_) flags.push_back({bits, name});
  // As the kernel has them: what stands for several flags comes first.
  std::ranges::sort(flags, {}, [](const FlagName& flag) { return std::pair(flag.name.starts_with("__"), flag.bits); });
  for (auto& [name, shape] : shapes_) {
    std::vector<TextField> fields;
    for (unsigned i = 0; i < std::size(kFields); ++i) {
      const KnownField& field = kFields[i];
      if ((shape.seen & 1u << i) == 0) continue;
      shape.known.push_back(i);
      // The kernel prints alloc_vmap_area's addr as va_start.
      const bool other_name = shape.kind == EventKind::vmap_alloc && std::string_view(field.name) == "va_start";
      fields.push_back({other_name ? "addr" : field.name, field.bytes, field.is_signed, field.code == Code::text});
    }
    shape.offsets = offsets_of(fields);
    kernel.formats.push_back(
        {shape.system, format_text(name, shape.id, fields, names_flags_ ? flags : std::vector<FlagName>{})});
  }
  for (const auto& [function, address] : functions_) {
    const std::size_t module = function.find(" [");
    kernel.kallsyms +=
        fmt::format("{:016x} t {}{}{}\n", address, function.substr(0, module), module == std::string::npos ? "" : "\t",
                    module == std::string::npos ? "" : function.substr(module + 1));
  }
  if (!functions_.empty())
    kernel.kallsyms += fmt::format("{:016x} t end_of_text\n", kFirstFunction + functions_.size() * kFunctionBytes);
  for (const auto& [tid, comm] : comms_) kernel.saved_cmdlines += fmt::format("{} {}\n", tid, comm);
  if (overwritten_) description_.cpu_stats.push_back(fmt::format("dropped events: {}\n", *overwritten_));
  if (!overwritten_) findings_.add({Imperfection::unknown_loss, "the text does not have it", {}, {}, {}});
  if (!functions_.empty()) findings_.add({Imperfection::made_up_addresses, "", {}, {}, {}});
  if (hashed_pointers_ * 4 > pointers_ || hidden_pointers_ > 0)
    findings_.add({Imperfection::hashed_pointers,
                   hidden_pointers_ > 0 ? fmt::format("{} of them are not shown at all", hidden_pointers_) : "",
                   {},
                   {},
                   {}});
}

std::vector<unsigned> TextTrace::cpus() const {
  std::vector<unsigned> cpus;
  for (const auto& [cpu, events] : events_of_cpu_) cpus.push_back(cpu);
  return cpus;
}

std::uint64_t TextTrace::call_site_of(std::string_view fields) const {
  const CallSite site = call_site_in(fields);
  if (site.function.empty()) return site.offset;
  const auto function = functions_.find(site.function);
  return function == functions_.end() ? 0 : function->second + std::min(site.offset, kFunctionBytes - 1);
}

std::uint64_t TextTrace::flags_of(std::string_view text) const {
  if (!names_flags_) return parse_number(text).value_or(0);
  std::uint64_t flags = 0;
  for (const std::string_view name : split(text, '|'))
    if (const auto known = flags_.find(name); known != flags_.end()) flags |= known->second;
  return flags;
}

// An allocation that failed is printed as page=(nil) pfn=0x0 (include/trace/events/kmem.h, Linux 6.18).
std::uint64_t TextTrace::frame_of(std::string_view fields) const {
  const std::uint64_t frame = parse_number(value_of(fields, "pfn")).value_or(0);
  const std::string_view page = value_of(fields, "page");
  const bool none = is_nothing(page) || (!page.empty() && page.find_first_not_of("0x") == std::string_view::npos);
  if (frame == 0 && none) return kNoPage;
  return is_no_page(frame, description_.kernel.long_bytes) ? kNoPage : frame;
}

std::uint64_t TextTrace::value_at(unsigned index, std::string_view fields) const {
  const KnownField& field = kFields[index];
  const std::string_view value = value_of(fields, field.name);
  switch (field.code) {
    case Code::number: return value == "true" ? 1 : parse_number(value).value_or(0);
    case Code::pointer: return is_nothing(value) ? 0 : pointer_of(value);
    case Code::frame: return frame_of(fields);
    case Code::flags: return flags_of(value);
    case Code::call_site: return call_site_of(fields);
    case Code::text: break;
  }
  return 0;
}

bool TextTrace::encode(const Line& line, std::vector<std::uint8_t>& record) const {
  const auto found = shapes_.find(line.event);
  if (found == shapes_.end()) return false;
  const Shape& shape = found->second;
  if (shape.kind != EventKind::other) {
    const auto has = [&line](const char* name) {
      const std::string_view value = value_of(line.fields, name);
      return !value.empty() && !is_hidden(value);
    };
    if (!std::ranges::any_of(kIdentities, has)) return false;
  }
  const ByteOrder order = description_.kernel.byte_order;
  record.assign(shape.offsets.back(), 0);
  store(record.data(), static_cast<std::uint16_t>(shape.id), order);
  record[2] = line.context;
  store(record.data() + 4, static_cast<std::uint32_t>(line.tid), order);
  for (std::size_t i = 0; i < shape.known.size(); ++i) {
    const KnownField& field = kFields[shape.known[i]];
    const unsigned at = shape.offsets[i];
    if (field.code == Code::text) {
      const std::string_view value = value_of(line.fields, field.name);
      store(record.data() + at, static_cast<std::uint32_t>((value.size() + 1) << 16 | record.size()), order);
      record.insert(record.end(), value.begin(), value.end());
      record.push_back(0);
      continue;
    }
    const std::uint64_t value = value_at(shape.known[i], line.fields);
    if (field.bytes == 8)
      store(record.data() + at, value, order);
    else
      store(record.data() + at, static_cast<std::uint32_t>(value), order);
  }
  return true;
}

}  // namespace kmt::text
