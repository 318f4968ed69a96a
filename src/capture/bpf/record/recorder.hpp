// SPDX-License-Identifier: GPL-2.0-or-later
// Records the running kernel's events by BPF programs instead of ftrace: the same records, with less overhead for the
// traced workload.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/session/recording.hpp"
#include "trace/page_sink.hpp"

namespace kmt {

// Called before recording starts; returns the sink of the records. May throw to give up.
using OpenSink = std::function<RecordingSink*(const KernelDescription&, const std::vector<unsigned>& cpus)>;

// Like record(). Ignores the request's filters and clock (always "mono") and the hook `described`. The programs are
// gone when it returns, throws, or the process ends in any way. Throws Error.
RecordOutcome record_by_bpf(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks,
                            const OpenSink& open);

}  // namespace kmt
