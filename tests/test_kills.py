"""SIGKILL at any moment, to any process of a campaign, loses nothing and tears nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.cli.past import Past
from gradfuzz.corpus import Corpus
from gradfuzz.finding import Bucket
from gradfuzz.runfolder import RunFolder

# Ops of which bugs are found at once, and ones that have none.
OPS = "BesselI1,Xlogy,Xdivy,Zeta,Cumprod,Igamma,Neg,Exp"
MOMENTS = {"worker": 30, "server": 12, "campaign": 8}
LONGEST_WAIT = 60.0


def begin(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gradfuzz", "fuzz", "--quiet", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def processes(campaign: subprocess.Popen[bytes]) -> dict[str, list[psutil.Process]]:
    """Return the fork server of a campaign, and its workers."""
    try:
        children = psutil.Process(campaign.pid).children()
        servers = [each for each in children if "forkserver" in " ".join(each.cmdline())]
        workers = [worker for server in servers for worker in server.children()]
    except psutil.Error:
        return {"server": [], "worker": []}
    return {"server": servers, "worker": workers}


def buckets(corpus: Corpus) -> set[Bucket]:
    cases, errors = corpus.load_all() if corpus.path.exists() else ([], [])
    assert errors == []
    return {case.finding.bucket for _, case in cases}


@pytest.mark.night
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_is_lost_or_torn_by_kills(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path / "corpus", set(all_ops(load_catalogues())))
    run = RunFolder(tmp_path / "run")
    rng = random.Random(1)
    victims = [victim for victim, count in MOMENTS.items() for _ in range(count)]
    rng.shuffle(victims)
    saved: set[Bucket] = set()
    seen: dict[int, psutil.Process] = {}
    options = ("--budget", "2h", "--ops", OPS, "--workers", "2", "--run", "run", "--seed", "1")
    campaign = begin(tmp_path, *options)
    for victim in victims:
        wait_for(lambda: len(processes(campaign)["worker"]) == 2)  # noqa: B023  # called here
        seen |= {each.pid: each for group in processes(campaign).values() for each in group}
        time.sleep(rng.uniform(0, 3))
        if victim == "campaign":
            campaign.kill()
            campaign.communicate()
            campaign = begin(tmp_path, "--resume", "run")
        else:
            for each in rng.sample(found := processes(campaign)[victim], min(1, len(found))):
                each.send_signal(signal.SIGKILL)
        assert campaign.poll() is None, campaign.stderr.read()
        saved |= buckets(corpus)
    wait_for(lambda: len(processes(campaign)["worker"]) == 2)
    campaign.send_signal(signal.SIGINT)
    _, said = campaign.communicate(timeout=LONGEST_WAIT)
    assert campaign.returncode == 1, said
    assert_whole(run, corpus, saved)
    assert_gone(list(seen.values()))


def assert_whole(run: RunFolder, corpus: Corpus, saved: set[Bucket]) -> None:
    """Every finding is there, every file is whole, and the counts are those of the log."""
    lines = [json.loads(line) for line in run.log.read_text().splitlines()]
    withdrawn = {Bucket(**line["bucket"]) for line in lines
                 if line["event"] in ("FindingWithdrawn", "FindingFlaky")}  # fmt: skip
    assert saved - withdrawn <= buckets(corpus)
    assert len(saved - withdrawn) >= 3
    assert [path for path in corpus.path.iterdir() if path.suffix != ".json"] == []
    tally = Past.of(run, corpus).tally
    counted = sum(line["cases"] for line in lines if line["event"] == "CasesCounted")
    assert run.status()["cases"] == tally.total.cases == counted > 100
    assert set(tally.new) == buckets(corpus)


def assert_gone(processes: list[psutil.Process]) -> None:
    """No process is left behind."""

    def is_left(process: psutil.Process) -> bool:
        try:
            # An orphan that init has not buried yet is not ours.
            return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    wait_for(lambda: not any(map(is_left, processes)))


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a disk")
def test_a_full_disk_is_told_and_the_campaign_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        fill_and_empty(tmp_path, disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill_and_empty(folder: Path, disk: Path) -> None:
    corpus = Corpus(disk / "corpus", set(all_ops(load_catalogues())))
    options = ("--budget", "2h", "--ops", OPS, "--workers", "2", "--seed", "1")
    campaign = begin(folder, *options, "--corpus", str(corpus.path), "--run", str(disk / "run"))
    wait_for(lambda: len(processes(campaign)["worker"]) == 2)
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass
    log = disk / "run/log.jsonl"
    time.sleep(20)
    assert campaign.poll() is None
    assert buckets(corpus) == set()
    filler.unlink()
    wait_for(lambda: len(buckets(corpus)) >= 3)
    campaign.send_signal(signal.SIGINT)
    _, said = campaign.communicate(timeout=LONGEST_WAIT)
    assert campaign.returncode == 1, said
    assert '"event": "StorageFailed"' in log.read_text()
    assert all(json.loads(line) for line in log.read_text().splitlines())
