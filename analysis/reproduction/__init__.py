"""The paper's tables and figures from runs made here: presets, and a folder that can be checked."""
