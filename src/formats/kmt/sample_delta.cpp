// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/sample_delta.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/varint.hpp"

namespace kmt::kmt_format {

namespace {

// Operations on the lines of the base, which is the text in the earlier sample. The low bits of a varint are the
// operation, and the other bits are its operand.
enum Operation : std::uint8_t {
  kCopy = 0,     // copy this many lines; 0 is the end of the text
  kChange = 1,   // copy this many lines, each with some changed numbers
  kInsert = 2,   // insert this many bytes
  kAdvance = 3,  // skip this many lines
};
constexpr unsigned kOperationBits = 2;
constexpr std::size_t kMostDigits = 18;  // numbers with more digits do not change
constexpr std::size_t kMostTexts = 64;

Error damaged_delta() { return Error("A sample of the memory's state is damaged"); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The lines of a text, each with its line end. The last line may have no line end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
    lines.push_back(line);
    text.remove_prefix(line.size());
  }
  return lines;
}

// A decimal number and the spaces before it.
struct Number {
  std::size_t spaces = 0;
  std::string_view digits;
  std::size_t size() const { return spaces + digits.size(); }
};

// Returns the number at the start of the line; without digits if there is none.
Number number_at(std::string_view line) {
  Number number;
  number.spaces = std::min(line.find_first_not_of(' '), line.size());
  std::size_t end = number.spaces;
  while (end < line.size() && is_digit(line[end])) ++end;
  number.digits = line.substr(number.spaces, end - number.spaces);
  return number;
}

std::uint64_t value_of(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Appends a number in the format of the earlier number. Zeros before a number stay. A number after two or more spaces
// is aligned to the right.
void append_number(const Number& earlier, std::uint64_t value, std::string& out) {
  std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> text;
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t before = earlier.digits.size();
  std::size_t spaces = earlier.spaces;
  std::size_t zeros = 0;
  if (digits.size() < before && earlier.digits.front() == '0')
    zeros = before - digits.size();
  else if (spaces >= 2)
    spaces = earlier.size() > digits.size() ? earlier.size() - digits.size() : 1;
  out.append(spaces, ' ').append(zeros, '0').append(digits);
}

// The parts of a delta. They are separate, because similar data compress better.
struct Columns {
  Payload operations;
  Payload places;    // for each changed line: number of changes, and for each change the unchanged numbers before it
  Payload changes;   // differences of the numbers, zigzag
  Payload inserted;  // inserted bytes
};

void append_operation(Operation operation, std::uint64_t operand, Payload& out) {
  append_varint(out, operand << kOperationBits | operation);
}

class TextEncoder {
 public:
  TextEncoder(std::string_view base, Columns& out) : lines_(lines_of(base)), out_(out) {}

  void encode(std::string_view text) {
    const std::vector<std::string_view> lines = lines_of(text);
    // If both texts have the same number of lines, a line that is not in the base probably replaces a line of the base.
    const bool replaces = lines.size() == lines_.size();
    for (const std::string_view line : lines) {
      if (at_ < lines_.size() && lines_[at_] == line) {
        repeat(kCopy);
      } else if (const std::size_t found = find_later(line); found < lines_.size()) {
        flush();
        append_operation(kAdvance, found - at_, out_.operations);
        at_ = found;
        repeat(kCopy);
      } else if (at_ < lines_.size() && change(lines_[at_], line)) {
        repeat(kChange);
      } else {
        if (pending_ != kInsert) flush();
        pending_ = kInsert;
        count_ += line.size();
        out_.inserted.insert(out_.inserted.end(), line.begin(), line.end());
        if (replaces && at_ < lines_.size()) {
          flush();
          append_operation(kAdvance, 1, out_.operations);
          ++at_;
        }
      }
    }
    flush();
    append_operation(kCopy, 0, out_.operations);
  }

 private:
  void repeat(Operation operation) {
    if (pending_ != operation) flush();
    pending_ = operation;
    ++count_;
    ++at_;
  }
  void flush() {
    if (count_ > 0) append_operation(pending_, count_, out_.operations);
    count_ = 0;
  }

  // Returns the index of an equal line that is later in the base and occurs there only once. Otherwise returns the
  // number of lines.
  std::size_t find_later(std::string_view line) {
    if (places_.empty())
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const auto [place, is_new] = places_.try_emplace(lines_[i], i);
        if (!is_new) place->second = lines_.size();
      }
    const auto place = places_.find(line);
    return place == places_.end() || place->second < at_ ? lines_.size() : place->second;
  }

  // Appends the changes of the numbers if the line differs from the earlier one only in numbers, and if
  // append_number() returns them in the same format.
  bool change(std::string_view earlier, std::string_view line) {
    places_of_line_.clear();
    changes_of_line_.clear();
    std::uint64_t unchanged = 0;
    std::uint64_t changed = 0;
    while (!earlier.empty() && !line.empty()) {
      const Number from = number_at(earlier), to = number_at(line);
      if (from.digits.empty() != to.digits.empty()) return false;
      if (from.digits.empty()) {
        const std::size_t same = std::min(from.spaces + 1, std::min(earlier.size(), line.size()));
        if (from.spaces != to.spaces || earlier.substr(0, same) != line.substr(0, same)) return false;
        earlier.remove_prefix(same);
        line.remove_prefix(same);
        continue;
      }
      if (from.spaces == to.spaces && from.digits == to.digits) {
        ++unchanged;
      } else {
        if (std::max(from.digits.size(), to.digits.size()) > kMostDigits) return false;
        const std::uint64_t before = value_of(from.digits), after = value_of(to.digits);
        text_.clear();
        append_number(from, after, text_);
        if (text_ != line.substr(0, to.size())) return false;
        append_varint(places_of_line_, unchanged);
        append_varint(changes_of_line_, zigzag(static_cast<std::int64_t>(after - before)));
        unchanged = 0;
        ++changed;
      }
      earlier.remove_prefix(from.size());
      line.remove_prefix(to.size());
    }
    if (!earlier.empty() || !line.empty()) return false;
    append_varint(out_.places, changed);
    out_.places.insert(out_.places.end(), places_of_line_.begin(), places_of_line_.end());
    out_.changes.insert(out_.changes.end(), changes_of_line_.begin(), changes_of_line_.end());
    return true;
  }

  std::vector<std::string_view> lines_;  // of the base
  std::size_t at_ = 0;                   // index of the next line of the base
  Operation pending_ = kCopy;
  std::uint64_t count_ = 0;  // operand of the pending operation
  std::unordered_map<std::string_view, std::size_t> places_;
  Payload places_of_line_, changes_of_line_;
  std::string text_;
  Columns& out_;
};

// Reads the columns of a delta.
struct ColumnReaders {
  PayloadReader operations, places, changes;
  Bytes inserted;
};

class TextDecoder {
 public:
  TextDecoder(std::string_view base, ColumnReaders& in, std::size_t most_bytes)
      : base_(base), in_(in), most_bytes_(most_bytes) {}

