package modelfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/model"
)

// Open reads a model from a config.json, a model folder that holds one, or a
// GGUF file. In a folder hf_quant_config.json beside the configuration, where
// present, gives the checkpoint's format.
func Open(path string) (*model.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(path, err)
	}
	if info.IsDir() {
		return openFolder(path)
	}
	if strings.EqualFold(filepath.Ext(path), ".gguf") {
		return OpenGGUF(path)
	}
	return openConfig(path)
}

func openFolder(dir string) (*model.Model, error) {
	path := filepath.Join(dir, "config.json")
	m, err := openConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no config.json in the folder; give the folder or file that holds it", dir)
	}
	if err != nil {
		return nil, err
	}
	side := filepath.Join(dir, "hf_quant_config.json")
	f, err := input.Open(side)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, plain(side, err)
	}
	defer f.Close()
	if err := readSidecar(f, m); err != nil {
		return nil, fmt.Errorf("%s: %w", side, err)
	}
	return m, nil
}

func openConfig(path string) (*model.Model, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, plain(path, err)
	}
	defer f.Close()
	m, err := ReadConfig(f, path)
	if err != nil {
		return nil, err
	}
	m.Name = modelName(path)
	if id := hubID(filepath.Base(path)); id != "" {
		m.HFID = id
	}
	return m, nil
}

// modelName is what a path says about the model: org/name for org--name_config.json,
// the folder's name for config.json, otherwise the file's.
func modelName(path string) string {
	base := filepath.Base(path)
	if id := hubID(base); id != "" {
		return id
	}
	if abs, err := filepath.Abs(path); err == nil && base == "config.json" {
		return filepath.Base(filepath.Dir(abs))
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// hubID is org/name of a file called org--name_config.json, or "".
func hubID(base string) string {
	stem, ok := strings.CutSuffix(base, "_config.json")
	if !ok || !strings.Contains(stem, "--") {
		return ""
	}
	return strings.Replace(stem, "--", "/", 1)
}

// plain drops the system call's name from a file error.
func plain(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Find reads the configuration of a Hugging Face id from a folder of files named
// org--name_config.json. Case does not matter, nor does Meta- before Llama.
func Find(id, configsDir string) (*model.Model, error) {
	entries, err := os.ReadDir(configsDir)
	if err != nil {
		return nil, plain(configsDir, err)
	}
	for _, e := range entries {
		if found := hubID(e.Name()); found != "" && foldID(found) == foldID(id) {
			return openConfig(filepath.Join(configsDir, e.Name()))
		}
	}
	return nil, fmt.Errorf("%s: no file for %s in the folder; its name would be %s_config.json", configsDir, id, strings.ReplaceAll(id, "/", "--"))
}

func foldID(id string) string {
	return strings.Replace(strings.ToLower(id), "meta-llama-", "llama-", 1)
}
