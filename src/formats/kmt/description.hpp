// SPDX-License-Identifier: GPL-2.0-or-later
// The traced machine's description in a .kmt file: chunks of facts, formats, streams and state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/record_stream.hpp"
#include "formats/trace_description.hpp"

namespace kmt::kmt_format {

std::vector<std::uint8_t> encode_facts(const TraceDescription& description);
// Symbols have a chunk of their own: they are large, and a file with damaged symbols stays readable.
std::vector<std::uint8_t> encode_symbols(const TraceDescription& description);
// Facts known only after the start: task names, late notes, statistics.
std::vector<std::uint8_t> encode_end_facts(const TraceDescription& description);
std::vector<std::uint8_t> encode_sample(const StateSample& sample);
std::vector<std::uint8_t> encode_fact(std::string_view name, std::string_view value);
std::vector<std::uint8_t> encode_formats(const std::vector<FormatText>& formats);
std::vector<std::uint8_t> encode_types(const CallTypes& types);
std::vector<std::uint8_t> encode_stream(const RecordStream& stream);

// These add to the description. A later fact replaces an earlier one of its name; unknown facts are skipped. Throw
// Error.
void decode_facts(Bytes payload, TraceDescription& description);
void decode_formats(Bytes payload, std::vector<FormatText>& formats);
CallTypes decode_types(Bytes payload);
RecordStream decode_stream(Bytes payload);
StateSample decode_sample(Bytes payload);

}  // namespace kmt::kmt_format
