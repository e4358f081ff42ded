"""Where tasks come from: files and archives of ALFRED trials, and our own small house."""
