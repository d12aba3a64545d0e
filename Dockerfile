# everwhen as a server: `docker build -t everwhen .`, then `docker compose up`.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/everwhen \
 && /opt/everwhen/bin/pip install --no-cache-dir --no-compile ".[serve,ui,llm,postgres]"

FROM python:3.11-slim
# Nobody's account: it owns the volume and nothing else, and the rest of the image can be read-only.
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin everwhen \
 && install --directory --owner everwhen --mode 0700 /data
COPY --from=build /opt/everwhen /opt/everwhen
ENV PATH=/opt/everwhen/bin:$PATH \
    EVERWHEN_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENBLAS_NUM_THREADS=1
USER everwhen
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/readyz', timeout=4)"]
# SIGTERM lets requests that are being answered finish (30 s at the most).
STOPSIGNAL SIGTERM
ENTRYPOINT ["everwhen"]
CMD ["serve", "--host", "0.0.0.0"]
