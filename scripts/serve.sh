#!/bin/sh
# Starts the compiled service, with the settings of the file .env if there is one; the environment takes precedence.
# The flags keep its resident memory low (docs/performance.md).
cd "$(dirname "$0")/.." || exit 1
[ -f .env ] && set -- --env-file=.env "$@"
exec env MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}" \
  node --max-semi-space-size=8 --heap-growing-percent=85 "$@" dist/src/main.js
