// SPDX-License-Identifier: GPL-2.0-or-later
// The description of the traced machine in a .kmt file: chunks of facts, of formats, of streams, and of its
// state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/record_stream.hpp"
#include "formats/trace_description.hpp"

namespace kmt::kmt_format {

std::vector<std::uint8_t> encode_facts(const TraceDescription& description);
// Large, and in a chunk of their own: a file whose symbols are damaged can still be read.
std::vector<std::uint8_t> encode_symbols(const TraceDescription& description);
// What becomes known while recording: task names, late notes, statistics.
std::vector<std::uint8_t> encode_end_facts(const TraceDescription& description);
std::vector<std::uint8_t> encode_sample(const StateSample& sample);
std::vector<std::uint8_t> encode_fact(std::string_view name, std::string_view value);
std::vector<std::uint8_t> encode_formats(const std::vector<FormatText>& formats);
std::vector<std::uint8_t> encode_types(const CallTypes& types);
std::vector<std::uint8_t> encode_stream(const RecordStream& stream);

// Add to what is known; a later fact replaces an earlier one of its name, an unknown one is passed over. Throw Error.
void decode_facts(Bytes payload, TraceDescription& description);
void decode_formats(Bytes payload, std::vector<FormatText>& formats);
CallTypes decode_types(Bytes payload);
RecordStream decode_stream(Bytes payload);
StateSample decode_sample(Bytes payload);

}  // namespace kmt::kmt_format
