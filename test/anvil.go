package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/bursar/bursar/test/pins"
)

// anvil is an Ethereum node in one program (Foundry).
type anvil struct{ machine }

func (anvil) Name() string    { return "anvil" }
func (anvil) Says() string    { return "anvil " + pins.Anvil + " with npm, in the cache folder" }
func (anvil) After() []string { return []string{"nodejs"} }

func (a anvil) Needed(ctx context.Context) bool {
	program := a.getenv("BURSAR_ANVIL")
	if program == "" {
		program = a.path("anvil")
	}
	if program == "" {
		program = filepath.Join(a.folder("", "anvil-"+pins.Anvil), "anvil")
	}
	return !a.works(ctx, program, "--version")
}

// Install asks for the platform's own package by name.
func (a anvil) Install(ctx context.Context) error {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	return a.replace("anvil-"+pins.Anvil, func(work string) error {
		if err := a.one(ctx, locks+"/anvil", work, "@foundry-rs/anvil-"+platform, pins.Anvil); err != nil {
			return err
		}
		inside := filepath.Join("node_modules", "@foundry-rs", "anvil-"+platform, "bin", "anvil")
		if _, err := os.Stat(filepath.Join(work, inside)); err != nil {
			return fmt.Errorf("the package for %s contains no anvil: set BURSAR_ANVIL to the path of one: "+
				"%w", platform, err)
		}
		return os.Symlink(inside, filepath.Join(work, "anvil"))
	})
}
