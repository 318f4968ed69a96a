// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the fields of CTF 2 to libbabeltrace2 (2.0), whose plugin reads only CTF 1.8. An optional field becomes the
// field that it contains, and a BLOB becomes an array of bytes. Variants are dropped, as are numbers that the library
// cannot hold.
#pragma once

#include <cstdint>
#include <memory>

#include <babeltrace2/babeltrace.h>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

struct PutFieldClass {
  void operator()(const bt_field_class* object) const { bt_field_class_put_ref(object); }
};
using FieldClassRef = std::unique_ptr<bt_field_class, PutFieldClass>;

// Maximum number of elements of an array, or bytes of a text, that are kept. Records have at most 4000 bytes.
constexpr std::uint64_t kMostKept = 4096;

// Makes the field class of a field whose `is_kept` is true.
FieldClassRef make_field_class(bt_trace_class* trace, const FieldNode& field);

// Sets a field to 0, an empty text or an empty array.
void clear_field(bt_field* field);

}  // namespace kmt::ctf
