# The service alone, for use with a PostgreSQL and a ClickHouse server: the embedded stores are left out.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
COPY console ./console
COPY vendor ./vendor
RUN npm run build

FROM node:24-slim
# npm only runs commands here, also where nothing but /data and /tmp can be written.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NPM_CONFIG_LOGS_MAX=0 NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY --from=build /app/dist ./dist
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
