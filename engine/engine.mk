# The engine that docs/loop.md measures: prebuilt llama.cpp for node, 83 MB, no compiler.
.PHONY: engine
engine:
	cd engine/llamacpp && ./install.sh
