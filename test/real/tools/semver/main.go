// Command semver says which versions are in a range, with the library that Flux uses.
//
// Standard input is a stream of JSON requests {"range": <text>, "versions": [<version>]}. For each request, in order, one
// line of JSON is written: {"included": [<bool>]} or {"error": <sentence>}.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/Masterminds/semver/v3"
)

type request struct {
	Range    string   `json:"range"`
	Versions []string `json:"versions"`
}

type answer struct {
	Included []bool `json:"included,omitempty"`
	Error    string `json:"error,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "semver:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(in)
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
	constraints, err := semver.NewConstraint(r.Range)
	if err != nil {
		return answer{Error: err.Error()}
	}
	included := make([]bool, 0, len(r.Versions))
	for _, text := range r.Versions {
		version, err := semver.NewVersion(text)
		if err != nil {
			return answer{Error: err.Error()}
		}
		included = append(included, constraints.Check(version))
	}
	return answer{Included: included}
}
