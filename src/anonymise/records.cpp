// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/records.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "anonymise/description.hpp"

namespace kmt {

namespace {

std::string_view text_at(Bytes record, std::size_t offset, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(record.data()) + offset, size);
  return text.substr(0, text.find('\0'));
}

// Stores the low `size` bytes of a number.
void store_sized(std::uint8_t* at, unsigned size, std::uint64_t number, ByteOrder order) {
  switch (size) {
    case 8: store<std::uint64_t>(at, number, order); break;
    case 4: store<std::uint32_t>(at, static_cast<std::uint32_t>(number), order); break;
    case 2: store<std::uint16_t>(at, static_cast<std::uint16_t>(number), order); break;
    default: store<std::uint8_t>(at, static_cast<std::uint8_t>(number), order);
  }
}

// True if the field is a text, either of fixed size or in a __data_loc.
bool is_text_field(const FormatField& field) {
  return field.is_string && !field.is_relative && (field.is_dynamic ? field.size == 4 : field.size > 0);
}

bool is_a_number(const FormatField& field) {
  return field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
}

// A field name has the same meaning in all events of these systems.
constexpr std::string_view kSystems[] = {"kmem",      "percpu", "vmalloc",    "task", "sched",
                                         "cgroup",    "module", "ftrace",     "irq",  "raw_syscalls",
                                         "kmemtrace", "vmscan", "compaction", "oom"};

// Names of number fields that are kept, because they do not identify the machine.
constexpr std::string_view kNumbers[] = {"common_type",
                                         "common_flags",
                                         "common_preempt_count",
                                         "common_pid",
                                         "common_preempt_lazy_count",
                                         "common_lock_depth",
                                         "common_tgid",
                                         "common_padding",
                                         "common_migrate_disable",
                                         "bytes_req",
                                         "bytes_alloc",
                                         "gfp_flags",
                                         "node",
                                         "accounted",
                                         "count",
                                         "result",
                                         "page_bytes",
                                         "order",
                                         "migratetype",
                                         "percpu_refill",
                                         "cold",
                                         "alloc_order",
                                         "fallback_order",
                                         "alloc_migratetype",
                                         "fallback_migratetype",
                                         "fragmenting",
                                         "change_ownership",
                                         "reserved",
                                         "is_atomic",
                                         "size",
                                         "align",
                                         "off",
                                         "failed",
                                         "nr_lazy",
                                         "nr_lazy_max",
                                         "pid",
                                         "old_pid",
                                         "tgid",
                                         "prio",
                                         "group_dead",
                                         "parent_pid",
                                         "child_pid",
                                         "prev_pid",
                                         "prev_prio",
                                         "prev_state",
                                         "next_pid",
                                         "next_prio",
                                         "clone_flags",
                                         "oom_score_adj",
                                         "dst_root",
                                         "dst_level",
                                         "dst_id",
                                         "taints",
                                         "refcnt",
                                         "id",
                                         "curr",
                                         "member",
                                         "vec",
                                         "mm_id",
                                         "depth",
                                         "calltime",
                                         "rettime",
                                         "overrun",
                                         "nid",
                                         "gfp_mask",
                                         "nr_scanned",
                                         "nr_reclaimed",
                                         "usec_timeout",
                                         "usec_delayed"};
constexpr std::string_view kCode[] = {"call_site", "ip", "func", "retaddr", "__probe_func", "__probe_ret_ip"};
constexpr std::string_view kAddresses[] = {"ptr", "addr", "va_start", "base_addr", "page", "sp", "head", "cache"};
constexpr std::string_view kTasks[] = {"comm",       "oldcomm",   "newcomm",  "parent_comm",
                                       "child_comm", "prev_comm", "next_comm"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_of_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Adds the prefix kBlankField to the name of a field wherever it is a whole word.
void rename_field(std::string& format, const std::string& name) {
  for (std::size_t at = 0; (at = format.find(name, at)) != std::string::npos; at += name.size()) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_of_name(format[at - 1])) || (end < format.size() && is_of_name(format[end]))) continue;
    format.insert(at, kBlankField);
    at += kBlankField.size();
  }
}

