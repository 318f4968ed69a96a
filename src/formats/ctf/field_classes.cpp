// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/field_classes.hpp"

#include <new>

namespace kmt::ctf {

namespace {

FieldClassRef checked(bt_field_class* made) {
  if (made == nullptr) throw std::bad_alloc();
  return FieldClassRef(made);
}

FieldClassRef number_class(bt_trace_class* trace, bool is_signed, std::uint64_t bits) {
  FieldClassRef made =
      checked(is_signed ? bt_field_class_integer_signed_create(trace) : bt_field_class_integer_unsigned_create(trace));
  bt_field_class_integer_set_field_value_range(made.get(), bits);
  return made;
}

FieldClassRef array_of(bt_trace_class* trace, const FieldClassRef& element) {
  return checked(bt_field_class_array_dynamic_create(trace, element.get(), nullptr));
}

FieldClassRef structure_class(bt_trace_class* trace, const FieldNode& field) {
  FieldClassRef made = checked(bt_field_class_structure_create(trace));
  for (const auto& member : field.fields) {
    if (!member->is_kept) continue;
    const FieldClassRef inner = make_field_class(trace, *member);
    if (bt_field_class_structure_append_member(made.get(), member->name.c_str(), inner.get()) !=
        BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK)
      throw std::bad_alloc();
  }
  return made;
}

}  // namespace

FieldClassRef make_field_class(bt_trace_class* trace, const FieldNode& field) {
  switch (field.kind) {
    case FieldKind::bit_array: return checked(bt_field_class_bit_array_create(trace, field.length));
    case FieldKind::boolean: return checked(bt_field_class_bool_create(trace));
    case FieldKind::unsigned_integer:
    case FieldKind::signed_integer: return number_class(trace, field.kind == FieldKind::signed_integer, field.length);
    case FieldKind::variable_unsigned:
    case FieldKind::variable_signed: return number_class(trace, field.kind == FieldKind::variable_signed, 64);
    case FieldKind::real:
      return checked(field.length == 64 ? bt_field_class_real_double_precision_create(trace)
                                        : bt_field_class_real_single_precision_create(trace));
    case FieldKind::text_until_nul:
    case FieldKind::static_text:
    case FieldKind::dynamic_text: return checked(bt_field_class_string_create(trace));
    case FieldKind::static_blob:
    case FieldKind::dynamic_blob: return array_of(trace, number_class(trace, false, 8));
    case FieldKind::structure: return structure_class(trace, field);
    case FieldKind::static_array:
    case FieldKind::dynamic_array: return array_of(trace, make_field_class(trace, *field.fields.front()));
    case FieldKind::optional: return make_field_class(trace, *field.fields.front());
    case FieldKind::variant: break;
  }
  throw std::bad_alloc();  // not reached, because variants are dropped
}

void clear_field(bt_field* field) {
  const bt_field_class_type type = bt_field_get_class_type(field);
  const auto is = [type](bt_field_class_type wanted) { return bt_field_class_type_is(type, wanted) != 0; };
  if (is(BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) return bt_field_integer_unsigned_set_value(field, 0);
  if (is(BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) return bt_field_integer_signed_set_value(field, 0);
  if (is(BT_FIELD_CLASS_TYPE_BOOL)) return bt_field_bool_set_value(field, BT_FALSE);
  if (is(BT_FIELD_CLASS_TYPE_BIT_ARRAY)) return bt_field_bit_array_set_value_as_integer(field, 0);
  if (is(BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) return bt_field_real_single_precision_set_value(field, 0);
  if (is(BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)) return bt_field_real_double_precision_set_value(field, 0);
  if (is(BT_FIELD_CLASS_TYPE_STRING)) return bt_field_string_clear(field);
  if (is(BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY)) {
    if (bt_field_array_dynamic_set_length(field, 0) != BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
      throw std::bad_alloc();
    return;
  }
  const std::uint64_t members = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(field));
  for (std::uint64_t i = 0; i < members; ++i) clear_field(bt_field_structure_borrow_member_field_by_index(field, i));
}

}  // namespace kmt::ctf
