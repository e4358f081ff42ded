"""Training a LoRA adapter by DPO with TRL. Imported by its command alone: it needs torch.

The loss is −log σ(β[(log π(chosen) − log π_ref(chosen)) − (log π(rejected) − log π_ref(rejected))])
with the base model, the adapter disabled, as reference. It is ln 2 before the first step.
"""

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import torch
import transformers
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import DPOConfig, DPOTrainer

from benchmarks.systems.adapt_reflection.training.files import RowsRefused, Split, TrainingRow
from benchmarks.systems.adapt_reflection.training.options import Options

LIBRARIES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
NO_ROWS_HELD_OUT = "no rows were held out"


def train_adapter(
    base: str, split: Split, options: Options, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Train an adapter on a base model, save it in ``folder``, and return what was measured.

    ``base`` is a folder or a name that transformers loads. Accuracy is the share of held-out rows
    whose chosen text has the higher implicit reward; the margin is the mean difference of rewards.
    The loss of a step is that before its update; ``say`` gets a line for each. Without held-out
    rows accuracy and margin are None, with a reason. Raises ``RowsRefused`` where the model has no
    chat template, or where no row is short enough.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
    except (OSError, ValueError) as error:
        raise RowsRefused(f"the model {base} cannot be loaded: {error}") from None
    if not tokenizer.chat_template:
        raise RowsRefused(f"the tokenizer of {base} has no chat template, which the rows need")
    train, too_long = _short_enough(split.train, tokenizer, options.max_length)
    held_out, too_long_held_out = _short_enough(split.held_out, tokenizer, options.max_length)
    if not train:
        raise RowsRefused(f"no row has at most {options.max_length} tokens")
    on_gpu = torch.cuda.is_available()
    trainer = DPOTrainer(
        model=model,
        args=DPOConfig(
            output_dir=str(folder),
            beta=options.beta,
            learning_rate=options.learning_rate,
            num_train_epochs=options.epochs,
            max_steps=options.steps or -1,
            per_device_train_batch_size=options.micro_batch,
            per_device_eval_batch_size=options.micro_batch,
            gradient_accumulation_steps=options.batch // options.micro_batch,
            # Rows that are too long were left out above; none is cut.
            max_length=None,
            # Dropout is a part of the adapter here; TRL would switch it off.
            disable_dropout=False,
            seed=options.seed,
            bf16=on_gpu and torch.cuda.is_bf16_supported(),
            use_cpu=not on_gpu,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=_dataset(train),
        eval_dataset=_dataset(held_out) if held_out else None,
        processing_class=tokenizer,
        peft_config=LoraConfig(
            r=options.rank,
            lora_alpha=options.alpha,
            lora_dropout=options.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_Lines(say))
    trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    evaluated = trainer.evaluate() if held_out else {}
    trainer.save_model(str(folder))
    tokenizer.save_pretrained(str(folder))
    return {
        "rows": {
            "trained": len(train),
            "held_out": len(held_out),
            "too_long": too_long + too_long_held_out,
        },
        "trajectories": {
            "trained": len({row.trajectory for row in train}),
            "held_out": len({row.trajectory for row in held_out}),
        },
        "steps": trainer.state.global_step,
        "losses": losses,
        "loss": losses[-1] if losses else None,
        "held_out": _held_out(evaluated),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        "device": "GPU" if on_gpu else "CPU",
    }


def quiet() -> None:
    """Keep the progress bars and hints of the libraries from the terminal."""
    datasets.disable_progress_bars()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


class _Lines(TrainerCallback):  # type: ignore[misc]
    """Writes one line for each step."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any], **more: Any
    ) -> None:
        if "loss" in logs:
            self.say(f"Step {state.global_step} of {state.max_steps}: loss {logs['loss']:.4f}")


def _dataset(rows: Sequence[TrainingRow]) -> Dataset:
    return Dataset.from_list([row.row for row in rows])


def _short_enough(
    rows: Sequence[TrainingRow], tokenizer: Any, most: int
) -> tuple[list[TrainingRow], int]:
    """Return the rows whose longer side has at most ``most`` tokens, and how many have more."""
    kept = [
        row
        for row in rows
        if max(
            len(tokenizer.apply_chat_template(row.row["prompt"] + row.row[side])["input_ids"])
            for side in ("chosen", "rejected")
        )
        <= most
    ]
    return kept, len(rows) - len(kept)


def _held_out(evaluated: dict[str, Any]) -> dict[str, Any]:
    names = {
        "loss": "eval_loss",
        "accuracy": "eval_rewards/accuracies",
        "margin": "eval_rewards/margins",
    }
    found: dict[str, Any] = {name: evaluated.get(key) for name, key in names.items()}
    return found if evaluated else {**found, "why": NO_ROWS_HELD_OUT}
