"""Tests of plug-ins. Those in the folders run in processes that have plug-ins, and only there."""

import os

collect_ignore = [] if "PLANJURY_PLUGIN_DIRS" in os.environ else ["installed", "broken"]
