// SPDX-License-Identifier: GPL-2.0-or-later
// Relay files as a Source.
#pragma once

#include <memory>

#include "formats/relay/capture.hpp"
#include "trace/source.hpp"

namespace kmt::relay {

// Whether the records of some layout are what these bytes are.
bool is_relay(Bytes bytes);

// Throws Error when OpenOptions::abi names no layout, or, without it, no layout fits.
std::unique_ptr<Source> open(Capture capture, const OpenOptions& options);

}  // namespace kmt::relay
