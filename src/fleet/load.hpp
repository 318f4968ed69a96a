// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of one trace on their way into a table. They travel in blocks that are the same whenever the same trace is
// loaded, and that a server stores whole or not at all: what is there already is not sent again.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "fleet/clickhouse.hpp"
#include "fleet/row_binary.hpp"

namespace kmt {

struct LoadCounts {
  std::uint64_t rows = 0;
  std::uint64_t blocks = 0;
  std::uint64_t found = 0;    // blocks that were there already
  std::uint64_t retried = 0;  // blocks that were sent more than once
  std::uint64_t bytes = 0;    // sent
};

class BlockLoader {
 public:
  // A block is one part of one partition, as long as a server does not cut it, which it does at a million rows.
  static constexpr std::uint64_t kBlockRows = 1 << 16;
  static constexpr std::size_t kBlockBytes = 16 << 20;

  // Asks what of the trace is there. Columns are those of the rows, "day, host, …"; one of them is the block's number.
  BlockLoader(const ServerAddress& address, std::string table, std::string_view columns, std::string trace,
              std::string host);
  ~BlockLoader();

  // A new row, for the caller to fill: rows of another day are of another partition and begin a block. Throws Error.
  RowBinary& row(std::uint16_t day);
  std::uint32_t block() const { return number_; }  // of the row
  // Sends what is left, and makes sure that the server has every row once. Throws Error.
  LoadCounts finish();

 private:
  void send();
  void wait();
  std::map<std::uint32_t, std::uint64_t> stored(const std::string& condition);
  bool could_merge();

  ClickHouse server_;
  std::string table_;
  std::string_view columns_;
  std::string trace_;
  std::string host_;
  std::map<std::uint32_t, std::uint64_t> there_;  // rows of blocks that the server had at the start
  std::map<std::uint32_t, std::uint64_t> ours_;   // of all blocks
  std::uint32_t number_ = 0;
  std::set<std::uint16_t> days_;  // since 1970
  std::uint16_t day_ = 0;
  std::uint64_t rows_ = 0;  // of the block that is filled
  RowBinary block_;
  std::string on_its_way_;
  std::future<bool> sending_;  // while the next block is filled
  LoadCounts counts_;
};

}  // namespace kmt
