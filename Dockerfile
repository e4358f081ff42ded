# PlanJury in one container, which is the same for web and worker: compose.yaml shows both.
FROM debian:bookworm-slim AS environment
COPY . /src
RUN /src/deploy/container/install.sh environment /src

FROM debian:bookworm-slim
COPY deploy/container/install.sh /tmp/install.sh
RUN /tmp/install.sh system && rm /tmp/install.sh
COPY --from=environment /opt/planjury /opt/planjury
ENV PATH=/opt/planjury/bin:$PATH \
    PLANJURY_DATA_DIR=/data \
    PLANJURY_HOST=0.0.0.0 \
    PYTHONDONTWRITEBYTECODE=1
USER planjury
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
CMD ["planjury", "serve"]
