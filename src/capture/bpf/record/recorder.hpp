// SPDX-License-Identifier: GPL-2.0-or-later
// Records the running kernel's events with BPF programs instead of ftrace. The records are the same, with less overhead
// for the traced workload.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/session/recording.hpp"
#include "trace/page_sink.hpp"

namespace kmt {

// The hook is called before recording starts. It returns the sink for the records, or throws to cancel the recording.
using OpenSink = std::function<RecordingSink*(KernelDescription&, const std::vector<unsigned>& cpus)>;

// Records like record() in ftrace/recorder.hpp. Ignores the request's filters, the clock (it is always "mono") and the
// hook `described`. The programs are detached when this function returns or throws, and also when the process is
// killed. Throws Error.
RecordOutcome record_by_bpf(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks,
                            const OpenSink& open);

}  // namespace kmt