// True for events of function calls: their arguments and results become zero. The fields are renamed, so that readers
// do not mistake the zeros for values.
bool is_of_call(const EventFormat& format) {
  if (format.system == "kmemtrace") return format.name.starts_with("call_") || format.name.starts_with("probe_");
  return format.system == "ftrace" && (format.name.starts_with("funcgraph_") || format.name.starts_with("fgraph_"));
}

}  // namespace

bool RecordAnonymiser::is_text(Meaning meaning) {
  return meaning == Meaning::task || meaning == Meaning::path || meaning == Meaning::program ||
         meaning == Meaning::cache;
}

void RecordAnonymiser::describe(const TraceDescription& description) {
  const KernelDescription& kernel = description.kernel;
  order_ = kernel.byte_order;
  long_bytes_ = kernel.long_bytes;
  clock_ = kernel.clock_scale;
  pseudonyms_.emplace(key_, long_bytes_ * 8);
  code_.emplace(kernel.kallsyms.text(), long_bytes_ * 8, pseudonyms_->address(std::uint64_t{1} << 20));
  user_.emplace(kernel.user_memory);

  Findings ignored;  // not used, because the reader of the trace also reports these findings
  for (const EventFormat& format : parse_event_formats(kernel.formats, ignored))
    plans_.insert_or_assign(format.id, plan_of(format));

  TraceDescription to = anonymous(description, *pseudonyms_, *code_, omitted_.texts);
  for (FormatText& text : to.kernel.formats)
    for (const EventFormat& format : parse_event_formats({text}, ignored))
      if (is_of_call(format)) rename_blank(format, text.text);
  to.kernel.user_memory = user_->memory(kernel.user_memory, *pseudonyms_);
  sink_.describe(to);
}

RecordAnonymiser::Meaning RecordAnonymiser::meaning_of(std::string_view field) {
  if (is_among(kNumbers, field)) return Meaning::number;
  if (is_among(kCode, field)) return Meaning::code;
  if (is_among(kAddresses, field)) return Meaning::address;
  if (is_among(kTasks, field)) return Meaning::task;
  if (field == "pfn") return Meaning::frame;
  if (field == "end_pfn") return Meaning::end_frame;
  if (field == "first_page") return Meaning::first_page;
  if (field == "dst_path") return Meaning::path;
  if (field == "filename") return Meaning::program;
  if (field == "name") return Meaning::cache;  // or the name of a module, which is kept like that of a cache
  if (field == "caller") return Meaning::callers;
  return Meaning::blank;
}

// Decides by a field's name how to anonymise the field. A name has one meaning in all memory, task and module events of
// the kernel (include/trace/events, Linux 2.6.29 to 6.18), and in the records that converters write.
RecordAnonymiser::Plan RecordAnonymiser::plan_of(const EventFormat& format) {
  Plan plan;
  const bool is_known = is_among(kSystems, format.system);
  const bool is_user_stack = format.system == "ftrace" && format.name == "user_stack";
  const bool is_a_stack = is_user_stack || (format.system == "ftrace" && format.name == "kernel_stack");
  for (const FormatField& field : format.fields) {
    Meaning meaning = meaning_of(field.name);
    if (!is_known && !field.name.starts_with("common_")) meaning = Meaning::blank;
    // In events of other systems, `name` may be the name of a file, a device or a task.
    if (meaning == Meaning::cache && format.system != "kmem" && format.system != "module" &&
        format.system != "kmemtrace")
      meaning = Meaning::blank;
    const bool is_stack = meaning == Meaning::callers;
    if (is_stack           ? !is_a_stack || !field.is_array || field.is_dynamic
        : is_text(meaning) ? !is_text_field(field)
                           : !is_a_number(field) || field.is_array)
      meaning = Meaning::blank;
    if (meaning == Meaning::callers && is_user_stack) meaning = Meaning::user_callers;
    if (format.system == "kmemtrace" && (field.name == "objects" || field.name == "more_objects") && field.is_array &&
        !field.is_dynamic)
      meaning = Meaning::objects;
    if (field.name == "objects") plan.objects = static_cast<std::size_t>(field.offset);
    if (field.name == "count" && meaning == Meaning::number) plan.count = field;
    if (field.name == "page_bytes" && meaning == Meaning::number) plan.page_bytes = field;
    if (meaning == Meaning::first_page) plan.first_page = field;
    if (meaning == Meaning::frame) plan.first_frame = field;
    if (is_user_stack && field.name == "tgid" && meaning == Meaning::number) plan.process = field;
    if (meaning == Meaning::blank)
      plan.blank.push_back(fmt::format("{}:{} {}", format.system, format.name, field.name));
    plan.bytes = std::max<std::size_t>(
        plan.bytes, field.offset + (meaning == Meaning::callers || meaning == Meaning::user_callers ? 0 : field.size));
    if (meaning != Meaning::blank) plan.fields.push_back({field, meaning});
  }
  // Write texts after the fixed fields, because they are appended to the record. A stack comes last.
  std::stable_partition(plan.fields.begin(), plan.fields.end(),
                        [](const Field& field) { return !field.place.is_dynamic; });
  return plan;
}

