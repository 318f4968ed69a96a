// SPDX-License-Identifier: GPL-2.0-or-later
#include "library/convert.hpp"

#include <kmemtrace/version.hpp>

namespace kmemtrace {

Error::~Error() = default;

const char* version() { return KMEMTRACE_VERSION; }

Machine machine_of(const kmt::TraceInfo& info) {
  Machine machine;
  machine.format = info.format;
  machine.kernel = info.machine.kernel;
  machine.arch = info.machine.arch;
  machine.clock = info.clock.name;
  machine.little_endian = info.machine.byte_order == kmt::ByteOrder::little;
  machine.word_bits = info.machine.word_bits;
  machine.cpus = info.machine.cpus;
  machine.page_size = info.machine.page_size;
  machine.clock_in_ns = info.clock.in_ns;
  return machine;
}

std::vector<Finding> findings_of(const kmt::Findings& findings) {
  std::vector<Finding> found;
  for (std::size_t i = 0; i < kmt::kImperfections.size(); ++i) {
    const std::uint64_t count = findings.count_of(static_cast<kmt::Imperfection>(i));
    if (count == 0) continue;
    const kmt::ImperfectionText& text = kmt::kImperfections[i];
    found.push_back(
        {std::string(text.id), std::string(kmt::to_string(text.severity)), std::string(text.sentence), count});
  }
  return found;
}

void throw_as_public(const kmt::Error& error) {
  std::string message = error.what();
  for (const std::string& context : error.contexts()) message += ", while " + context;
  throw Error(message, error.place().file, error.place().offset, error.hint());
}

}  // namespace kmemtrace
