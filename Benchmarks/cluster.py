"""Simulates a batch that is too large for these machines, with the program's own planner and collector:

    python3 Benchmarks/cluster.py TANDEM [JOBS] [NODES] [FOLDER]      (default: 1,000,000 jobs, 1,000 nodes)

Checks of generated sources, whose durations are distributed log-normally, are submitted with `--engine openjd`: planned, and written in parts
that the planner cuts. The parts then run on simulated nodes: one part at a time per node, its jobs one after another, at a speed that differs
from the planner's estimate by a factor per job. Nodes fail at a stated rate (a part that is lost starts again on another node, without its
completed jobs), and jobs fail at a stated rate. Results are written as a run of a part writes them, and read by `tandem collect`, `resubmit`
(whose parts must be those with failed jobs) and `collect` again. Printed are the makespan against its lower bound, sizes, times and memory, and
the file operations of a real run of a part on the batch's folder."""

import collections
import hashlib
import heapq
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

JOBS_PER_FILE = 10_000
FAILED_JOBS = 0.001  # fraction of jobs that fail in the first run
NODE_FAILURES = (0, 0.01, 0.1)  # per node and hour
RESTART_DELAY = 60.0  # seconds until the loss of a node is noticed
SPEED = 8.0  # seconds of a source that are decoded in a second
START = 2.0  # seconds until a part's first job starts


def run(words, folder, status=0):
    """Returns the output, the seconds and the peak memory in MiB of a command."""
    begun = time.monotonic()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = process.stdout.read()
    _, code, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    if os.waitstatus_to_exitcode(code) != status:
        sys.exit(f"{' '.join(words)}: status {os.waitstatus_to_exitcode(code)}\n{text[-2000:]}")
    return text, seconds, usage.ru_maxrss // 1024


def write_jobs(folder, count):
    """Writes the job files, and returns their names and the durations of the sources by (file, id)."""
    durations, names = {}, []
    for first in range(0, count, JOBS_PER_FILE):
        name = f"jobs-{first // JOBS_PER_FILE}.yaml"
        names.append(name)
        with open(f"{folder}/{name}", "w") as file:
            file.write("version: 1\njobs:\n")
            for job in range(first, min(first + JOBS_PER_FILE, count)):
                seconds = min(20_000, max(1, round(random.lognormvariate(5, 1))))
                durations[name, f"j{job}"] = seconds
                file.write(
                    f"  j{job}: {{ asset: {{ pattern: testsrc, size: 1280x720, duration: {seconds}s }}, check: true }}\n")
    return names, durations


def read_parts(batch):
    """Returns the digests of the parts and, for each, its jobs as (file, id, line)."""
    with open(f"{batch}/plan.json") as file:
        digests = json.load(file)["parts"]
    parts = []
    for index, digest in enumerate(digests):
        with open(f"{batch}/shard-{index}.json", "rb") as file:
            data = file.read()
        assert hashlib.sha256(data).hexdigest() == digest
        parts.append([(j["file"], j["id"], j["location"]["line"]) for j in json.loads(data)["plan"]["jobs"]])
    return digests, parts


def makespan(parts, nodes, failures):
    """Returns the seconds until the last part has ended, and the number of lost parts. `parts` are lists of seconds; `failures` is the
    rate per node and hour."""
    free = [(0.0, node) for node in range(nodes)]
    waiting = collections.deque((0.0, part, 0) for part in range(len(parts)))
    late = []  # lost parts: (earliest start, part, first job)
    end, lost = 0.0, 0
    while waiting or late:
        now, node = heapq.heappop(free)
        if late and (late[0][0] <= now or not waiting):
            earliest, part, first = heapq.heappop(late)
        else:
            earliest, part, first = waiting.popleft()
        now = max(now, earliest) + START
        death = now + random.expovariate(failures / 3600) if failures else float("inf")
        for job in range(first, len(parts[part])):
            if now + parts[part][job] > death:
                lost += 1
                heapq.heappush(late, (death + RESTART_DELAY, part, job))
                now = death + 600  # until the node is back
                break
            now += parts[part][job]
        else:
            end = max(end, now)
        heapq.heappush(free, (now, node))
    return end, lost


def write_results(batch, digests, parts, template, only, failed):
    """Writes the results of a run of each part of `only`, in which the jobs of `failed` fail. Returns their size."""
    total = 0
    entry = json.dumps(template["jobs"][0])
    for part in only:
        report = dict(template, part=digests[part], begun=time.time(), jobs=[])
        for file, job, line in parts[part]:
            one = json.loads(entry)
            one.update(file=file, id=job, line=line)
            if (file, job) in failed:
                one.update(outcome="failed", reason="the source is damaged")
                one.pop("output", None)
            report["jobs"].append(one)
        data = json.dumps(report, separators=(",", ":"))
        total += len(data)
        with open(f"{batch}/results/{part}-node-{part}-{time.time_ns()}.json", "w") as file:
            file.write(data)
    return total


