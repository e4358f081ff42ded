"""Sources of tasks: files and archives of ALFRED trials, and our own small house."""
