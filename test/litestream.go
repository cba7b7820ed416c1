package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// litestream copies a SQLite database continuously. Besides packages its documentation recommends building it with
// Go.
type litestream struct{ machine }

const litestreamVersion = "0.5.18"

func (litestream) Name() string    { return "litestream" }
func (litestream) After() []string { return nil }
func (litestream) Says() string {
	return "Litestream " + litestreamVersion + " built with Go, in the cache folder (it takes minutes)"
}

func (l litestream) Needed(ctx context.Context) bool {
	program := l.getenv("BURSAR_LITESTREAM")
	if program == "" {
		program = filepath.Join(l.folder("", "litestream-"+litestreamVersion), "litestream")
	}
	return !l.works(ctx, program, "version")
}

// Install builds it outside of this module and its workspace, whose libraries have other versions, and without C.
func (l litestream) Install(ctx context.Context) error {
	return l.replace("litestream-"+litestreamVersion, func(work string) error {
		c := line("go", "install", "github.com/benbjohnson/litestream/cmd/litestream@v"+litestreamVersion)
		c.folder, c.env = work, []string{"GOBIN=" + work, "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0"}
		l.say("   " + c.String())
		if err := l.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		return nil
	})
}
