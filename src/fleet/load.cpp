// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/load.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/thread.hpp"
#include "fleet/answer.hpp"
#include "fleet/sql_text.hpp"

namespace kmt {

BlockLoader::BlockLoader(const ServerAddress& address, std::string table, std::string_view columns, std::string trace,
                         std::string host)
    : server_(address),
      table_(std::move(table)),
      columns_(columns),
      trace_(std::move(trace)),
      host_(std::move(host)),
      there_(stored("")) {}

BlockLoader::~BlockLoader() {
  if (sending_.valid()) sending_.wait();
}

std::map<std::uint32_t, std::uint64_t> BlockLoader::stored(const std::string& condition) {
  std::map<std::uint32_t, std::uint64_t> blocks;
  for (const auto& row :
       server_.query(fmt::format("SELECT block, count() FROM {}.{} WHERE trace = {}{} GROUP BY block",
                                 sql_name(server_.database()), table_, sql_string(trace_), condition))) {
    AnswerCells cells(row);
    const std::uint32_t block = cells.number_32();
    blocks[block] = cells.count();
  }
  return blocks;
}

RowBinary& BlockLoader::row(std::uint16_t day) {
  if (rows_ > 0 && (rows_ == kBlockRows || block_.bytes().size() >= kBlockBytes || day != day_)) send();
  day_ = day;
  days_.insert(day);
  ++rows_;
  return block_;
}

void BlockLoader::wait() {
  if (sending_.valid() && sending_.get()) ++counts_.retried;
}

void BlockLoader::send() {
  wait();
  const std::uint32_t number = number_++;
  const std::uint64_t rows = std::exchange(rows_, 0);
  on_its_way_ = block_.take();
  ours_[number] = rows;
  ++counts_.blocks;
  counts_.rows += rows;
  if (there_.count(number) > 0) {
    ++counts_.found;
    return;
  }
  counts_.bytes += on_its_way_.size();
  const auto insert = [this, number, rows] {
    return server_.insert(table_, columns_, on_its_way_, fmt::format("kmemtrace-{}-{}-{}", trace_, table_, number),
                          [&] { return stored(fmt::format(" AND block = {}", number))[number] == rows; });
  };
  try {
    sending_ = std::async(std::launch::async, insert);
  } catch (const std::system_error& error) {
    throw thread_error("the thread that sends rows", error.code().message());
  }
}

// Makes the server remove rows that are stored twice. Returns false if the server refuses, for example because the rows
// are on other servers of a cluster.
bool BlockLoader::could_merge() {
  try {
    for (const std::uint16_t day : days_)
      server_.run(fmt::format("OPTIMIZE TABLE {}.{} PARTITION (toDate({}), {}) FINAL", sql_name(server_.database()),
                              table_, day, sql_string(host_)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

LoadCounts BlockLoader::finish() {
  if (rows_ > 0) send();
  wait();
  if (stored("") == ours_) return counts_;
  // Another process may have loaded the same trace at the same time. Blocks are then stored twice. The process that
  // ends last sees all these blocks and removes the duplicates.
  if (could_merge() && stored("") == ours_) return counts_;
  throw Error(fmt::format("On the server at {}, the {} of the trace {} differ from those sent: another process is "
                          "loading the same trace, or has changed it",
                          server_.address().http.base, table_, trace_))
      .hint(fmt::format("Run OPTIMIZE TABLE {}.{} FINAL on the server, or in a cluster for {}_local on each server. "
                        "Then load the trace again",
                        server_.database(), table_, table_));
}

}  // namespace kmt
