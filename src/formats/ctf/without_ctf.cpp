// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parts/missing_part.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/records.hpp"

namespace kmt::ctf {

namespace {

Error missing() { return missing_part("read CTF traces", "libbabeltrace2-dev", "CTF"); }

}  // namespace

std::unique_ptr<Source> open(const TraceFile&, const OpenOptions&) { throw missing(); }

void read_records(const TraceFile&, RecordSink&, Findings&) { throw missing(); }

}  // namespace kmt::ctf
