"""The HTTP API: one router for each resource, over the same services as the pages."""
