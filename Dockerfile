# The service in one image: API, worker or both (ROLE). See docs/production.md.

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build
# Leaves what the service needs to run.
RUN npm prune --omit=dev

FROM node:22-bookworm-slim
# A container is reached by its own address.
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json LICENSE THIRD-PARTY.md ./
COPY scripts/serve.sh scripts/
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# Embedded database, generated keys and the first ADMIN key; the only folder that the service writes to.
RUN mkdir -p data && chown node:node data
USER node
VOLUME /app/data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["sh", "scripts/serve.sh"]
