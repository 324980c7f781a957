# The engine that docs/loop.md measures: prebuilt llama.cpp for node, 83 MB, no compiler.
.PHONY: engine loop
engine:
	cd engine/llamacpp && ./install.sh

# Prediction beside measurement with that engine; minutes, on a machine with little else to do.
loop:
	RIDGELINE_LOOP=1 go test ./cmd/ridgeline -run 'TestEngineServer|TestLaunchedEngine|TestLoop' -v -timeout 30m
