// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as the payload of a .kmt chunk; the first byte selects the type of the chunk. A fuzzer of whole
// files cannot reach this code because of the checksums. A readable input must be readable again after it was written.
// Before a difference of two samples (type 11), the payload has the size and the payload of the earlier sample.
// Events and profiles are tested by kmt_block_fuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/snapshot/snapshot.hpp"
#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/layout.hpp"
#include "formats/kmt/payload.hpp"
#include "formats/kmt/sample_delta.hpp"
#include "formats/kmt/symbols.hpp"
#include "formats/kmt/user_memory.hpp"
#include "snapshot/parse.hpp"
#include "symbols/call_type_source.hpp"

namespace {

using namespace kmt;
using namespace kmt::kmt_format;

void read_types(Bytes payload) {
  CallTypes types = decode_types(payload);
  if (encode_types(decode_types(encode_types(types))) != encode_types(types)) std::abort();
  TraceInfo info;
  info.calls.types = std::move(types);
  const CallTypeSource source(info, "");
  if (source.signatures() == nullptr) return;
  for (const RecordedFunction& function : info.calls.types.functions)
    (void)source.signatures()->signature(function.name);
}

void read_state(Bytes payload) {
  const StateSample sample = decode_sample(payload);
  if (encode_sample(decode_sample(encode_sample(sample))) != encode_sample(sample)) std::abort();
  (void)take_stock(parse_snapshot(sample, 4096));
}

void read_delta(Bytes payload) {
  constexpr std::size_t kMostBytes = 1 << 20;
  PayloadReader reader(payload);
  const std::size_t size = reader.text().size();
  const Bytes delta = payload.last(to_size(reader.remaining()));
  const StateSample base = decode_sample(payload.first(payload.size() - delta.size()).last(size));
  const StateSample sample = apply_delta(base, delta, kMostBytes);
  if (text_bytes(sample) > kMostBytes) std::abort();
  const StateSample again = apply_delta(base, encode_delta(base, sample), kMostBytes);
  if (encode_sample(again) != encode_sample(sample)) std::abort();
}

void read_symbols(Bytes payload) {
  const std::string text = decode_symbols(payload);
  const KallsymsText again = KallsymsText::in_columns(text);
  if (again.text() != text) std::abort();
  const SymbolColumns* const columns = again.columns();
  if (columns == nullptr) return;
  Payload whole = encode_symbols_head(*columns);
  whole.insert(whole.end(), columns->names.begin(), columns->names.end());
  if (decode_symbols(whole) != text) std::abort();
}

void read_chunk(std::uint8_t type, Bytes payload) {
  TraceDescription description;
  Findings findings;
  switch (type) {
    case kFacts: return decode_facts(payload, description);
    case kFormats:
      decode_formats(payload, description.kernel.formats);
      (void)parse_event_formats(description.kernel.formats, findings);
      return;
    case kStream: (void)encode_stream(decode_stream(payload)); return;
    case kState: return read_state(payload);
    case kStateDelta: return read_delta(payload);
    case kSymbols: return read_symbols(payload);
    case kTypes: return read_types(payload);
    case kUserMemory: (void)decode_user_memory(encode_user_memory(decode_user_memory(payload))); return;
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  try {
    read_chunk(data[0], {data + 1, size - 1});
  } catch (const Error&) {
    // expected: the chunk is damaged
  }
  return 0;
}
