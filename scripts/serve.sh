#!/bin/sh
# Starts the compiled service, with the settings of the file .env if there is one; the environment takes precedence.
# The flags keep its resident memory low (docs/performance.md).
cd "$(dirname "$0")/.." || exit 1
for part in dist/src/main.js node_modules/pg; do
  [ -e "$part" ] && continue
  echo "$part is missing. Run \"npm ci && npm run build\", or copy dist and node_modules of a build here" >&2
  exit 1
done
# Node loads the modules beside each other, and fails differently each time. It raises the soft limit itself.
if [ "$(ulimit -Hn)" != unlimited ] && [ "$(ulimit -Hn)" -lt 1024 ]; then
  echo "A process may open only $(ulimit -Hn) files here: raise the limit to 4096, with ulimit -n or LimitNOFILE of systemd" >&2
  exit 1
fi
[ -f .env ] && set -- --env-file=.env "$@"
exec env MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}" \
  node --max-semi-space-size=8 --heap-growing-percent=85 "$@" dist/src/main.js
