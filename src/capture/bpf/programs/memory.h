// SPDX-License-Identifier: GPL-2.0-or-later
// Shared between the BPF program and the process that runs it.
#pragma once

// Maximum number of bytes that one run of the program reads.
#define KMT_MEMORY_BYTES 4096
