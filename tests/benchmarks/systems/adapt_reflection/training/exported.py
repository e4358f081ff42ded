"""Preference rows as the builder exports them: two of each trajectory, folds in turn."""

import json
from pathlib import Path


def write_rows(folder: Path, many: int) -> Path:
    """Write ``many`` rows with their side file into a folder, and return it."""
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "prompt": [
                {"role": "system", "content": "You cook in a house."},
                {"role": "user", "content": f"Prepare cereal for breakfast, for person {n}."},
            ],
            "chosen": [
                {"role": "assistant", "content": "Ask Would you like milk with your cereal?"}
            ],
            "rejected": [{"role": "assistant", "content": "Move bowl_0 to table_0"}],
        }
        for n in range(many)
    ]
    side = [{"trajectory": str(n // 2), "fold": n % 4} for n in range(many)]
    for name, lines in (("preference", rows), ("preference.meta", side)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    return folder
