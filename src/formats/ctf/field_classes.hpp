// SPDX-License-Identifier: GPL-2.0-or-later
// Makes field classes of libbabeltrace2 (2.0) for the fields of CTF 2, because the library's own plugin reads only CTF
// 1.8. An optional field becomes the field that it contains, and a BLOB becomes an array of bytes. Variants are
// dropped, as are numbers that the library cannot hold.
#pragma once

#include <memory>

#include <babeltrace2/babeltrace.h>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

struct PutFieldClass {
  void operator()(const bt_field_class* object) const { bt_field_class_put_ref(object); }
};
using FieldClassRef = std::unique_ptr<bt_field_class, PutFieldClass>;

// Makes the field class. `field.is_kept` must be true.
FieldClassRef make_field_class(bt_trace_class* trace, const FieldNode& field);

// Sets a field to 0, an empty text or an empty array.
void clear_field(bt_field* field);

}  // namespace kmt::ctf
