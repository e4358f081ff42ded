"""Presets: what the form of an endpoint is filled with for common servers.

Sources are the servers' own documentation of their OpenAI-compatible addresses. Hosted servers
change; a trial shows whether a preset still fits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.llm.security import KEY_PREFIX, read_address

_TOKENS: Mapping[str, Any] = {"max_tokens": 1024}


@dataclass(frozen=True)
class EndpointPreset:
    """A kind of server: its usual base URL, how it is asked, and what to do first.

    ``model`` is one that it serves, as it names it; ``hosted`` servers need a key in ``variable``.
    """

    key: str
    title: str
    base_url: str
    model: str
    first: str
    structured: str = "json_schema"
    variable: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: _TOKENS)
    prices: tuple[float, float] = (0.0, 0.0)
    simulated: bool = False

    @property
    def hosted(self) -> bool:
        return bool(self.variable)

    @property
    def host(self) -> str:
        """The entry of the list of allowed hosts that it needs."""
        address = read_address(self.base_url)
        return f"{address.host}:{address.port}" if address.loopback else address.netloc

    @property
    def initial(self) -> dict[str, Any]:
        """The values that the form starts with; a server on one's own machine costs nothing, but
        the fake endpoint has prices, so that costs and caps can be tried.
        """
        price_in, price_out = (None, None) if self.hosted else self.prices
        return {
            "model": self.model,
            "base_url": self.base_url,
            "parameters": dict(self.parameters),
            "structured": self.structured,
            "key_variable": self.variable,
            "price_in": price_in,
            "price_out": price_out,
            "simulated": self.simulated,
            "concurrency": 32 if self.hosted else 4,
        }


def _hosted(
    key: str, title: str, base_url: str, model: str, structured: str = "json_schema", **more: Any
) -> EndpointPreset:
    variable = f"{KEY_PREFIX}{key.upper()}"
    first = f"Put your key into the environment variable {variable} and start PlanJury again."
    return EndpointPreset(key, title, base_url, model, first, structured, variable, **more)


PRESETS = (
    EndpointPreset(
        "ollama", "Ollama", "http://localhost:11434/v1", "llama3.1:8b",
        "Start Ollama and fetch a model: ollama pull llama3.1:8b",
    ),
    EndpointPreset(
        "vllm", "vLLM", "http://localhost:8001/v1", "meta-llama/Llama-3.1-8B-Instruct",
        "Start it on a port that PlanJury does not use: vllm serve MODEL --port 8001",
    ),
    EndpointPreset(
        "llamacpp", "llama.cpp", "http://localhost:8080/v1", "default",
        "Start its server: llama-server -m MODEL.gguf --port 8080",
    ),
    EndpointPreset(
        "fake", "PlanJury’s fake endpoint", "http://127.0.0.1:8399/v1", "fake",
        "Start it: .venv/bin/python manage.py fake_endpoint. It makes its replies up.",
        structured="none", prices=(1.0, 3.0), simulated=True,
    ),
    _hosted("openai", "OpenAI", "https://api.openai.com/v1", "gpt-4.1-mini",
            parameters={"max_completion_tokens": 2048}),
    _hosted("anthropic", "Anthropic", "https://api.anthropic.com/v1", "claude-sonnet-4-5", "none"),
    _hosted("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai",
            "gemini-2.5-flash"),
    _hosted("mistral", "Mistral", "https://api.mistral.ai/v1", "mistral-small-latest"),
    _hosted("openrouter", "OpenRouter", "https://openrouter.ai/api/v1",
            "meta-llama/llama-3.1-70b-instruct", "json_object"),
    _hosted("together", "Together", "https://api.together.xyz/v1",
            "meta-llama/Llama-3.3-70B-Instruct-Turbo", "json_object"),
)  # fmt: skip
