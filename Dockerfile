# The service in one image: built with the pinned pnpm, and run by a user who owns nothing in it.
FROM node:24.21.0-slim AS build
WORKDIR /build
RUN npm install --global pnpm@10.34.9
# Dependencies are downloaded again only when these files change.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN pnpm fetch
COPY . .
RUN pnpm install --frozen-lockfile --offline \
 && pnpm exec turbo run build --filter=@tradeport/api --filter=@tradeport/cli \
 && pnpm --filter @tradeport/api deploy --prod --no-optional --legacy /app \
 && pnpm --filter @tradeport/cli deploy --prod --no-optional --legacy /app/cli

FROM node:24.21.0-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN mkdir /data && chown node:node /data
WORKDIR /app
COPY --from=build /app .
COPY README.md /
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3000/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
