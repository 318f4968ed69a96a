// SPDX-License-Identifier: GPL-2.0-or-later
// A table of groups as a matrix: the values of the last key are columns, for example allocators and freers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/group.hpp"

namespace kmt {

template <typename Row>
struct Column;

struct MatrixRow {
  std::vector<KeyValue> keys;          // all keys of the report except the last
  std::vector<std::uint64_t> amounts;  // one for each column of the matrix
  std::uint64_t others = 0;            // sum of the values that have no column
  std::uint64_t total = 0;
};

struct Matrix {
  static constexpr std::size_t kMostColumns = 12;

  Allocator allocator = Allocator::slab;
  const Column<GroupRow>* amount = nullptr;  // the column whose values the matrix shows
  std::vector<KeyValue> columns;             // values of the last key, largest total first; at most kMostColumns
  std::size_t other_columns = 0;             // values that have no column
  std::vector<MatrixRow> rows;               // largest total first
  MatrixRow total;                           // has no keys
};

}  // namespace kmt
