"""Whole campaigns from the command line: they repeat with their seed, and share a corpus."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.corpus import Corpus

OPS = set(all_ops(load_catalogues()))


def begin(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "gradfuzz", "fuzz", "--quiet", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def rounds(run: Path) -> list[str]:
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [line["op"] for line in lines if line["event"] == "RoundStarted"]


@pytest.mark.slow
def test_one_worker_has_the_same_rounds_and_draws_with_the_same_seed(tmp_path: Path) -> None:
    options = ("--ops", "Xlogy,Zeta,Neg,Exp", "--budget", "20", "--workers", "1", "--run", "run")
    campaigns = [begin(tmp_path / name, *options, "--seed", "3") for name in "ab"]
    assert [campaign.wait(timeout=120) for campaign in campaigns] == [1, 1]
    orders = [rounds(tmp_path / name / "run") for name in "ab"]
    shorter = min(map(len, orders))
    assert shorter >= 4
    assert orders[0][:shorter] == orders[1][:shorter]
    assert set(orders[0][:4]) == {"Xlogy", "Zeta", "Neg", "Exp"}
    met = []
    for name in "ab":
        cases = Corpus(tmp_path / name / "corpus", OPS).load_all()[0]
        met.append({(c.finding.bucket, c.seed): str(c.original) for _, c in cases})
    both = met[0].keys() & met[1].keys()
    assert both
    assert all(met[0][key] == met[1][key] for key in both)


@pytest.mark.slow
def test_two_campaigns_on_one_corpus_do_not_harm_each_other(tmp_path: Path) -> None:
    ops = "BesselI1,Xlogy,Xdivy,Zeta,Cumprod"
    options = ("--ops", ops, "--budget", "30", "--workers", "1", "--corpus", "corpus")
    campaigns = [
        begin(tmp_path, *options, "--seed", str(seed), "--run", f"run-{seed}") for seed in (1, 2)
    ]
    assert all(campaign.wait(timeout=120) in (0, 1) for campaign in campaigns)
    cases, errors = Corpus(tmp_path / "corpus", OPS).load_all()
    assert errors == []
    assert len(cases) >= 3
    assert [path for path in (tmp_path / "corpus").iterdir() if path.suffix != ".json"] == []
