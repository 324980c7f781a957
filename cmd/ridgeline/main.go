// Command ridgeline predicts, explains and ranks plans for training large language models.
package main

import (
	"os"

	"github.com/ridgeline/ridgeline/internal/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
