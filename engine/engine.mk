# The engine that docs/loop.md measures: prebuilt llama.cpp for node, 83 MB, no compiler.
.PHONY: engine engine-test loop
engine:
	cd engine/llamacpp && ./install.sh

engine-test:
	go test ./cmd/ridgeline -run 'TestEngineServer|TestLaunchedEngine' -timeout 10m

# Prediction beside measurement with that engine; minutes, on a machine with little else to do. Pairs of
# models that LOOP_TIME leaves no time for are named at the end.
LOOP_TIME := 30m
loop:
	RIDGELINE_LOOP=1 go test ./cmd/ridgeline -run TestLoop -v -timeout $(LOOP_TIME)
