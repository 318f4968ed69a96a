// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the rows of one trace to a table, in blocks. If a trace is loaded again, its blocks are the same. A server
// stores a block completely or not at all. So blocks that the server already has need not be sent again.
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
  std::uint64_t found = 0;    // number of blocks that the server already had
  std::uint64_t retried = 0;  // number of blocks that were sent several times
  std::uint64_t bytes = 0;    // number of bytes sent
};

class BlockLoader {
 public:
  // A server stores a block as one part of one partition. The server would split a block that has more than a million
  // rows.
  static constexpr std::uint64_t kBlockRows = 1 << 16;
  static constexpr std::size_t kBlockBytes = 16 << 20;

  // Asks the server which blocks of the trace it has. `columns` lists the columns of the rows: "day, host, …". One of
  // these columns is the block number.
  BlockLoader(const ServerAddress& address, std::string table, std::string_view columns, std::string trace,
              std::string host);
  ~BlockLoader();

  // Starts a new row. The caller then adds the values. A row whose day differs from that of the preceding row starts a
  // new block, because it belongs to another partition. Throws Error.
  RowBinary& row(std::uint16_t day);
  std::uint32_t block() const { return number_; }  // returns the block number of the current row
  // Sends the remaining rows. Then checks that the server has each row exactly once. Throws Error.
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
  // key: block number; value: number of rows that the server had at the start
  std::map<std::uint32_t, std::uint64_t> there_;
  std::map<std::uint32_t, std::uint64_t> ours_;  // key: block number; value: number of rows in this load
  std::uint32_t number_ = 0;
  std::set<std::uint16_t> days_;  // in days since 1970
  std::uint16_t day_ = 0;
  std::uint64_t rows_ = 0;  // number of rows in the current block
  RowBinary block_;
  std::string on_its_way_;
  std::future<bool> sending_;  // the block that is being sent while the next block is filled
  LoadCounts counts_;
};

}  // namespace kmt
