// SPDX-License-Identifier: GPL-2.0-or-later
// Reads relay files as a Source.
#pragma once

#include <memory>

#include "formats/relay/capture.hpp"
#include "trace/source.hpp"

namespace kmt::relay {

// True if the bytes are records of a known layout.
bool is_relay(Bytes bytes);

// Opens relay files. Throws Error if OpenOptions::abi is not the name of a layout, or if the option is empty and no
// layout fits.
std::unique_ptr<Source> open(Capture capture, const OpenOptions& options);

}  // namespace kmt::relay
