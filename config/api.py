"""The HTTP API with the routers of all apps."""

from annotation.api import router as studies
from benchmarks.api.build import make_api

api = make_api([("/studies", studies)])
