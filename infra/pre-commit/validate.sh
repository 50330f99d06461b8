#!/bin/sh
# Runs `shoot-flux validate` for pre-commit, which clones this repository and installs nothing.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd)
[ -e "$home/node_modules" ] || npm ci --prefix "$home" --omit=dev --ignore-scripts --no-audit --no-fund >&2 || {
  rm -rf "$home/node_modules"
  exit 1
}
exec node "$home/infra/cli/shoot-flux.js" validate "$@"
