package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ridgeline/ridgeline/internal/input"
)

// maxConfig limits a configuration file; the largest published one, with a list
// of every unquantised module, has about 100 kB.
const maxConfig = 2 << 20

// maxDepth limits the nesting of a configuration; published ones reach 5.
const maxDepth = 32

// readObject reads one JSON object, with numbers as json.Number. Unlike
// encoding/json it refuses a key given twice: which one counts differs by reader.
func readObject(r io.Reader) (map[string]any, error) {
	text, err := input.Text(r, maxConfig)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(text)
	switch {
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty; it must hold a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, invalid(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text follows the JSON object; remove it")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not a JSON object; a model configuration starts with {")
	}
	return m, nil
}

// invalid says what is wrong with the JSON text, on one line.
func invalid(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON text ends early; is the file complete?")
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

func readValue(dec *json.Decoder, depth int) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if delim == '[' {
		return readList(dec, depth)
	}
	return readMap(dec, depth)
}

func readList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func readMap(dec *json.Decoder, depth int) (any, error) {
	m := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("key %v is not a string", tok)
		}
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("key %q appears twice; keep one", key)
		}
		if m[key], err = readValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return m, err
}
