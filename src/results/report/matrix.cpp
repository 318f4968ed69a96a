// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/matrix.hpp"

namespace kmt {

MatrixRow sum_of_rows(const Matrix& matrix, std::size_t first) {
  MatrixRow sum{{}, std::vector<std::uint64_t>(matrix.columns.size())};
  for (std::size_t i = first; i < matrix.rows.size(); ++i) {
    const MatrixRow& row = matrix.rows[i];
    for (std::size_t column = 0; column < row.amounts.size(); ++column) sum.amounts[column] += row.amounts[column];
    sum.others += row.others;
    sum.total += row.total;
  }
  return sum;
}

}  // namespace kmt
