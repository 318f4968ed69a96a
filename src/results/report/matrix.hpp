// SPDX-License-Identifier: GPL-2.0-or-later
// A table of groups as a matrix: the values of the last key become columns. For example, rows are allocating
// functions, and columns are freeing functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/group.hpp"

namespace kmt {

template <typename Row>
struct Column;

struct MatrixRow {
  std::vector<KeyValue> keys;          // values of all keys of the report except the last one
  std::vector<std::uint64_t> amounts;  // amounts of the row, one for each column of the matrix
  std::uint64_t others = 0;            // sum of the amounts that belong to no column of the matrix
  std::uint64_t total = 0;
};

struct Matrix {
  static constexpr std::size_t kMostColumns = 12;

  Allocator allocator = Allocator::slab;
  const Column<GroupRow>* amount = nullptr;  // the amount in the cells, such as bytes allocated
  // The values of the last key that became columns, largest total first; at most kMostColumns.
  std::vector<KeyValue> columns;
  std::size_t other_columns = 0;  // number of values of the last key that have no column
  std::vector<MatrixRow> rows;    // rows, largest total first
  MatrixRow total;                // sums of all rows, without keys
};

// Returns the sums of all rows from index `first` on, without keys.
MatrixRow sum_of_rows(const Matrix& matrix, std::size_t first);

}  // namespace kmt
