# The service alone, for use with a PostgreSQL and a ClickHouse server: the embedded stores are left out.
# The base is pinned: an index with linux/amd64 and linux/arm64. Another one is given by --build-arg NODE_IMAGE=…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
# What is built runs everywhere, so it is built on the machine's own platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
COPY console ./console
COPY vendor ./vendor
COPY CHANGELOG.md ./
COPY docs ./docs
RUN npm run build

FROM ${NODE_IMAGE}
# npm only runs commands here, also where nothing but /data and /tmp can be written.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NPM_CONFIG_LOGS_MAX=0 NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY --from=build /app/guide ./guide
# `npm run token` and its like ask it whether they are built.
COPY scripts/build.mjs ./scripts/
COPY clickhouse ./clickhouse
COPY drizzle ./drizzle
COPY catalogue ./catalogue
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=64", "--heap-growing-percent=100", "--no-allocation-site-pretenuring", "dist/tallyhouse.cjs", "start"]
