package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bursar/bursar/test/pins"
)

// litesvm is Solana's virtual machine as a library for Node.js.
type litesvm struct{ machine }

func (litesvm) Name() string    { return "litesvm" }
func (litesvm) Says() string    { return "LiteSVM " + pins.LiteSVM + " with npm, in the cache folder" }
func (litesvm) After() []string { return []string{"nodejs"} }

func (l litesvm) Needed(ctx context.Context) bool {
	return !l.loads(ctx, l.folder("BURSAR_LITESVM", "litesvm-"+pins.LiteSVM))
}

// loads reports whether the library in a directory can be loaded here.
func (l litesvm) loads(ctx context.Context, folder string) bool {
	for _, library := range l.glob(filepath.Join(folder, "node_modules", "litesvm-*")) {
		if l.works(ctx, "node", "-e", "new (require(process.argv[1]).LiteSvm)()", library) {
			return true
		}
	}
	return false
}

// Install asks for the platform's own package by name, as for anvil: the library loads in Node.js 18, though it names
// 20.
func (l litesvm) Install(ctx context.Context) error {
	return l.replace("litesvm-"+pins.LiteSVM, func(work string) error {
		if err := l.one(ctx, locks+"/litesvm", work, l.library(), pins.LiteSVM); err != nil {
			return err
		}
		if !l.loads(ctx, work) {
			return fmt.Errorf("LiteSVM %s does not run on this platform with this Node.js", pins.LiteSVM)
		}
		return nil
	})
}

// library is the package of this platform. The package litesvm adds only a wrapper in JavaScript, with fifty
// dependencies.
func (l litesvm) library() string {
	name := "litesvm-" + runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	switch {
	case runtime.GOOS != "linux":
		return name
	case len(l.glob("/lib/ld-musl-*")) > 0:
		return name + "-musl"
	}
	return name + "-gnu"
}
