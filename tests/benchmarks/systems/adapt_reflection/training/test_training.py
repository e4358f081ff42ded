"""An adapter is trained, saved and loaded, and a local model scores texts; needs the extra."""

import json
import math
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.core.errors import AnswererFailed
from benchmarks.core.types import Message
from tests.benchmarks.llm.stage import answerer, ask
from tests.benchmarks.systems.adapt_reflection.training.exported import write_rows
from tests.benchmarks.systems.adapt_reflection.training.tiny_model import make_model

REASON = "the extra train (requirements/train.lock) is not installed"
torch = pytest.importorskip("torch", reason=REASON)
for package in ("transformers", "trl", "peft", "datasets", "accelerate"):
    pytest.importorskip(package, reason=REASON)

# The libraries' own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of a tiny model wait for each other longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("base"))


def train(folder: Path, base: Path, many: int, **options: Any) -> tuple[dict[str, Any], str]:
    written = StringIO()
    rows = write_rows(folder / "rows", many)
    given = {"learning_rate": "1e-2", "batch": "8", "micro_batch": "8", "seed": "7", **options}
    out = folder / "adapter"
    call_command(
        "train_reflection_dpo", rows=rows, base=str(base), out=out, stdout=written, **given
    )
    report: dict[str, Any] = json.loads((out / "training.json").read_text())
    return report, written.getvalue()


def test_loss_falls_and_the_adapter_is_loaded(tmp_path: Path, base: Path) -> None:
    report, text = train(tmp_path, base, 8, steps="20", held_out="0")
    assert report["steps"] == len(report["losses"]) == 20
    assert report["losses"][0] == pytest.approx(math.log(2), abs=1e-6)
    assert report["loss"] < 0.9 * math.log(2)
    held_out = report["held_out"]
    assert held_out["accuracy"] is None and held_out["margin"] is None
    assert held_out["why"] == "no rows were held out" and "undefined (no rows" in text
    assert report["rows"] == {"trained": 8, "held_out": 0, "too_long": 0}
    assert report["options"]["seed"] == 7 and report["versions"]["trl"]

    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(str(base))
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        before = plain(input_ids=ids).logits
        tuned = PeftModel.from_pretrained(plain, str(tmp_path / "adapter"))
        after = tuned(input_ids=ids).logits
    assert tuned.peft_config["default"].r == 4
    assert not torch.allclose(before, after)


def test_held_out_trajectories_and_long_rows(tmp_path: Path, base: Path) -> None:
    report, text = train(tmp_path, base, 12, steps="2", held_out="0.2", fold=3)
    # Folds come in turn: of trajectories 0 to 5 the odd ones lose a row.
    assert report["file"]["left_out"] == 3
    assert report["trajectories"] == {"trained": 5, "held_out": 1}
    held_out = report["held_out"]
    assert 0 <= held_out["accuracy"] <= 1 and math.isfinite(held_out["margin"])
    assert "reward accuracy" in text
    with pytest.raises(CommandError, match="no row has at most 16 tokens"):
        train(tmp_path / "rows", base, 2, max_length="16")


def test_a_model_without_chat_template(tmp_path: Path) -> None:
    bare = make_model(tmp_path / "bare", template=False)
    with pytest.raises(CommandError, match="no chat template"):
        train(tmp_path, bare, 2)
    with pytest.raises(CommandError, match="cannot be loaded"):
        train(tmp_path, tmp_path / "nowhere", 2)


class TestLocalScorer:
    CONTEXT = (Message("system", "You cook."), Message("user", "Eggs, naïvely?"))

    @pytest.fixture(scope="class")
    def scoring(self, base: Path) -> Iterator[Any]:
        from benchmarks.systems.adapt_reflection.training.commands import scoring_server

        made = scoring_server(str(base), None, 0)
        Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
        yield made
        made.shutdown()
        made.server_close()

    def test_numbers_are_the_models_own(self, scoring: Any) -> None:
        scorer = scoring.scorer
        text = "Open fridge_0 – now"
        found = scorer.token_probs(self.CONTEXT, text)
        ids = scorer.tokenizer(scorer.form(self.CONTEXT) + text)["input_ids"]
        expected = []
        for end in range(len(ids) - len(found), len(ids)):  # one token after the other
            with torch.inference_mode():
                logits = scorer.model(input_ids=torch.tensor([ids[:end]])).logits[0, -1]
            expected.append(torch.softmax(logits.float(), -1)[ids[end]].item())
        assert found == pytest.approx(expected, rel=1e-3)
        assert scorer.tokenizer.decode(ids[-len(found) :]) == text

    def test_a_run_reaches_it_as_an_endpoint(self, scoring: Any) -> None:
        text = "Ask How would you like your eggs – à la coque?"
        put = ask("You cook.", "Eggs, naïvely?", kind="scores", continuation=text)
        who = answerer(scoring)
        reply = json.loads(who.answer(put, 1).text)
        assert "".join(reply["tokens"]) == text
        own = scoring.scorer.token_probs(put.messages, text)
        assert reply["probabilities"] == pytest.approx(own, rel=1e-6)
        with pytest.raises(AnswererFailed, match="answered 404"):
            who.answer(ask("You cook.", "Eggs?"), 1)

    def test_adapters_and_refusals(self, tmp_path: Path, base: Path) -> None:
        with pytest.raises(CommandError, match="cannot be loaded"):
            call_command("serve_scorer", str(tmp_path / "nowhere"))
        with pytest.raises(CommandError, match="cannot be loaded"):
            call_command("serve_scorer", str(base), adapter=str(tmp_path / "nowhere"))
