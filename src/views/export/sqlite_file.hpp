// SPDX-License-Identifier: GPL-2.0-or-later
// Owned SQLite handles whose failures throw Error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace kmt {

class SqliteFile {
 public:
  // Writes a new file. After a crash the file is incomplete, and the caller must remove it.
  explicit SqliteFile(const std::string& path);

  void run(const std::string& sql);
  sqlite3* get() const { return database_.get(); }
  [[noreturn]] void fail() const;  // throws the last SQLite error

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// A prepared statement: bind the values in order, then run(), which also resets it.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteFile& file, std::string_view sql);

  SqliteStatement& null();
  SqliteStatement& number(std::int64_t number);
  // Stored as a signed number modulo 2^64, so addresses from 2^63 on are negative.
  SqliteStatement& number(std::uint64_t number) { return this->number(static_cast<std::int64_t>(number)); }
  SqliteStatement& number(std::uint32_t number) { return this->number(std::int64_t{number}); }
  SqliteStatement& real(double number);
  SqliteStatement& number(std::int32_t number) { return this->number(std::int64_t{number}); }
  template <typename Optional>
  SqliteStatement& maybe(const Optional& value) {
    return value ? number(*value) : null();
  }
  // Binds NULL for 0, since no row has the ID 0.
  SqliteStatement& id(std::uint32_t id) { return id == 0 ? null() : number(id); }
  SqliteStatement& text(std::string_view text);           // binds NULL if empty; the text must stay valid until run()
  SqliteStatement& required_text(std::string_view text);  // never NULL
  void run();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int code) const;

  const SqliteFile& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

}  // namespace kmt
