//go:build !linux || !(amd64 || arm64)

package probe

import (
	"context"
	"errors"

	"github.com/ridgeline/ridgeline/internal/record"
)

func (g *GPU) run(context.Context, *record.Record) error {
	return errors.New("GPUs are measured on Linux only: run the probe there, or read nvbandwidth's and nccl-tests' output")
}
