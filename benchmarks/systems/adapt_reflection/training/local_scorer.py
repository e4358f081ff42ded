"""Scoring by a local transformers model. Imported by its command alone: it needs torch.

It is served as ``/v1/completions`` with ``echo`` and ``logprobs`` on this machine, so a run reaches
it as an endpoint: with a log, limits and costs, and without torch in a process of the web app.
"""

import json
import math
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.core.errors import CoreError
from benchmarks.core.types import Message
from benchmarks.llm.scoring import PROMPT_FORMS

HOST = "127.0.0.1"
LONGEST_BODY = 4_000_000
COMPLETIONS, MODELS = "/v1/completions", "/v1/models"


class ModelRefused(CoreError):
    """Raised where a model or adapter cannot be loaded, or cannot score texts."""


class TransformersScorer:
    """A causal language model that says how probable the tokens of a given text are."""

    def __init__(self, name: str, model: Any, tokenizer: Any, prompt_form: str) -> None:
        self.name, self.model, self.tokenizer = name, model, tokenizer
        self.form = PROMPT_FORMS[prompt_form]

    def token_probs(self, context: Sequence[Message], continuation: str) -> list[float]:
        """Return the probability of each token of a text after the messages, each in 0 to 1.

        A token that also holds the end of the prompt belongs to the prompt. Raises ``ValueError``
        for a text without a token of its own.
        """
        prompt = self.form(context)
        pieces, logprobs = self.logprobs(prompt + continuation)
        read, probabilities = 0, []
        for piece, value in zip(pieces, logprobs, strict=True):
            if read >= len(prompt) and value is not None:
                probabilities.append(math.exp(value))
            read += len(piece)
        if not probabilities:
            raise ValueError("the text has no token of its own")
        return probabilities

    def logprobs(self, text: str) -> tuple[list[str], list[float | None]]:
        """Return the tokens of a text as pieces of it, and the log probability of each.

        The first token has none (None). A token that ends within a character is an empty piece.
        """
        read = self.tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        ids, offsets = read["input_ids"].to(self.model.device), read["offset_mapping"][0].tolist()
        longest = getattr(self.model.config, "max_position_embeddings", None)
        if longest and ids.shape[1] > longest:
            raise ModelRefused(f"{ids.shape[1]} tokens are more than the {longest} of the model")
        with torch.inference_mode():
            scores = torch.log_softmax(self.model(input_ids=ids).logits[0, :-1].float(), dim=-1)
        chosen = scores.gather(1, ids[0, 1:, None])[:, 0].tolist()
        pieces, end = [], 0
        for _, stop in offsets:
            pieces.append(text[end:stop])
            end = max(end, stop)
        return pieces, [None, *chosen]


def load(model: str, adapter: str | None = None, prompt_form: str = "transcript") -> Any:
    """Return a scorer by a model (a folder or a name) with an adapter, if one is given."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(adapter or model)
        model_weights = AutoModelForCausalLM.from_pretrained(model, dtype="auto")
        if adapter:
            model_weights = PeftModel.from_pretrained(model_weights, adapter)
    except (OSError, ValueError) as error:
        raise ModelRefused(f"{adapter or model} cannot be loaded: {error}") from None
    if not tokenizer.is_fast:
        raise ModelRefused(f"the tokenizer of {model} does not tell where its tokens stand")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return TransformersScorer(
        Path(adapter or model).name, model_weights.to(device).eval(), tokenizer, prompt_form
    )


class ScoringServer(ThreadingHTTPServer):
    """Serves a scorer on this machine alone; the model takes one text at a time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, scorer: TransformersScorer, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.scorer, self.lock = scorer, Lock()

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ScoringServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the log of the run has every call."""

    def do_GET(self) -> None:
        if self.path != MODELS:
            return self._refuse(404, f"there is {MODELS} and {COMPLETIONS}")
        listed = [{"id": self.server.scorer.name, "object": "model"}]
        self._send(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        length = self.headers.get("content-length") or ""
        if not length.isdigit() or int(length) > LONGEST_BODY:
            self.close_connection = True
            return self._refuse(413, f"a request has at most {LONGEST_BODY:,} bytes")
        raw = self.rfile.read(int(length))
        if self.path != COMPLETIONS:
            return self._refuse(404, f"this model only scores texts, at {COMPLETIONS}")
        try:
            body = json.loads(raw)
            prompt, wanted = body["prompt"], bool(body["echo"]) and body["logprobs"] is not None
        except (ValueError, LookupError, TypeError, RecursionError):
            return self._refuse(400, "expected JSON with prompt, echo and logprobs")
        if not wanted or not isinstance(prompt, str) or not prompt:
            return self._refuse(400, "expected a text to score, with echo and logprobs")
        try:
            with self.server.lock:
                tokens, logprobs = self.server.scorer.logprobs(prompt)
        except (ModelRefused, RuntimeError) as error:
            return self._refuse(400, str(error)[:500])
        choice = {"index": 0, "text": prompt, "finish_reason": "length",
                  "logprobs": {"tokens": tokens, "token_logprobs": logprobs}}  # fmt: skip
        usage = {"prompt_tokens": len(tokens), "completion_tokens": 0, "total_tokens": len(tokens)}
        self._send(200, {"object": "text_completion", "model": self.server.scorer.name,
                         "choices": [choice], "usage": usage})  # fmt: skip

    def _refuse(self, status: int, words: str) -> None:
        self._send(status, {"error": {"message": words, "type": "bad_request"}})

    def _send(self, status: int, value: Any) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
