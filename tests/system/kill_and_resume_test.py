#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill -9 of `hone tune` at ten random moments: nothing that was committed is lost, nothing is measured twice, no process stays.

  kill_and_resume_test.py BUILD_DIR [SEED]     the seed of the moments is printed; give it to repeat a run
"""
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import small_models
from hone_program import Findings, Hone

KILLS = 10
BUDGET_SECONDS = 40
LONGEST_START_SECONDS, LONGEST_SEARCH_SECONDS = 2.0, 7.0
ROWS = "SELECT id, hash, job, sequence, workload, context, environment, purpose, config, status, build_seconds, run_seconds, cpu_ns FROM trial ORDER BY id"


def trial_rows(database):
    """All trials by id; none where the database does not exist or has no schema yet."""
    if not os.path.exists(database):
        return {}
    try:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
        try:
            return {row[0]: row for row in connection.execute(ROWS)}
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return {}


def survivors(scratch):
    """Processes that still have the test's own home in their environment."""
    found, needle = [], f"HOME={scratch}\0".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                inherited = needle in file.read() + b"\0"
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                zombie = file.read().rsplit(")", 1)[1].split()[0] == "Z"
            if inherited and not zombie:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    found.append(file.read().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:
            continue  # it ended while we looked
    return found


def wait_until_alone(scratch, seconds=10):
    until = time.monotonic() + seconds
    while (left := survivors(scratch)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def kill_once(hone, command, database, moment, searching, findings, label):
    """Kills `moment` seconds after the start, or (`searching`) after the search began."""
    process = hone.start(*command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if searching:
        findings.expect(any(line.startswith("tuning ") for line in process.stderr), f"{label}: the search did not begin")
    time.sleep(moment)
    committed = trial_rows(database)
    ended_by_itself = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    findings.expect(not (left := wait_until_alone(hone.scratch)), f"{label}: processes left over: {left}")
    after = trial_rows(database)
    changed = [row for row in committed if after.get(row) != committed[row]]
    findings.expect(not changed, f"{label}: trials {changed} were committed before and are gone or changed")
    if os.path.exists(database):
        result = hone.call("db", "check", "--db", database)
        # Killed before its first transaction: an empty file, which the next run makes a database of.
        findings.expect(result.returncode == 0 or not after, f"{label}: hone db check: {result.stdout}{result.stderr}")
    print(f"{label}: {len(committed)} trials before, {len(after)} after{', had ended by itself' if ended_by_itself else ''}", flush=True)
    return len(committed)


def judge_end(hone, database, findings, seen):
    result = hone.call("db", "check", "--db", database)
    findings.expect(result.returncode == 0, f"the last hone db check: {result.stdout}{result.stderr}")
    rows = trial_rows(database)
    findings.expect(all(rows.get(row) == seen[row] for row in seen), "trials of killed runs changed in the last one")
    searched = [(row[4], row[5], row[6], row[8]) for row in rows.values() if row[7] == "search"]
    twice = {config for config in searched if searched.count(config) > 1}
    findings.expect(searched, "no search trial at all")
    findings.expect(not twice, f"measured more than once for their key: {sorted(twice)[:3]}")
    seconds = [row[10] + row[11] for row in rows.values()]
    findings.expect(sum(seconds) <= BUDGET_SECONDS + max(seconds, default=0),
                    f"{sum(seconds):.1f} s spent of {BUDGET_SECONDS} s, the longest trial took {max(seconds, default=0):.1f} s")
    findings.expect(len({row[2] for row in rows.values()}) == 1, "the runs did not continue one job")
    print(f"{len(rows)} trials, {len(searched)} of the search, {sum(seconds):.1f} of {BUDGET_SECONDS} s spent")


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    print(f"seed of the moments: {seed}", flush=True)
    moments, findings = random.Random(seed), Findings()
    with Hone(sys.argv[1]) as hone:
        model, database = small_models.save(small_models.classifier(), hone.path("small.onnx")), hone.path("kill.sqlite")
        command = ("tune", model, "--device", "host", "--db", database, "--time", f"{BUDGET_SECONDS}s", "--seed", "1")
        committed = 0
        for index in range(KILLS):
            searching = index % 3 != 0  # a third dies while it starts up (helpers, schema, roofs)
            moment = moments.uniform(0.02, LONGEST_SEARCH_SECONDS if searching else LONGEST_START_SECONDS)
            label = f"kill {index + 1}, {moment:.2f} s after {'the search began' if searching else 'the start'}"
            committed = max(committed, kill_once(hone, command, database, moment, searching, findings, label))
        findings.expect(committed > 0, "no trial was committed before any kill")
        seen = trial_rows(database)
        hone.ok(*command, timeout=180)
        findings.expect(not (left := wait_until_alone(hone.scratch)), f"after the last run: processes left over: {left}")
        judge_end(hone, database, findings, seen)
    findings.finish()


if __name__ == "__main__":
    main()
