"""What a campaign has done so far, as its log has it."""

from collections import defaultdict
from dataclasses import dataclass, field

from gradfuzz.cli.tally import Tally
from gradfuzz.corpus import Corpus
from gradfuzz.events import FindingSaved, RoundEnded, RoundStarted, WorkerDied
from gradfuzz.log import read_log
from gradfuzz.runfolder import RunFolder
from gradfuzz.schedule import Account
from gradfuzz.storage import Pending


@dataclass
class Past:
    """The counts of a campaign, the op and oracle of each round, and the seconds it has spent."""

    tally: Tally = field(default_factory=lambda: Tally(frozenset()))
    rounds: list[tuple[str, str]] = field(default_factory=list)
    spent: float = 0.0
    accounts: defaultdict[str, Account] = field(default_factory=lambda: defaultdict(Account))

    @classmethod
    def of(cls, folder: RunFolder, corpus: Corpus) -> "Past":
        """Read the log of a campaign."""
        past = cls()
        for line in read_log(folder.log, corpus):
            past.spent = max(past.spent, line.at)
            past.tally.count(line.event)
            match line.event:
                case RoundStarted():
                    past.rounds.append((line.event.op, line.event.oracle))
                case RoundEnded():
                    past.accounts[line.event.op].seconds += line.event.seconds
                case FindingSaved(shrunk=True):
                    past.accounts[line.event.finding.bucket.op].findings += 1
                case WorkerDied(bucket=bucket) if bucket is not None:
                    past.accounts[bucket.op].deaths += 1
        for op, counts in past.tally.ops.items():
            past.accounts[op].cases = counts.cases
        return past

    def unfinished(self) -> list[Pending]:
        """Return the findings that were saved when met, and not looked into since."""
        return [
            Pending(saved.finding.graph, saved.finding, None, saved.path, bucket)
            for bucket, saved in self.tally.new.items()
            if not saved.shrunk
        ]
