package api

import "github.com/ridgeline/ridgeline/internal/launch"

// ImportRequest asks what a running configuration is in Ridgeline's terms. Either
// Words or Text is given.
type ImportRequest struct {
	Engine string
	Words  []string // of one command line
	Name   string   // of the file whose content is Text
	Text   []byte
	Config []byte // engine's configuration file beside it, nil = none
	// ConfigName names it in messages.
	ConfigName string
}

// Import reads a command line or a file back into degrees and a plan. Errors are
// bad input.
func Import(r *ImportRequest) (*launch.Imported, error) {
	var config map[string]any
	if r.ConfigName != "" {
		var err error
		if config, err = launch.Config(r.ConfigName, r.Config); err != nil {
			return nil, err
		}
	}
	if r.Words != nil {
		return launch.ImportWords(r.Engine, launch.Command{Words: r.Words}, config)
	}
	return launch.ImportFile(r.Engine, r.Name, r.Text, config)
}
