// SPDX-License-Identifier: GPL-2.0-or-later
// Sends rows of one trace to a table, in blocks. Each load of the same trace has the same blocks, and a server stores a
// block completely or not at all. So blocks that the server already has are not sent again.
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
  std::uint64_t found = 0;    // blocks that the server already had
  std::uint64_t retried = 0;  // blocks that were sent more than once
  std::uint64_t bytes = 0;    // sent
};

class BlockLoader {
 public:
  // A block becomes one part of one partition. A server would split a block with more than a million rows.
  static constexpr std::uint64_t kBlockRows = 1 << 16;
  static constexpr std::size_t kBlockBytes = 16 << 20;

  // Asks the server which blocks of the trace it has. `columns` are the columns of the rows, "day, host, …"; one of
  // them is the block number.
  BlockLoader(const ServerAddress& address, std::string table, std::string_view columns, std::string trace,
              std::string host);
  ~BlockLoader();

  // Starts a new row, which the caller fills. A row of another day belongs to another partition and starts a new block.
  // Throws Error.
  RowBinary& row(std::uint16_t day);
  std::uint32_t block() const { return number_; }  // block number of the row
  // Sends the remaining rows and checks that the server has each row once. Throws Error.
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
  std::map<std::uint32_t, std::uint64_t> there_;  // by block: rows that the server had at the start
  std::map<std::uint32_t, std::uint64_t> ours_;   // by block: rows of this load
  std::uint32_t number_ = 0;
  std::set<std::uint16_t> days_;  // since 1970
  std::uint16_t day_ = 0;
  std::uint64_t rows_ = 0;  // rows in the current block
  RowBinary block_;
  std::string on_its_way_;
  std::future<bool> sending_;  // sends a block while the next block is being filled
  LoadCounts counts_;
};

}  // namespace kmt
