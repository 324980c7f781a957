# plan: build and print the DeepSeek-V3 plan. check: everything CI runs. dist: release binaries.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BUILD   := go build -trimpath -buildvcs=false -ldflags '-s -w -X github.com/ridgeline/ridgeline/internal/cli.version=$(VERSION)'
FUZZ    := 2000x
# The race detector needs a C compiler; without one the tests run all the same.
RACE    := $(if $(shell command -v cc),-race)
# Go keeps its caches under HOME; a bare environment gets one here.
export HOME := $(or $(HOME),$(CURDIR)/bin/home)

.PHONY: plan build check lint test fuzz dist clean
plan: build
	./bin/ridgeline train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8

build:
	CGO_ENABLED=0 $(BUILD) -o bin/ridgeline ./cmd/ridgeline

check: build lint test fuzz web-test

lint:
	@test -z "$$(gofmt -l .)" || { echo "not formatted; run gofmt -w on:"; gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# What takes minutes under the race detector runs without it.
test:
	go test $(RACE) -short -timeout 30m ./...
	go test -timeout 30m ./internal/api ./internal/calib ./internal/validate

# Every fuzz target a number of times, found by its name; FUZZ=1m for longer.
fuzz:
	@grep -rE '^func Fuzz[A-Z]' --include='*_test.go' . | sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9_]*).*| \1|' | sort | \
	while read -r dir target; do go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ) "$$dir" || exit 1; done

dist:
	@for p in $(or $(PLATFORMS),linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64); do \
	  os=$${p%/*} arch=$${p#*/} out=dist/ridgeline-$(VERSION)-$${p%/*}-$${p#*/}; [ $$os != windows ] || out=$$out.exe; echo $$out; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(BUILD) -o $$out ./cmd/ridgeline || exit 1; done

clean: ; rm -rf bin dist
include web/web.mk engine/engine.mk
