// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/record_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ctf/names.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "trace/event.hpp"

namespace kmt::ctf {

namespace {

constexpr std::size_t kMostBytes = 4000;  // maximum size of a record; fits into a 4096-byte page on every kernel
constexpr unsigned kLastId = 0xFFFF;

bool is(const bt_field* field, bt_field_class_type wanted) {
  return bt_field_class_type_is(bt_field_get_class_type(field), wanted);
}

std::uint64_t number_of(const bt_field* field) {
  if (is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) return bt_field_integer_unsigned_get_value(field);
  if (is(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
    return static_cast<std::uint64_t>(bt_field_integer_signed_get_value(field));
  if (is(field, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
    return std::bit_cast<std::uint32_t>(bt_field_real_single_precision_get_value(field));
  if (is(field, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
    return std::bit_cast<std::uint64_t>(bt_field_real_double_precision_get_value(field));
  if (is(field, BT_FIELD_CLASS_TYPE_BOOL)) return bt_field_bool_get_value(field) != 0;
  if (is(field, BT_FIELD_CLASS_TYPE_BIT_ARRAY)) return bt_field_bit_array_get_value_as_integer(field);
  return 0;
}

// Finds a leaf in an event. Returns null if the event does not have it.
const bt_field* find(const Leaf& leaf, const bt_event* event) {
  const bt_field* field = leaf.scope == Leaf::Scope::payload ? bt_event_borrow_payload_field_const(event)
                          : leaf.scope == Leaf::Scope::common_context
                              ? bt_event_borrow_common_context_field_const(event)
                              : bt_event_borrow_specific_context_field_const(event);
  for (const std::uint64_t member : leaf.path) {
    if (field == nullptr) return nullptr;
    field = bt_field_structure_borrow_member_field_by_index_const(field, member);
  }
  return field;
}

std::optional<FormatField> field_of(const EventFormat& format, const char* name) {
  const FormatField* const field = format.field(name);
  return field != nullptr ? std::optional(*field) : std::nullopt;
}
std::optional<FormatField> number_of(const EventFormat& format, const char* name) {
  const std::optional<FormatField> field = field_of(format, name);
  const bool is_number = field && !field->is_array && !field->is_dynamic && std::has_single_bit(field->size);
  return is_number && field->size <= 8 ? field : std::nullopt;
}

bool fits(const Leaf& leaf, const FormatField& target) {
  const bool several = leaf.is_array() || leaf.is_string();
  if (target.is_dynamic) return several && target.size == 4;
  if (several) return target.is_array;
  return !target.is_array && std::has_single_bit(target.size) && target.size <= 8;
}

constexpr std::uint8_t interrupt_begun(std::string_view event) {
  return event == "irq_handler_entry" ? Context::kHardIrq : event == "irq_softirq_entry" ? Context::kSoftIrq : 0;
}
constexpr std::uint8_t interrupt_ended(std::string_view event) {
  return event == "irq_handler_exit" ? Context::kHardIrq : event == "irq_softirq_exit" ? Context::kSoftIrq : 0;
}

// Returns the name of a missing field without which the event has no meaning, or an empty name. Without this check,
// readers would see a 0 in place of the missing value.
std::string_view missing_field_of(const FormatText& text) {
  Findings ignored;  // finish() reports formats that cannot be parsed
  PageIdentity none{};
  const std::vector<EventFormat> formats = parse_event_formats({text}, ignored);
  if (formats.empty()) return {};
  return missing_field(formats.front(), plan_of(formats.front(), {}, sizeof(std::uint64_t), none));
}

}  // namespace

RecordBuilder::RecordBuilder(std::vector<FormatText> known, ByteOrder order, Findings& findings)
    : order_(order), texts_(std::move(known)), formats_(parse_event_formats(texts_, findings)) {
  known_texts_ = texts_.size();
  for (const EventFormat& format : formats_) {
    known_ids_.emplace(lttng_event(format.system, format.name), format.id);
    ids_.insert(format.id);
    if (format.system == "ftrace" && format.name == "kernel_stack") kernel_stacks_.id = format.id;
    if (format.system == "ftrace" && format.name == "user_stack") user_stacks_.id = format.id;
  }
}

void RecordBuilder::add(const bt_trace_class* traces) {
  if (!traces_.insert(traces).second) return;
  for (std::uint64_t i = 0; i < bt_trace_class_get_stream_class_count(traces); ++i) {
    const bt_stream_class* const streams = bt_trace_class_borrow_stream_class_by_index_const(traces, i);
    for (std::uint64_t j = 0; j < bt_stream_class_get_event_class_count(streams); ++j)
      add_class(bt_stream_class_borrow_event_class_by_index_const(streams, j));
  }
}

std::optional<unsigned> RecordBuilder::new_id() {
  const unsigned id = ids_.empty() ? 1 : *ids_.rbegin() + 1;
  if (id > kLastId) return std::nullopt;
  ids_.insert(id);
  return id;
}

void RecordBuilder::add_class(const bt_event_class* event_class) {
  const char* const given = bt_event_class_get_name(event_class);
  const std::string name = given != nullptr ? given : "unnamed";
  const KernelEvent kernel = kernel_event(name);
  EventClass& here = classes_[event_class];
  here.leaves = leaves_of(*event_class, kernel.system);
  for (const Leaf& leaf : here.leaves) {
    if (event_kind(kernel.system, kernel.name) != EventKind::other && leaf.name == "ptr") long_bytes_ = leaf.bytes;
    kernel_stacks_.any = kernel_stacks_.any || leaf.name == kKernelStackContext;
    user_stacks_.any = user_stacks_.any || leaf.name == kUserStackContext;
  }
  const auto known = known_ids_.find(name);
  if (known != known_ids_.end()) {
    here.id = known->second;
  } else if (const std::optional<unsigned> id = new_id()) {
    here.id = *id;
    FormatText text = describe(*id, kernel.system, kernel.name, here.leaves);
    if (const std::string_view field = missing_field_of(text); !field.empty()) {
      unread_.push_back(fmt::format("{}:{} has no field {}", printable(kernel.system), printable(kernel.name), field));
      text.system = "unread";  // these events are counted, but not as memory events
    }
    texts_.push_back(std::move(text));
  } else {
    classes_.erase(event_class);  // all event IDs are used, so events of this class are reported as unknown
  }
}

void RecordBuilder::finish(Findings& findings) {
  if (long_bytes_ != 4) long_bytes_ = 8;
  const auto describe_stacks = [this](Stacks& stacks, const auto& describe) {
    if (stacks.any && !stacks.id && (stacks.id = new_id())) texts_.push_back(describe(*stacks.id, long_bytes_));
  };
  describe_stacks(kernel_stacks_, describe_kernel_stack);
  describe_stacks(user_stacks_, describe_user_stack);
  const std::vector<FormatText> made(texts_.begin() + static_cast<std::ptrdiff_t>(known_texts_), texts_.end());
  for (EventFormat& format : parse_event_formats(made, findings)) formats_.push_back(std::move(format));
  for (const std::string& event : unread_)
    findings.add({Imperfection::bad_event_format, event + ", so these events are not read"});

  std::unordered_map<unsigned, const EventFormat*> by_id;
  for (const EventFormat& format : formats_) by_id[format.id] = &format;
  for (const auto& [event_class, known] : classes_) {
    const auto format = by_id.find(known.id);
    if (format == by_id.end()) continue;
    Plan plan = plan_of(*format->second, known.leaves);
    if (plan.bytes <= kMostBytes) plans_.emplace(event_class, std::move(plan));
  }
  classes_.clear();
  const auto lay_out = [&by_id](Stacks& stacks, const char* head) {
    const auto format = stacks.id ? by_id.find(*stacks.id) : by_id.end();
    if (format == by_id.end()) return;
    stacks.head = number_of(*format->second, head);
    stacks.callers = field_of(*format->second, "caller");
  };
  lay_out(kernel_stacks_, "size");
  lay_out(user_stacks_, "tgid");
}

RecordBuilder::Plan RecordBuilder::plan_of(const EventFormat& format, const std::vector<Leaf>& leaves) {
  Plan plan;
  plan.id = format.id;
  for (const FormatField& field : format.fields)
    plan.bytes = std::max<std::size_t>(plan.bytes, std::size_t{field.offset} + field.size);
  for (const Leaf& leaf : leaves) {
    if (leaf.name == kKernelStackContext && leaf.is_array()) plan.stack = leaf;
    if (leaf.name == kUserStackContext && leaf.is_array()) plan.user_stack = leaf;
    const FormatField* const target = format.field(word(leaf.name).c_str());
    if (target == nullptr || !fits(leaf, *target)) continue;
    const bool is_last = target->offset + target->size == plan.bytes && target->is_array && !target->is_dynamic;
    plan.fields.push_back({leaf, *target, is_last && leaf.is_array()});
    plan.has_task = plan.has_task || leaf.name == "common_pid";
    plan.has_flags = plan.has_flags || leaf.name == "common_flags";
  }
  plan.task = number_of(format, "common_pid");
  plan.flags = number_of(format, "common_flags");
  plan.process = number_of(format, "context_pid");
  plan.name = field_of(format, "context_procname");
  if (format.name == "sched_switch") {
    plan.next_tid = number_of(format, "next_pid");
    if (!plan.has_task) plan.previous_tid = number_of(format, "prev_pid");
  }
  if (format.name == "sched_process_fork") {
    plan.other_tid = number_of(format, "child_pid");
    plan.other_process = number_of(format, "child_tgid");
  }
  if (format.name == "lttng_statedump_process_state") {
    plan.other_tid = number_of(format, "tid");
    plan.other_process = number_of(format, "pid");
  }
  plan.begins = interrupt_begun(format.name);
  plan.ends = interrupt_ended(format.name);
  return plan;
}

const EventRecord* RecordBuilder::record_of(const bt_event* event, std::int32_t tid, std::uint8_t flags) {
  const auto found = plans_.find(bt_event_borrow_class_const(event));
  if (found == plans_.end()) return nullptr;
  const Plan& plan = found->second;
  result_ = {};
  bytes_.assign(std::max<std::size_t>(plan.bytes, 2), 0);
  store(bytes_.data(), static_cast<std::uint16_t>(plan.id), order_);
  if (plan.task) put_number(plan.task->offset, plan.task->size, static_cast<std::uint32_t>(tid));
  if (plan.flags) put_number(plan.flags->offset, plan.flags->size, flags | plan.begins);
  for (const Field& field : plan.fields)
    if (const bt_field* const value = find(field.leaf, event)) put(field, value);
  if (plan.previous_tid && plan.task) put_number(plan.task->offset, plan.task->size, number_in(*plan.previous_tid));

  result_.record = bytes_;
  result_.has_flags = plan.has_flags;
  result_.tid = plan.task ? static_cast<std::int32_t>(number_in(*plan.task)) : tid;
  if (plan.next_tid) result_.next_tid = static_cast<std::int32_t>(number_in(*plan.next_tid));
  result_.begins = plan.begins;
  result_.ends = plan.ends;
  if (plan.name) result_.task_name = text_in(*plan.name);
  const auto id_in = [this](const FormatField& field) { return static_cast<std::int32_t>(number_in(field)); };
  if (plan.process && plan.has_task) result_.task = TaskOfProcess{result_.tid, id_in(*plan.process)};
  if (plan.other_tid && plan.other_process)
    result_.other = TaskOfProcess{id_in(*plan.other_tid), id_in(*plan.other_process)};
  const std::int32_t process = plan.process ? id_in(*plan.process) : result_.tid;
  if (plan.stack)
    if (const bt_field* const value = find(*plan.stack, event))
      result_.stack = stack_of(kernel_stacks_, value, std::nullopt);
  if (plan.user_stack)
    if (const bt_field* const value = find(*plan.user_stack, event))
      result_.user_stack = stack_of(user_stacks_, value, process);
  return &result_;
}

void RecordBuilder::put_number(std::size_t at, unsigned size, std::uint64_t value) {
  switch (size) {
    case 8: store(bytes_.data() + at, value, order_); break;
    case 4: store(bytes_.data() + at, static_cast<std::uint32_t>(value), order_); break;
    case 2: store(bytes_.data() + at, static_cast<std::uint16_t>(value), order_); break;
    default: bytes_[at] = static_cast<std::uint8_t>(value);
  }
}

void RecordBuilder::put(const Field& field, const bt_field* value) {
  const FormatField& target = field.target;
  if (field.leaf.is_array()) return put_array(field, value);
  if (!field.leaf.is_string()) return put_number(target.offset, target.size, number_of(value));
  const char* const text = bt_field_string_get_value(value);
  std::size_t length = bt_field_string_get_length(value);
  if (!target.is_dynamic) {
    std::memcpy(bytes_.data() + target.offset, text, fitting(length, target.size));
    return;
  }
  length = fitting(length, kMostBytes - std::min(kMostBytes, bytes_.size() + 1));
  put_place(target, length + 1);
  bytes_.insert(bytes_.end(), text, text + length);
  bytes_.push_back(0);
}

std::uint64_t RecordBuilder::fitting(std::uint64_t wanted, std::uint64_t room) {
  if (wanted > room) result_.is_cut_off = true;
  return std::min(wanted, room);
}

// Writes the __data_loc or __rel_loc of a value. The caller must then append the value.
void RecordBuilder::put_place(const FormatField& target, std::size_t bytes) {
  const std::size_t from = target.is_relative ? target.offset + 4u : 0;
  put_number(target.offset, 4, bytes << 16 | (bytes_.size() - from));
}

void RecordBuilder::put_array(const Field& field, const bt_field* value) {
  const FormatField& target = field.target;
  const unsigned size = field.leaf.bytes;
  const std::size_t at = target.is_dynamic ? bytes_.size() : target.offset;
  const std::size_t room = target.is_dynamic || field.takes_rest ? kMostBytes - std::min(kMostBytes, at) : target.size;
  const std::uint64_t count = fitting(bt_field_array_get_length(value), room / size);
  if (target.is_dynamic) put_place(target, count * size);
  bytes_.resize(std::max(bytes_.size(), at + count * size));
  for (std::uint64_t i = 0; i < count; ++i)
    put_number(at + i * size, size, number_of(bt_field_array_borrow_element_field_by_index_const(value, i)));
}

// Returns the record of a stack. It contains the process (user stacks) or the number of addresses (kernel stacks), and
// then the addresses.
Bytes RecordBuilder::stack_of(Stacks& stacks, const bt_field* value, std::optional<std::int32_t> process) {
  if (!stacks.head || !stacks.callers || bt_field_array_get_length(value) == 0) return {};
  const std::size_t header =
      std::max<std::size_t>({8, stacks.callers->offset, std::size_t{stacks.head->offset} + stacks.head->size});
  if (header > kMostBytes) return {};  // a format with such a long header is not from a kernel
  const std::uint64_t count = fitting(bt_field_array_get_length(value), (kMostBytes - header) / long_bytes_);
  // put_number() writes to bytes_. So bytes_ and stacks.record are swapped until the record of the stack is complete.
  std::swap(bytes_, stacks.record);
  bytes_.assign(header + count * long_bytes_, 0);
  if (stacks.record.size() >= 8)
    std::copy_n(stacks.record.begin(), 8, bytes_.begin());  // copy the flags and the task from the record of the event
  store(bytes_.data(), static_cast<std::uint16_t>(*stacks.id), order_);
  put_number(4, 4, static_cast<std::uint32_t>(result_.tid));
  put_number(stacks.head->offset, stacks.head->size, process ? static_cast<std::uint32_t>(*process) : count);
  for (std::uint64_t i = 0; i < count; ++i)
    put_number(stacks.callers->offset + i * long_bytes_, long_bytes_,
               number_of(bt_field_array_borrow_element_field_by_index_const(value, i)));
  std::swap(bytes_, stacks.record);
  return stacks.record;
}

std::uint64_t RecordBuilder::number_in(const FormatField& field) const {
  return load_sized(bytes_.data() + field.offset, field.size, order_);
}

std::string_view RecordBuilder::text_in(const FormatField& field) const {
  if (!field.is_dynamic || field.is_relative || field.size != 4) return {};
  const std::uint64_t place = number_in(field);
  const std::size_t offset = place & 0xFFFF, length = place >> 16;
  if (offset + length > bytes_.size()) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + offset, length);
  return text.substr(0, text.find('\0'));
}

}  // namespace kmt::ctf
