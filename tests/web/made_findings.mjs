// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the evidence.json of an investigation. Pipes of one process make one cache grow among many others. Another
// cache starts to grow after half of the time. RECORDED_SECONDS is the length of a recording in the same folder.
//   node made_findings.mjs [RECORDED_SECONDS]
const kSteps = 64;
const kStepSeconds = 0.5;
const kRate = 200e3;
const steps = Array.from({ length: kSteps }, (_, at) => at);

function cache(name, valueAt) {
  const times = steps.map((at) => at * kStepSeconds * 1e9);
  return { source: 'slabinfo-objects', name, times_ns: times, values: steps.map(valueAt) };
}

const live = steps.map((at) => [at, (at + 1) * kStepSeconds * kRate]);
const group = {
  stack: ['alloc_pipe_info+0x52', 'create_pipe_files+0x44', 'do_pipe2+0x3c', '__x64_sys_pipe2+0x14'],
  cache: 'kmalloc-1k',
  task: 'leaky',
  process: 4321,
  cgroup: '/',
  left_out: false,
  seen: 400,
  objects: live.at(-1)[1] / 1024,
  bytes: live.at(-1)[1],
  live,
};
const others = Array.from({ length: 60 }, (_, of) => cache(`other-${of}`, (at) => 1e6 + (at % 2) * 5e3 + of * 1e4));
console.log(
  JSON.stringify({
    schema: 'kmemtrace.investigate-evidence/1',
    kernel: '6.18.0',
    machine: 'x86_64',
    start_unix_ns: 1,
    cut_short: '',
    recorded_seconds: Number(process.argv[2] ?? 0),
    unseen: [],
    seconds: kSteps * kStepSeconds,
    threshold_bytes_per_s: 1000,
    recording_after_seconds: 0,
    recorded: { caches: [], sizes: [], object_sizes: [], pages: false },
    states: [
      ...others,
      cache('kmalloc-1k', (at) => 4e6 + at * kStepSeconds * kRate),
      cache('began-late', (at) => 1e6 + Math.max(at - kSteps / 2, 0) * kStepSeconds * kRate),
    ],
    samples: { step_seconds: kStepSeconds, steps: kSteps, mean_bytes: 16384, pages: false, groups: [group] },
  }),
);
