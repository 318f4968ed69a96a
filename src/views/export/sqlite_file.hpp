// SPDX-License-Identifier: GPL-2.0-or-later
// SQLite's handles, owned, and its errors as Error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace kmt {

class SqliteFile {
 public:
  // A new file. Nothing of it is safe from a crash before it is complete: who writes it removes it then.
  explicit SqliteFile(const std::string& path);

  void run(const std::string& sql);
  sqlite3* get() const { return database_.get(); }
  [[noreturn]] void fail() const;  // the last error

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// A prepared statement: values are bound one after the other, run() does it and starts over.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteFile& file, std::string_view sql);

  SqliteStatement& null();
  SqliteStatement& number(std::int64_t number);
  // Modulo 2^64: addresses beyond 2^63 are negative.
  SqliteStatement& number(std::uint64_t number) { return this->number(static_cast<std::int64_t>(number)); }
  SqliteStatement& number(std::uint32_t number) { return this->number(std::int64_t{number}); }
  SqliteStatement& real(double number);
  SqliteStatement& number(std::int32_t number) { return this->number(std::int64_t{number}); }
  template <typename Optional>
  SqliteStatement& maybe(const Optional& value) {
    return value ? number(*value) : null();
  }
  // Null where it is 0, which no table has.
  SqliteStatement& id(std::uint32_t id) { return id == 0 ? null() : number(id); }
  SqliteStatement& text(std::string_view text);           // null where it is empty; borrowed until run()
  SqliteStatement& required_text(std::string_view text);  // never null
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
