"""A tiny language model with random weights, and its tokenizer, made here; nothing is loaded."""

from pathlib import Path

TEXTS = (
    "Open fridge_0", "Ask Would you like milk with your cereal?", "Move bowl_0 to table_0",
    "The person says: I like oat milk.", "Declare Done", "Search kitchen",
)  # fmt: skip
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_model(folder: Path, *, template: bool = True) -> Path:
    """Write model and tokenizer into a folder."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    special = ["<pad>", "</s>", "<|system|>", "<|user|>", "<|assistant|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokens.train_from_iterator(TEXTS, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokens,
        pad_token="<pad>",
        eos_token="</s>",
        chat_template=TEMPLATE if template else None,
    )
    made.save_pretrained(str(folder))
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(made),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=4096,
        pad_token_id=made.pad_token_id,
        eos_token_id=made.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder
