"""The project itself: settings, urls, background work, system checks and the server command."""
