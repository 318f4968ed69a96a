// SPDX-License-Identifier: GPL-2.0-or-later
// Reads owners in files of tracefs and debugfs: buffers of ftrace, and dma-bufs.
#pragma once

#include <string>
#include <string_view>

#include "snapshot/owners/lines.hpp"

namespace kmt {

// Adds a line for the buffers of each tracing instance. `root` is empty, or a folder with copies of the kernel's files.
void read_ftrace(const std::string& root, OwnerLines& lines);
// Adds a line for each dma-buf.
void read_dma_bufs(const std::string& root, OwnerLines& lines);
// Adds the dma-bufs in a text of /sys/kernel/debug/dma_buf/bufinfo.
void add_dma_bufs(std::string_view bufinfo, OwnerLines& lines);

}  // namespace kmt
