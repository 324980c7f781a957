#!/bin/sh
# Installs node-llama-cpp and its prebuilt llama.cpp for this machine's CPU, without the GPU builds.
set -eu
cd "$(dirname "$0")"
version=$(sed -n 's/.*"node-llama-cpp": "\(.*\)".*/\1/p' package.json)
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) build=linux-x64 ;;
Linux-aarch64) build=linux-arm64 ;;
Darwin-arm64) build=mac-arm64-metal ;;
Darwin-x86_64) build=mac-x64 ;;
*) echo "install.sh: no prebuilt llama.cpp for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac
npm ci --ignore-scripts --omit=optional --no-audit --no-fund
npm install --save-exact --ignore-scripts --omit=optional --no-save --no-audit --no-fund "@node-llama-cpp/$build@$version"