def folder_operations(tandem, folder, jobs):
    """Returns the numbers of system calls on the batch's folder and on destinations of a run of a part, per part and per job."""
    counts = []
    for count in (1, jobs):
        shutil.rmtree(f"{folder}/tiny", ignore_errors=True)
        os.makedirs(f"{folder}/tiny")
        with open(f"{folder}/tiny/jobs.yaml", "w") as file:
            file.write("version: 1\njobs:\n")
            for job in range(count):
                file.write(
                    f"  j{job}: {{ asset: {{ pattern: testsrc, size: 16x16, duration: 1s }}, tracks: [ {{ video: first, "
                    f"encode: {{ codec: ffv1 }} }} ], destination: out/{job}.mkv }}\n")
        run([tandem, "plan", "--shards", "1", "--out", "batch", "jobs.yaml"], f"{folder}/tiny")
        run(["strace", "-f", "-y", "-o", "trace", tandem, "run", "-q", "--plan", "batch", "--shard", "0"], f"{folder}/tiny")
        with open(f"{folder}/tiny/trace", errors="replace") as file:
            lines = [line for line in file if f"{folder}/tiny/" in line and "= ?" not in line]
        calls = collections.Counter()
        for line in lines:
            if match := re.match(r"\d+ +(\w+)\(", line):
                calls["batch" if f"{folder}/tiny/batch" in line else "outputs", match[1]] += 1
        counts.append(calls)
    one, many = counts
    return one, {key: (many[key] - one[key]) / (jobs - 1) for key in many if many[key] > one[key]}


def main():
    tandem = os.path.realpath(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    nodes = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    folder = tempfile.mkdtemp(dir=sys.argv[4] if len(sys.argv) > 4 else None)
    random.seed(1)
    try:
        names, durations = write_jobs(folder, jobs)
        batch = f"{folder}/batch"
        text, seconds, memory = run([tandem, "submit", "--engine", "openjd", "--out", "batch", *names], folder)
        digests, parts = read_parts(batch)
        size = sum(os.path.getsize(f"{batch}/shard-{i}.json") for i in range(len(parts)))
        print(f"plan: {jobs} jobs in {len(parts)} parts, {seconds:.0f} s, {memory} MiB of memory; "
              f"{size / 1e6:.0f} MB in {len(parts) + 1} files, {size / jobs:.0f} bytes per job", flush=True)
        assert sum(map(len, parts)) == jobs

        # The planner's estimate for this machine is close to SPEED; the true speed differs per job.
        work = [[durations[os.path.basename(file), job] / SPEED * random.lognormvariate(0, 0.3) for file, job, _ in part]
                for part in parts]
        total, longest = sum(map(sum, work)), max(map(max, work))
        bound = max(total / nodes, longest)
        print(f"work: {total / 3600:.0f} hours, longest job {longest:.0f} s, parts from {min(map(sum, work)):.0f} to "
              f"{max(map(sum, work)):.0f} s; lower bound of the makespan on {nodes} nodes: {bound:.0f} s")
        for rate in NODE_FAILURES:
            end, lost = makespan(work, nodes, rate)
            print(f"makespan with {rate} failures per node and hour: {end:.0f} s, {end / bound:.3f} of the bound; {lost} parts lost", flush=True)

        operations, per_job = folder_operations(tandem, folder, 21)
        with open(f"{folder}/tiny/checks.yaml", "w") as file:
            file.write("version: 1\njobs: { a: { asset: { pattern: testsrc, size: 16x16, duration: 1s }, check: true } }\n")
        run([tandem, "plan", "--shards", "1", "--out", "checks", "checks.yaml"], f"{folder}/tiny")
        run([tandem, "run", "-q", "--plan", "checks", "--shard", "0"], f"{folder}/tiny")
        name = os.listdir(f"{folder}/tiny/checks/results")[0]
        with open(f"{folder}/tiny/checks/results/{name}") as file:
            template = json.load(file)

        failed = {(file, job) for part in parts for file, job, _ in part if random.random() < FAILED_JOBS}
        size = write_results(batch, digests, parts, template, range(len(parts)), failed)
        text, seconds, memory = run([tandem, "collect", "batch"], folder, status=1)
        assert f"{jobs - len(failed)} of {jobs} jobs done" in text, text[-500:]
        print(f"collect: {seconds:.0f} s, {memory} MiB; results of {size / 1e6:.0f} MB in {len(parts)} files, {len(failed)} failed jobs found", flush=True)
        text, seconds, memory = run([tandem, "resubmit", "batch"], folder)
        again = [i for i, part in enumerate(parts) if any((file, job) in failed for file, job, _ in part)]
        assert f"submission 2: {len(again)} part" in text, text
        print(f"resubmit: {len(again)} parts, {seconds:.0f} s, {memory} MiB", flush=True)
        write_results(batch, digests, parts, template, again, set())
        text, seconds, memory = run([tandem, "collect", "batch"], folder)
        assert f"{jobs} of {jobs} jobs done" in text, text[-500:]
        print(f"collect again: {seconds:.0f} s, {memory} MiB", flush=True)

        for place in ("batch", "outputs"):
            fixed = {name: n for (where, name), n in sorted(operations.items()) if where == place}
            print(f"system calls on the folder of the {place}, of a part with one job: {sum(fixed.values())} {fixed}")
            each = {name: round(n, 1) for (where, name), n in sorted(per_job.items()) if where == place}
            print(f"and for each further job: {sum(each.values()):.1f} {each}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