  std::string decode() {
    for (;;) {
      const std::uint64_t operation = in_.operations.varint();
      const std::uint64_t operand = operation >> kOperationBits;
      switch (static_cast<Operation>(operation & ((1u << kOperationBits) - 1))) {
        case kCopy:
          if (operand == 0) return std::move(text_);
          add(next_lines(operand));
          break;
        case kChange:
          for (std::uint64_t i = 0; i < operand; ++i) change(next_lines(1));
          break;
        case kInsert: insert(operand); break;
        case kAdvance: next_lines(operand); break;
      }
    }
  }

 private:
  // Returns the next lines of the base.
  std::string_view next_lines(std::uint64_t count) {
    std::size_t end = 0;
    for (; count > 0; --count) {
      if (end == base_.size()) throw damaged_delta();
      const std::size_t line_end = base_.find('\n', end);
      end = line_end == std::string_view::npos ? base_.size() : line_end + 1;
    }
    const std::string_view lines = base_.substr(0, end);
    base_.remove_prefix(end);
    return lines;
  }

  void add(std::string_view text) {
    if (text.size() > most_bytes_ - text_.size()) throw damaged_delta();
    text_ += text;
  }

  void insert(std::uint64_t bytes) {
    if (bytes > in_.inserted.size()) throw damaged_delta();
    const Bytes inserted = in_.inserted.first(to_size(bytes));
    add(as_text(inserted));
    in_.inserted = in_.inserted.subspan(to_size(bytes));
  }

