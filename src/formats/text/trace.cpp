// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/trace.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/text/flag_names.hpp"
#include "formats/text/memory_line.hpp"

namespace kmt::text {

namespace {

constexpr std::uint32_t kPageBytes = 4096;  // page size of the ring buffer in the description that this file makes
constexpr std::size_t kMostEvents = 10'000;
constexpr std::size_t kMostBuffers = 1000;
constexpr std::size_t kMostFlags = 32;
constexpr std::uint64_t kOtherFlags = std::uint64_t{1} << (kMostFlags - 1);

enum class Code : std::uint8_t { number, size, pointer, frame, flags, call_site, text };

struct KnownField {
  const char* name;
  unsigned bytes = 8;
  Code code = Code::number;
  bool is_signed = false;
};

// The fields of memory events that RecordDecoder uses.
constexpr KnownField kFields[] = {{"call_site", 8, Code::call_site},
                                  {"ptr", 8, Code::pointer},
                                  {"bytes_req", 8, Code::size},
                                  {"bytes_alloc", 8, Code::size},
                                  {"size", 8, Code::size},
                                  {"pfn", 8, Code::frame},
                                  {"page", 8, Code::pointer},
                                  {"addr"},
                                  {"va_start"},
                                  {"failed"},
                                  {"gfp_flags", 8, Code::flags},
                                  {"node", 4, Code::number, true},
                                  {"accounted", 1},
                                  {"name", 4, Code::text},
                                  {"order", 4},
                                  {"alloc_order", 4},
                                  {"fallback_order", 4},
                                  {"migratetype", 4, Code::number, true},
                                  {"alloc_migratetype", 4, Code::number, true},
                                  {"fallback_migratetype", 4, Code::number, true},
                                  {"percpu_refill", 4},
                                  {"change_ownership", 4}};
constexpr unsigned kRequested = 2, kAllocated = 3;
static_assert(kFields[kRequested].name == std::string_view("bytes_req"));
static_assert(kFields[kAllocated].name == std::string_view("bytes_alloc"));
// No kernel has this much memory. A larger size is damaged, or it is a negative number that was printed as unsigned.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

// Functions get made-up addresses, which are far from kernel addresses.
constexpr std::uint64_t kFirstFunction = std::uint64_t{1} << 44;
constexpr std::uint64_t kFunctionBytes = 1 << 20;
// Name for a function if the trace has the end of its call, but not the start.
constexpr std::string_view kUnknownFunction = "(unknown)";

// Each hidden pointer becomes a different address, so that it never matches another pointer. The kernel does not use
// these addresses.
constexpr std::uint64_t kFirstHidden = std::uint64_t{1} << 52;
constexpr std::uint64_t kHiddenBytes = 16;

// A call site. In the text, it is an address, or a function such as "getname_flags+0x24" or "foo+0x1c/0x80", which "
// [module]" may follow.
struct CallSite {
  std::string function;  // for example "foo [module]"; empty for an address
  std::uint64_t offset = 0;
};

std::optional<CallSite> call_site_in(std::string_view fields) {
  const std::string_view value = value_of(fields, "call_site");
  if (value.empty()) return CallSite{};
  const bool digits = value.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  const bool is_address =
      value == "0" || value.starts_with("0x") || (digits && value.size() >= 8) || is_nothing(value) || is_hidden(value);
  const std::size_t plus = value.rfind('+');
  std::optional<std::uint64_t> offset = 0;
  if (is_address)
    offset = is_nothing(value) || is_hidden(value) ? 0 : parse_pointer(value);
  else if (plus != std::string_view::npos)
    offset = parse_value(value.substr(plus + 1, value.find('/', plus) - plus - 1));
  if (!offset) return std::nullopt;
  CallSite site{"", *offset};
  if (is_address) return site;
  site.function = value.substr(0, plus);
  const auto after = static_cast<std::size_t>(value.data() + value.size() - fields.data());
  const std::string_view rest = fields.substr(std::min(after, fields.size()));
  if (rest.starts_with(" [") && rest.find(']') != std::string_view::npos)
    site.function += rest.substr(0, rest.find(']') + 1);
  return site;
}

// Parses a number that must fit into its field. A negative number may have been printed as an unsigned one.
std::optional<std::uint64_t> number_of(const KnownField& field, std::string_view value) {
  if (value == "true" || value == "false") return value == "true" ? 1 : 0;
  const auto number = parse_value(value);
  if (!number || (value.starts_with('-') && !field.is_signed)) return std::nullopt;
  if (field.code == Code::size && *number > kMostBytes) return std::nullopt;
  const bool is_negative = value.starts_with('-');
  const std::uint64_t size = is_negative ? ~*number : *number;
  const std::uint64_t most = is_negative ? INT32_MAX : UINT32_MAX;
  return field.bytes == 4 && size > most ? std::nullopt : number;
}

// Removes an event at the end of the file that has no line end. All writers end each line, so the event was cut off,
// perhaps within a value.
Bytes without_cut_off_line(Bytes file) {
  std::size_t whole = file.size();
  while (whole > 0 && file[whole - 1] != '\n') --whole;
  const auto last = Lines(file.subspan(whole)).next();
  const bool is_event = last && (std::holds_alternative<Line>(*last) || std::holds_alternative<CallLine>(*last));
  return is_event ? file.first(whole) : file;
}

constexpr std::size_t kMostRuns = 1 << 20;

}  // namespace

TextTrace::TextTrace(Bytes file) : file_(without_cut_off_line(file)) {
  if (file_.size() < file.size())
    findings_.add({Imperfection::unreadable_line, "the text ends in the middle of a line", {}, file_.size()});
  Lines lines(file_);
  RepeatedLines repeats;
  while (const auto item = lines.next()) {
    entries_.add(*item);
    if (const Line* const line = std::get_if<Line>(&*item)) {
      learn(*line);
      learn_order(*line, lines.offset());
      repeats.learn(*line, false, lines.text());
    }
    if (const CallLine* const call = std::get_if<CallLine>(&*item)) {
      learn(*call);
      learn_order(call->line, lines.offset());
      if (call->has_time) repeats.learn(call->line, true, lines.text());
    }
    if (const LostLine* const lost = std::get_if<LostLine>(&*item)) cpus_ = std::max(cpus_, lost->cpu + 1);
    if (const std::string_view* const other = std::get_if<std::string_view>(&*item)) statistics_.add(*other);
  }
  known_.first_tasks = lines.first_tasks();
  known_.has_calls = lines.has_calls();
  known_.has_indentation = lines.has_indentation();
  forget_usual_order();
  if (repeats.may_have_any()) skip_repeated(RepeatedLines(repeats.has_twins()));
  cpus_ = std::max({cpus_, entries_.cpus(), statistics_.cpus()});
  describe();
  describe_losses();
}

// Finds the lines that repeat earlier ones, and counts the entries again without them.
void TextTrace::skip_repeated(RepeatedLines repeats) {
  std::vector<std::uint64_t> repeated;
  EntryCounts entries;
  Lines all = lines();
  while (const auto item = all.next()) {
    if (!repeats.is_repeated(*item, all.text())) {
      entries.add(*item);
      continue;
    }
    entries.add_repeated();
    repeated.push_back(all.offset());
  }
  if (repeated.empty()) return;
  entries_ = std::move(entries);
  findings_.add({Imperfection::repeated_lines, "the first of them", {}, repeated.front(), {}}, repeated.size());
  known_.repeated = std::move(repeated);
}

void TextTrace::learn_place(const Line& line) {
  cpus_ = std::max(cpus_, line.cpu + 1);
  known_.has_times = known_.has_times || line.has_time;
  lacks_times_ = lacks_times_ || !line.has_time;
  if (line.has_time) time_in_ns_ = time_in_ns_ && line.time_in_ns;
  known_.has_names = known_.has_names || !line.comm.empty();
  // Note nameless lines separately, because they are not read if other lines have names.
  (is_nameless(line) ? nameless_lack_cpus_ : lacks_cpus_) |= !line.has_cpu;
  if (buffers_.size() < kMostBuffers && buffers_.find(line.buffer) == buffers_.end()) buffers_.emplace(line.buffer);
  learn_name(line);
}

void TextTrace::learn_order(const Line& line, std::uint64_t offset) {
  // Lines that were read while they were written may be out of order by less than this time.
  constexpr std::uint64_t kLittleNs = 1'000'000;
  ++lines_;
  if (line.has_time) {
    is_merged_ = is_merged_ && line.time + (line.time_in_ns ? kLittleNs : 0) >= latest_time_;
    latest_time_ = std::max(latest_time_, line.time);
  }
  const bool is_new = runs_.empty() || runs_.back().cpu != line.cpu;
  if (is_new && runs_.size() <= kMostRuns) runs_.push_back({line.cpu, runs_.empty() ? 0 : offset, file_.size()});
}

// Forgets the runs unless the lines of each CPU are in blocks. If lines of different CPUs alternate, they are out of
// time order only because the clocks of the CPUs differ.
void TextTrace::forget_usual_order() {
  constexpr std::size_t kLinesOfARun = 4;  // on average
  constexpr std::size_t kFewRuns = 2;      // of each CPU
  std::set<unsigned> cpus;
  for (const CpuRun& run : runs_) cpus.insert(run.cpu);
  for (std::size_t i = 1; i < runs_.size(); ++i) runs_[i - 1].end = runs_[i].begin;
  const bool alternate = runs_.size() > kFewRuns * cpus.size() && lines_ < kLinesOfARun * runs_.size();
  if (is_merged_ || lacks_cpus_ || nameless_lack_cpus_ || alternate || runs_.size() > kMostRuns) runs_.clear();
}

void TextTrace::learn(const CallLine& call) {
  learn_place(call.line);
  calls_.learn(call);
  learn_function(call.function.empty() ? kUnknownFunction : call.function);
}

void TextTrace::learn_function(std::string_view function) {
  if (const auto address = parse_value(function)) return pointers_.add_address(*address);
  if (functions_.find(function) == functions_.end())
    functions_.emplace(function, kFirstFunction + functions_.size() * kFunctionBytes);
}

void TextTrace::learn(const Line& line) {
  learn_place(line);
  auto found = shapes_.find(line.event);
  if (found == shapes_.end()) {
    if (shapes_.size() == kMostEvents) return;
    found = shapes_.emplace(line.event, Shape{}).first;
    found->second.system = system_of(line);
    // Do not interpret these kinds. The number of a system call is not printed as "key=value", and events of probes and
    // stalls are printed without some of their fields.
    const EventKind kind = event_kind(found->second.system, line.event);
    found->second.kind = is_syscall(kind) || is_probed_free(kind) || is_stall(kind) ? EventKind::other : kind;
    found->second.task = task_event(line);
    events_have_names_ = events_have_names_ || found->second.task != nullptr;
    found->second.id = static_cast<unsigned>(shapes_.size());
  }
  Shape& shape = found->second;
  collapsed_calls_ += line.event == kRepeatsEvent ? 1 : 0;
  if (shape.kind == EventKind::other) return;
  // If a line has the frame number, ignore the address of struct page.
  const bool has_frame = !value_of(line.fields, "pfn").empty();
  for (unsigned i = 0; i < std::size(kFields); ++i) {
    const std::string_view name = kFields[i].name;
    if (!value_of(line.fields, name).empty() && !(has_frame && name == "page")) shape.seen |= 1u << i;
  }
  shape.ends.learn(line);
  learn_call_site(line.fields);
  learn_flags(value_of(line.fields, "gfp_flags"));
  pointers_.add(padded_value_of(line.fields, "ptr"));
  pointers_.add_width(padded_value_of(line.fields, "page"));
}

void TextTrace::learn_name(const Line& line) {
  if (!has_name(line)) return;
  const auto [last, is_new] = comms_.try_emplace(line.tid, line.comm);
  if (is_new || last->second == line.comm) return;
  last->second = line.comm;
  renamed_.insert(line.tid);
}

void TextTrace::learn_call_site(std::string_view fields) {
  const std::optional<CallSite> site = call_site_in(fields);
  if (!site) return;
  if (site->function.empty()) {
    pointers_.add_address(site->offset);
    return;
  }
  learn_function(site->function);
}

void TextTrace::learn_flags(std::string_view flags) {
  if (flags.empty() || flags == "none") return;
  for (const std::string_view name : split(flags, '|')) {
    if (!is_word(name)) continue;
    if (!parse_value(name)) names_flags_ = true;
    if (is_cut_flag(name)) continue;
    // A number between names stands for flags without a name, and is treated like a name.
    if (flags_.find(name) != flags_.end()) continue;
    if (flags_.size() + 1 < kMostFlags)
      flags_.emplace(name, std::uint64_t{1} << flags_.size());
    else
      too_many_flags_ = true;
  }
}

void TextTrace::describe() {
  KernelDescription& kernel = description_.kernel;
  kernel.byte_order = kHostOrder;
  kernel.long_bytes = pointers_.long_bytes();
  kernel.page_size = kPageBytes;
  kernel.sub_buffer_bytes = kPageBytes;
  kernel.cpus = std::min(cpus_, kMostCpus);
  const bool lacks_all_times = lacks_times_ && !known_.has_times;
  kernel.clock = time_in_ns_ && !lacks_all_times ? "unknown" : "counter";
  kernel.clock_choices = fmt::format("[{}]", kernel.clock);
  kernel.header_page = header_page_text(kernel.long_bytes, kPageBytes);
  kernel.header_event = header_event_text();
  std::vector<FlagName> flags;
  for (const auto& [name, bits] : flags_) flags.push_back({bits, name});
  if (too_many_flags_) flags.push_back({kOtherFlags, "other"});
  // Names that stand for several flags come before names of single flags (with "__"), as in the kernel's table.
  std::ranges::sort(flags, {}, [](const FlagName& flag) { return std::pair(flag.name.starts_with("__"), flag.bits); });
  for (auto& [name, shape] : shapes_) {
    std::vector<TextField> fields;
    if (shape.task != nullptr) fields = described(*shape.task);
    for (unsigned i = 0; i < std::size(kFields); ++i) {
      const KnownField& field = kFields[i];
      if ((shape.seen & 1u << i) == 0) continue;
      shape.known.push_back(i);
      // In alloc_vmap_area, the field that the kernel prints as va_start is named addr.
      const bool other_name = shape.kind == EventKind::vmap_alloc && std::string_view(field.name) == "va_start";
      fields.push_back({other_name ? "addr" : field.name, field.bytes, field.is_signed, field.code == Code::text});
    }
    shape.offsets = offsets_of(fields);
    kernel.formats.push_back(
        {shape.system, format_text(name, shape.id, fields, names_flags_ ? flags : std::vector<FlagName>{})});
  }
  if (calls_.any()) calls_.describe(static_cast<unsigned>(shapes_.size() + 1), kernel);
  std::string kallsyms;
  for (const auto& [function, address] : functions_) {
    const std::size_t module = function.find(" [");
    kallsyms +=
        fmt::format("{:016x} t {}{}{}\n", address, function.substr(0, module), module == std::string::npos ? "" : "\t",
                    module == std::string::npos ? "" : function.substr(module + 1));
  }
  if (!functions_.empty())
    kallsyms += fmt::format("{:016x} t end_of_text\n", kFirstFunction + functions_.size() * kFunctionBytes);
  kernel.kallsyms = std::move(kallsyms);
  for (const auto& [tid, comm] : comms_) kernel.saved_cmdlines += fmt::format("{} {}\n", tid, comm);
  if (lacks_cpus_ || (nameless_lack_cpus_ && !known_.has_names)) findings_.add({Imperfection::unknown_cpus, ""});
  if (!functions_.empty()) findings_.add({Imperfection::made_up_addresses, ""});
  if (names_flags_ && too_many_flags_) findings_.add({Imperfection::too_many_flag_names, ""});
  if (pointers_.are_hashed()) findings_.add({Imperfection::hashed_pointers, ""});
  if (collapsed_calls_ > 0) findings_.add({Imperfection::collapsed_calls, ""}, collapsed_calls_);
  if (pointers_.hidden() > 0) findings_.add({Imperfection::hidden_pointers, ""}, pointers_.hidden());
}

// Describes the losses in headers and statistics. Overwritten events that both may count are counted only once.
void TextTrace::describe_losses() {
  const auto overwritten = entries_.overwritten();
  const std::uint64_t counted = statistics_.overwritten();
  description_.cpu_stats = statistics_.cpu_stats();
  if (overwritten)
    description_.cpu_stats.push_back(
        fmt::format("dropped events: {}\n", *overwritten - std::min(*overwritten, counted)));
  if (!overwritten && statistics_.empty())
    findings_.add({Imperfection::unknown_loss, "the text does not state the number"});
  entries_.report_missing(findings_);
}

std::uint64_t TextTrace::address_of(std::string_view function) const {
  if (const auto address = parse_value(function)) return *address;
  const auto found = functions_.find(function.empty() ? kUnknownFunction : function);
  return found == functions_.end() ? 0 : found->second;
}

std::optional<std::uint64_t> TextTrace::call_site_of(std::string_view fields) const {
  const std::optional<CallSite> site = call_site_in(fields);
  if (!site || site->function.empty()) return site ? std::optional(site->offset) : std::nullopt;
  const auto function = functions_.find(site->function);
  if (function == functions_.end()) return std::nullopt;
  return function->second + std::min(site->offset, kFunctionBytes - 1);
}

std::optional<std::uint64_t> TextTrace::flags_of(std::string_view text) const {
  if (text == "none") return 0;
  if (!names_flags_) return parse_value(text);
  std::uint64_t flags = 0;
  for (const std::string_view name : split(text, '|')) {
    if (!is_word(name)) return std::nullopt;
    const auto known = flags_.find(name);
    if (known == flags_.end() && is_cut_flag(name)) return std::nullopt;
    flags |= known == flags_.end() ? kOtherFlags : known->second;
  }
  return flags;
}

// Returns the frame number of a page event, or kNoPage if the allocation failed. The kernel prints a failed allocation
// as page=(null) pfn=0, and since Linux 4.15 with zeros instead of "(null)" (include/trace/events/kmem.h, Linux 6.18).
// Linux 2.6.31 to 2.6.39 compute the frame number from the NULL pointer.
std::optional<std::uint64_t> TextTrace::frame_of(std::string_view fields) const {
  const std::string_view page = value_of(fields, "page");
  if (page == "(null)") return kNoPage;
  const std::optional<std::uint64_t> frame = parse_value(value_of(fields, "pfn"));
  const bool none = is_nothing(page) || (!page.empty() && page.find_first_not_of("0x") == std::string_view::npos);
  if (frame == 0 && none) return kNoPage;
  return frame && is_no_page(*frame, description_.kernel.long_bytes) ? kNoPage : frame;
}

// Returns the value of a field in a line. Empty if the value is unreadable.
std::optional<std::uint64_t> TextTrace::value_at(unsigned index, std::string_view fields, std::uint64_t offset,
                                                 bool is_object) const {
  const KnownField& field = kFields[index];
  const std::string_view value = value_of(fields, field.name);
  if (value.empty() && field.code != Code::frame)  // other lines of the event have the field, but this one does not
    return field.is_signed ? ~std::uint64_t{0} : 0;
  switch (field.code) {
    case Code::number:
    case Code::size: return number_of(field, value);
    case Code::pointer:
      if (is_hidden(value)) return kFirstHidden + offset * kHiddenBytes;
      if (is_nothing(value)) return 0;
      return pointers_.is_cut(value, is_object) ? std::nullopt : parse_pointer(value);
    case Code::frame: return frame_of(fields);
    case Code::flags: return flags_of(value);
    case Code::call_site: return call_site_of(fields);
    case Code::text: break;
  }
  return 0;
}

bool TextTrace::encode(const Line& line, std::uint64_t offset, std::vector<std::uint8_t>& record) const {
  const auto found = shapes_.find(line.event);
  if (found == shapes_.end() || !is_whole(found->second.kind, line)) return false;
  const Shape& shape = found->second;
  const ByteOrder order = description_.kernel.byte_order;
  record.assign(shape.offsets.back(), 0);
  store(record.data(), static_cast<std::uint16_t>(shape.id), order);
  record[2] = line.context;
  store(record.data() + 4, static_cast<std::uint32_t>(line.tid), order);
  if (shape.task != nullptr) return encode_task_event(*shape.task, line, shape.offsets, order, record);
  if (shape.ends.is_cut(line)) return false;
  const bool is_object = is_slab_alloc(shape.kind) || is_slab_free(shape.kind);
  std::uint64_t requested = 0, allocated = UINT64_MAX;
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
    const std::optional<std::uint64_t> value = value_at(shape.known[i], line.fields, offset, is_object);
    if (!value) return false;
    if (shape.known[i] == kRequested) requested = *value;
    if (shape.known[i] == kAllocated) allocated = *value;
    if (field.bytes == 8)
      store(record.data() + at, *value, order);
    else if (field.bytes == 1)
      record[at] = static_cast<std::uint8_t>(*value);
    else
      store(record.data() + at, static_cast<std::uint32_t>(*value), order);
  }
  return requested <= allocated;
}

}  // namespace kmt::text
