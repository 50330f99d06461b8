// Command manifestgen answers what `flux install --export` would install, with the code of the flux command line itself.
//
// Standard input is a stream of JSON requests {"release": <folder of one release's files>, "options": {<fields of
// install.Options>}}; options that are not named keep the defaults of install.MakeDefaultOptions. For each request, in
// order, one line of JSON is written: {"content": <YAML>} or {"error": <sentence>}.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fluxcd/flux2/v2/pkg/manifestgen/install"
)

type request struct {
	Release string          `json:"release"`
	Options json.RawMessage `json:"options"`
}

type answer struct {
	Content string `json:"content,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "manifestgen:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(in)
	requests.DisallowUnknownFields()
	answers := json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if err := answers.Encode(respond(r)); err != nil {
			return err
		}
	}
}

func respond(r request) answer {
	content, err := generate(r)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Content: content}
}

// generate works in a copy of the release folder, made for this request alone: install.Generate writes its
// intermediate files beside the release's own.
func generate(r request) (string, error) {
	options := install.MakeDefaultOptions()
	if len(r.Options) > 0 {
		// A mistyped option must not silently become the default.
		decoder := json.NewDecoder(bytes.NewReader(r.Options))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&options); err != nil {
			return "", fmt.Errorf("reading the options: %w", err)
		}
	}
	base, err := os.MkdirTemp("", "manifestgen-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(base)
	if err := os.CopyFS(base, os.DirFS(r.Release)); err != nil {
		return "", fmt.Errorf("copying the release: %w", err)
	}
	manifest, err := install.Generate(options, base)
	if err != nil {
		return "", err
	}
	return manifest.Content, nil
}