void RecordAnonymiser::rename_blank(const EventFormat& format, std::string& text) const {
  const auto plan = plans_.find(format.id);
  if (plan == plans_.end()) return;
  for (const FormatField& field : format.fields)
    if (std::ranges::none_of(plan->second.fields, [&](const Field& kept) { return kept.place.name == field.name; }))
      rename_field(text, field.name);
}

void RecordAnonymiser::record(std::uint64_t ticks, Bytes record) {
  const auto found = record.size() < 2 ? plans_.end() : plans_.find(load<std::uint16_t>(record.data(), order_));
  if (found == plans_.end() || !rewrite(found->second, ticks, record)) {
    ++omitted_.events;
    return;
  }
  omitted_.fields.insert(found->second.blank.begin(), found->second.blank.end());
  found->second.blank.clear();
  sink_.record(ticks, rewritten_);
}

// Returns false if the record is too short for its fields.
bool RecordAnonymiser::rewrite(const Plan& plan, std::uint64_t ticks, Bytes record) {
  if (record.size() < plan.bytes) return false;
  rewritten_.assign(plan.bytes, 0);
  for (const Field& field : plan.fields) {
    const FormatField& place = field.place;
    if (field.meaning == Meaning::callers || field.meaning == Meaning::user_callers) {
      rewrite_callers(plan, field, ticks, record);
    } else if (field.meaning == Meaning::objects) {
      rewrite_objects(plan, field, record);
    } else if (field.meaning == Meaning::end_frame) {
      rewrite_end_frame(plan, field.place, record);
    } else if (is_text(field.meaning)) {
      rewrite_text(field, record);
    } else {
      const std::uint64_t number = load_sized(record.data() + place.offset, place.size, order_);
      store_sized(rewritten_.data() + place.offset, place.size, number_for(field.meaning, number), order_);
    }
  }
  rewritten_.resize((rewritten_.size() + 3) / 4 * 4);
  return true;
}

void RecordAnonymiser::rewrite_text(const Field& field, Bytes record) {
  const FormatField& place = field.place;
  if (!place.is_dynamic) {
    const std::string text = text_for(field.meaning, text_at(record, place.offset, place.size));
    std::memcpy(rewritten_.data() + place.offset, text.data(), std::min<std::size_t>(text.size(), place.size - 1));
    return;
  }
  // The value of a __data_loc field is length << 16 | offset.
  const auto where = load<std::uint32_t>(record.data() + place.offset, order_);
  const std::size_t offset = where & 0xFFFF;
  const std::size_t size = where >> 16;
  if (offset + size > record.size()) return;
  const std::string text = text_for(field.meaning, text_at(record, offset, size));
  if (rewritten_.size() + text.size() + 1 > 0xFFFF) return;
  const auto now_at = static_cast<std::uint32_t>(rewritten_.size());
  store<std::uint32_t>(rewritten_.data() + place.offset, static_cast<std::uint32_t>(text.size() + 1) << 16 | now_at,
                       order_);
  rewritten_.insert(rewritten_.end(), text.begin(), text.end());
  rewritten_.push_back(0);
}

