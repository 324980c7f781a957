#!/bin/sh
# Checks the page: types, that the committed build is the one these sources make,
# and the tests in Chromium against bin/ridgeline. Screenshots are left in
# web/screenshots. What this machine lacks skips the rest with a message.
set -eu
cd "$(dirname "$0")/.."

skip() {
	echo "web-test skipped: $1"
	exit 0
}

command -v npm >/dev/null || skip "npm is absent; Node.js 20.19 or later brings it"
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
	npm ci --no-audit --no-fund || { npm ping >/dev/null 2>&1 && exit 1; skip "the npm registry cannot be reached"; }
	touch node_modules
fi

npx tsc --noEmit
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
npx vite build --logLevel error --outDir "$fresh" --emptyOutDir
diff -r "$fresh" ../internal/web/dist || {
	echo "web-test: internal/web/dist is not what these sources make: run make web and commit it" >&2
	exit 1
}

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ apt-get update -q && apt-get install -q -y chromium; } >/dev/null 2>&1 || skip "apt-get could not install chromium"
	CHROMIUM=$(command -v chromium || true)
fi
[ -n "$CHROMIUM" ] || skip "Chromium is absent; name one with CHROMIUM=/path/to/it"
export CHROMIUM
npx playwright test
