// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes and decodes the description of the traced machine in a .kmt file: chunks of facts, formats, streams and
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
// Returns the start of the payload of a fact with symbols that cannot be stored in columns (formats/kmt/symbols.hpp).
// The text follows and has `bytes` bytes. The fact has a separate chunk, because it is large, and because the rest of
// the file stays readable if this chunk is damaged.
std::vector<std::uint8_t> encode_kallsyms_head(std::size_t bytes);
// Encodes facts that are known only at the end of a recording: task names, late notes, statistics.
std::vector<std::uint8_t> encode_end_facts(const TraceDescription& description);
std::vector<std::uint8_t> encode_sample(const StateSample& sample);
std::vector<std::uint8_t> encode_fact(std::string_view name, std::string_view value);
std::vector<std::uint8_t> encode_formats(const std::vector<FormatText>& formats);
std::vector<std::uint8_t> encode_types(const CallTypes& types);
std::vector<std::uint8_t> encode_stream(const RecordStream& stream);

// decode_facts() and decode_formats() add to the description. A fact replaces an earlier one with the same name, and
// unknown facts are skipped. All functions throw Error.
void decode_facts(Bytes payload, TraceDescription& description);
void decode_formats(Bytes payload, std::vector<FormatText>& formats);
CallTypes decode_types(Bytes payload);
RecordStream decode_stream(Bytes payload);
StateSample decode_sample(Bytes payload);

}  // namespace kmt::kmt_format
