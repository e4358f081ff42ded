"""A fake OpenAI-compatible endpoint, for tests and for runs without a key."""
