"""Signing in through an OpenID Connect server, for those whose institution has one."""