  void change(std::string_view line) {
    std::uint64_t changes = in_.places.varint();  // number of changes that are left
    std::uint64_t unchanged = changes > 0 ? in_.places.varint() : 0;
    changed_.clear();
    while (!line.empty()) {
      const Number number = number_at(line);
      std::size_t size = number.size();
      if (number.digits.empty()) {
        size = std::min(number.spaces + 1, line.size());
        changed_ += line.substr(0, size);
      } else if (changes == 0 || unchanged > 0) {
        changed_ += line.substr(0, size);
        if (unchanged > 0) --unchanged;
      } else {
        if (number.digits.size() > kMostDigits) throw damaged_delta();
        const auto change = static_cast<std::uint64_t>(unzigzag(in_.changes.varint()));
        append_number(number, value_of(number.digits) + change, changed_);
        unchanged = --changes > 0 ? in_.places.varint() : 0;
      }
      line.remove_prefix(size);
    }
    if (changes > 0) throw damaged_delta();
    add(changed_);
  }

  std::string_view base_;  // rest of the base
  std::string text_;
  std::string changed_;
  ColumnReaders& in_;
  std::size_t most_bytes_;
};

}  // namespace

std::size_t text_bytes(const StateSample& sample) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : sample.texts) bytes += text.size();
  return bytes;
}

Payload encode_delta(const StateSample& base, const StateSample& sample) {
  Columns columns;
  for (const auto& [name, text] : sample.texts) {
    const auto same_name = std::ranges::find(base.texts, name, &std::pair<std::string, std::string>::first);
    append_varint(columns.operations,
                  same_name == base.texts.end() ? 0 : static_cast<std::uint64_t>(same_name - base.texts.begin()) + 1);
    if (same_name == base.texts.end()) append_text(columns.operations, name);
    TextEncoder(same_name == base.texts.end() ? std::string_view() : same_name->second, columns).encode(text);
  }
  Payload out;
  append_varint(out, zigzag(static_cast<std::int64_t>(sample.ticks - base.ticks)));
  append_varint(out, zigzag(static_cast<std::int64_t>(sample.unix_ns - base.unix_ns)));
  append_varint(out, sample.texts.size());
  for (const Payload* const column : {&columns.operations, &columns.places, &columns.changes})
    append_varint(out, column->size());
  for (const Payload* const column : {&columns.operations, &columns.places, &columns.changes, &columns.inserted})
    out.insert(out.end(), column->begin(), column->end());
  return out;
}

StateSample apply_delta(const StateSample& base, Bytes delta, std::size_t most_bytes) {
  PayloadReader head(delta);
  StateSample sample;
  sample.ticks = base.ticks + static_cast<std::uint64_t>(unzigzag(head.varint()));
  sample.unix_ns = base.unix_ns + static_cast<std::uint64_t>(unzigzag(head.varint()));
  const std::uint64_t texts = head.varint();
  if (texts > kMostTexts) throw damaged_delta();
  std::array<std::uint64_t, 3> sizes;
  for (std::uint64_t& size : sizes) size = head.varint();
  Bytes rest = delta.last(to_size(head.remaining()));
  const auto column = [&rest](std::uint64_t size) {
    if (size > rest.size()) throw damaged_delta();
    const Bytes bytes = rest.first(to_size(size));
    rest = rest.subspan(to_size(size));
    return PayloadReader(bytes);
  };
  const PayloadReader operations = column(sizes[0]), places = column(sizes[1]), changes = column(sizes[2]);
  ColumnReaders columns{operations, places, changes, rest};
  for (std::uint64_t i = 0; i < texts; ++i) {
    const std::uint64_t number = columns.operations.varint();
    if (number > base.texts.size()) throw damaged_delta();
    std::string_view text;
    std::string name;
    if (number == 0) {
      name = columns.operations.text();
    } else {
      name = base.texts[to_size(number - 1)].first;
      text = base.texts[to_size(number - 1)].second;
    }
    sample.texts.emplace_back(std::move(name), TextDecoder(text, columns, most_bytes).decode());
    most_bytes -= std::min(most_bytes, sample.texts.back().second.size());
  }
  return sample;
}

}  // namespace kmt::kmt_format