void RecordAnonymiser::rewrite_callers(const Plan& plan, const Field& field, std::uint64_t ticks, Bytes record) {
  const auto process =
      plan.process
          ? static_cast<std::int32_t>(load_sized(record.data() + plan.process->offset, plan.process->size, order_))
          : 0;
  for (std::size_t at = field.place.offset; at + long_bytes_ <= record.size(); at += long_bytes_) {
    const std::uint64_t address = load_sized(record.data() + at, long_bytes_, order_);
    rewritten_.resize(std::max(rewritten_.size(), at + long_bytes_));
    store_sized(
        rewritten_.data() + at, long_bytes_,
        field.meaning == Meaning::callers ? code_->moved(address) : user_->moved(process, clock_.to_ns(ticks), address),
        order_);
  }
}

// Cuts the range at the end of its first block of frames, because the next block has other pseudonyms.
void RecordAnonymiser::rewrite_end_frame(const Plan& plan, const FormatField& place, Bytes record) {
  if (!plan.first_frame) return;
  constexpr std::uint64_t kBlock = std::uint64_t{1} << Pseudonyms::kFrameBlockBits;
  const std::uint64_t first = load_sized(record.data() + plan.first_frame->offset, plan.first_frame->size, order_);
  const std::uint64_t end = load_sized(record.data() + place.offset, place.size, order_);
  const std::uint64_t rest_of_block = kBlock - first % kBlock;
  const std::uint64_t length = end > first ? std::min(end - first, rest_of_block) : 0;
  store_sized(rewritten_.data() + place.offset, place.size, pseudonyms_->frame(first) + length, order_);
}

// Replaces the addresses of the objects with pseudonyms. Words of the field after the last object become zero, because
// the kernel has filled them with unrelated memory.
void RecordAnonymiser::rewrite_objects(const Plan& plan, const Field& field, Bytes record) {
  if (!plan.count) return;
  const std::uint64_t count = load_sized(record.data() + plan.count->offset, plan.count->size, order_);
  const std::size_t begin = static_cast<std::size_t>(field.place.offset);
  const std::size_t end = begin + field.place.size / long_bytes_ * long_bytes_;
  for (std::size_t at = begin; at < end && (at - plan.objects) / long_bytes_ < count; at += long_bytes_) {
    const std::uint64_t address = load_sized(record.data() + at, long_bytes_, order_);
    store_sized(rewritten_.data() + at, long_bytes_, object_for(plan, address, record), order_);
  }
}

// Returns an object's pseudonym. For a struct page, it is computed from the pseudonym of its frame in other events.
std::uint64_t RecordAnonymiser::object_for(const Plan& plan, std::uint64_t address, Bytes record) const {
  if (!plan.first_page || !plan.page_bytes) return pseudonyms_->address(address);
  const auto load_of = [&](const FormatField& field) {
    return load_sized(record.data() + field.offset, field.size, order_);
  };
  const std::uint64_t first = load_of(*plan.first_page);
  const std::uint64_t bytes = load_of(*plan.page_bytes);
  return bytes == 0 || address < first ? 0 : pseudonyms_->frame((address - first) / bytes) * bytes;
}

std::string RecordAnonymiser::text_for(Meaning meaning, std::string_view text) const {
  switch (meaning) {
    case Meaning::task: return pseudonyms_->task(text);
    case Meaning::path: return pseudonyms_->path(text);
    case Meaning::program: return pseudonyms_->program(text);
    default: return pseudonyms_->cache(text);
  }
}

std::uint64_t RecordAnonymiser::number_for(Meaning meaning, std::uint64_t number) const {
  switch (meaning) {
    case Meaning::code: return code_->moved(number);
    case Meaning::address: return pseudonyms_->address(number);
    case Meaning::frame: return pseudonyms_->frame(number);
    case Meaning::first_page: return 0;
    default: return number;
  }
}

}  // namespace kmt
