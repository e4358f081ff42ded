"""A fake OpenAI-compatible endpoint, for tests and for runs without a key.

It stands apart from the client, which does not know it.
"""
