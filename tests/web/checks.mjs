// SPDX-License-Identifier: GPL-2.0-or-later
// Counts checks that passed and checks that failed.

export class Checks {
  passed = 0;
  failures = [];

  constructor(title) {
    this.title = title;
  }
  ok(holds, what) {
    if (holds) ++this.passed;
    else {
      this.failures.push(what);
      console.error(`FAILED ${this.title}: ${what}`);
    }
    return holds;
  }
  equal(found, wanted, what) {
    const same = found === wanted || (found === null && wanted === undefined);
    return this.ok(same, `${what}: shown ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
  }
}
