"""What every path says of a finding: saved with it, and shown."""

from dataclasses import replace

import numpy as np
import pytest

from gradfuzz.casefile import dumps, loads
from gradfuzz.check import check
from gradfuzz.errors import CaseFileError
from gradfuzz.finding import Vote
from gradfuzz.graph import Call, Ref
from gradfuzz.runtime import tf
from gradfuzz.vote import vote
from tests.build import chain, one_call
from tests.planted import planted_gradient
from tests.test_casefile import CASE

X = Ref(0)


def votes_on(graph, oracle):
    finding = check(graph, oracles=(oracle,)).finding
    assert finding is not None
    return {vote.path: vote for vote in vote(finding)}


def test_one_sees_that_a_gradient_is_wrong_where_the_rank_is_unknown():
    def wrong(right, op, cotangent):
        return right(op, cotangent) * (2 if op.inputs[0].shape.rank is None else 1)

    with planted_gradient("Square", wrong):
        votes = votes_on(one_call("Square", 3.0, x=X), "compiled")
    assert votes.pop("numeric").value == pytest.approx(6)
    assert votes.pop("reverse with unknown rank").value == 12
    assert {vote.value for vote in votes.values()} == {6}
    assert len(votes) == 8


def test_one_sees_that_eager_forward_over_forward_mode_is_wrong():
    graph = chain(
        0.7,
        Call("Identity", {"input": X}),
        Call("Mul", {"x": Ref(1), "y": Ref(1)}),
        Call("Mul", {"x": Ref(2), "y": Ref(1)}),
    )
    votes = votes_on(graph, "second")
    right = votes["numeric"].value
    assert votes["forward over forward"].value == pytest.approx(right * 2.4 / 4.2)
    for path in ("reverse over reverse", "reverse over forward", "forward over forward in a graph"):
        assert votes[path].value == pytest.approx(right, rel=1e-12)


def test_a_path_that_raises_or_is_lost_has_no_value():
    def wrong(right, op, cotangent):
        if op.inputs[0].shape.rank is None:
            raise ValueError("of all things")
        return right(op, cotangent) if tf.executing_eagerly() else None

    with planted_gradient("Square", wrong):
        votes = votes_on(one_call("Square", 3.0, x=X), "compiled")
    assert str(votes["reverse in a graph"]) == "None"
    assert str(votes["reverse with unknown rank"]) == "raises-ValueError"
    assert str(votes["reverse"]) == "6"


def test_a_path_whose_outputs_have_another_shape_says_so():
    # The window is larger than what it slides over; only the float64 kernel returns nothing.
    shape = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    graph = one_call(
        "DepthwiseConv2dNative",
        np.zeros((1, 1, 1, 1)),
        np.zeros((2, 1, 1, 1)),
        input=X,
        filter=Ref(1),
        **shape,
    )
    vote = votes_on(graph, "forward")["float32"]
    assert (vote.value, vote.note) == (None, "the outputs have other shapes in float32")


def test_a_vote_is_shown_with_its_error():
    assert str(Vote("numeric", 4.2, 3e-13)) == "4.2 ± 3e-13"
    assert str(Vote("reverse", 2.4)) == "2.4"


VOTES = (Vote("reverse", 2.4), Vote("numeric", 4.2, 3e-13), Vote("xla", None, note="None"))


def test_votes_are_saved_with_a_case_and_read_back():
    case = replace(CASE, finding=replace(CASE.finding, votes=VOTES))
    assert loads(dumps(case), lambda op: None).finding.votes == VOTES


def test_a_case_without_votes_has_no_such_member():
    assert '"votes"' not in dumps(CASE)
    assert loads(dumps(CASE), lambda op: None).finding.votes == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"path": "xla", ', "", "votes[2]: no key 'path', should be there"),
        ('"value": 2.4', '"value": "2.4"', "votes[0].value: "),
        ('"note": "None"', '"note": 1', "votes[2].note: 1, should be a string"),
    ],
)
def test_wrong_votes_are_refused_with_their_place(old, new, message):
    text = dumps(replace(CASE, finding=replace(CASE.finding, votes=VOTES)))
    with pytest.raises(CaseFileError) as raised:
        loads(text.replace(old, new), lambda op: None)
    assert str(raised.value).startswith(message)
