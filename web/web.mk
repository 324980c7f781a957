# web: build the page into internal/web/dist, which is committed, so that the
# program builds without Node. web-test: is that build current, and does the page
# work in a browser? It skips with a message where npm or Chromium cannot be had.
.PHONY: web web-test
web:
	cd web && npm ci --no-audit --no-fund && npm run build

web-test: build
	sh web/test/run.sh
