# syntax=docker/dockerfile:1
# The image of the service: `docker build -t ranklog .`, then see deploy/docker-compose.yml.

FROM node:22-bookworm-slim AS build
WORKDIR /ranklog
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY schemas schemas
COPY libs libs
COPY src src
COPY LICENSE ./
RUN npm run build && node scripts/stage-package.mjs --program

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    RANKLOG_BOARDS=/etc/ranklog/boards.yaml \
    RANKLOG_OPERATIONS_HOST=0.0.0.0
WORKDIR /ranklog
# The package that npm publishes, without its documents: it needs no other one.
COPY --from=build /ranklog/dist/package .
# By number, as Kubernetes can't tell whether a user with a name is root. It is the user `node`.
USER 1000:1000
EXPOSE 9464 9465
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.RANKLOG_OPERATIONS_PORT || 9465}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1 and gets SIGTERM: a shell or npm in front of it would not pass it on.
ENTRYPOINT ["node", "/ranklog/dist/cli/main.js"]
CMD ["start"]
