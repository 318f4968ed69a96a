// SPDX-License-Identifier: GPL-2.0-or-later
// Relay files as a Source.
#pragma once

#include <memory>

#include "formats/relay/capture.hpp"
#include "trace/source.hpp"

namespace kmt::relay {

// True if these bytes are records of a layout.
bool is_relay(Bytes bytes);

// Throws Error if OpenOptions::abi is not a layout, or, without it, if no layout fits.
std::unique_ptr<Source> open(Capture capture, const OpenOptions& options);

}  // namespace kmt::relay
