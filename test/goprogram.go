package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bursar/bursar/test/pins"
)

// goProgram is a program that is built from its source with Go, at one version. Their versions are in
// test/pins; Go checks what it downloads against its checksum database.
type goProgram struct {
	machine
	name     string // of the program and of the step
	version  string
	source   string // the package of its command, without the version
	variable string // names the program where it lies elsewhere
}

// litestream copies a SQLite database continuously. Its documentation's own way to it beside packages is Go's.
func litestream(m machine) goProgram {
	return goProgram{m, "litestream", pins.Litestream, "github.com/benbjohnson/litestream/cmd/litestream",
		"BURSAR_LITESTREAM"}
}

// linter checks what neither the compiler nor vet does, by the rules of .golangci.yml. A linter that was built with an
// older Go than the code asks for refuses to read it.
func linter(m machine) goProgram {
	return goProgram{m, "golangci-lint", pins.Golangci, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint",
		"BURSAR_GOLANGCI_LINT"}
}

// govulncheck compares libraries with the reports of Go's vulnerability database.
func govulncheck(m machine) goProgram {
	return goProgram{m, "govulncheck", pins.Govulncheck, "golang.org/x/vuln/cmd/govulncheck", "BURSAR_GOVULNCHECK"}
}

// oapiCodegen makes a Go client of the API's description.
func oapiCodegen(m machine) goProgram {
	return goProgram{m, "oapi-codegen", pins.OapiCodegen, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
		"BURSAR_OAPI_CODEGEN"}
}

func (g goProgram) Name() string  { return g.name }
func (goProgram) After() []string { return nil }
func (g goProgram) Says() string {
	return g.name + " " + g.version + " built with Go, in the cache folder (it takes minutes)"
}

// program is where the program lies.
func (g goProgram) program() string {
	if program := g.getenv(g.variable); program != "" {
		return program
	}
	return filepath.Join(g.folder("", g.name+"-"+g.version), g.name)
}

// Needed asks for the version; govulncheck, which would ask the database with it, for help.
func (g goProgram) Needed(ctx context.Context) bool {
	ask, other := map[string]string{"govulncheck": "-h", "oapi-codegen": "-version"}[g.name]
	if !other {
		ask = "version"
	}
	return !g.works(ctx, g.program(), ask)
}

// Install builds it outside of this module and its workspace, whose versions of libraries are others, and without C.
func (g goProgram) Install(ctx context.Context) error {
	return g.replace(g.name+"-"+g.version, func(work string) error {
		c := g.install(work)
		g.say("   " + c.String())
		if err := g.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		return nil
	})
}

// alone builds outside of this module and its workspace.
var alone = []string{"GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0"}

// install builds the program into a directory.
func (g goProgram) install(folder string, flags ...string) command {
	c := line(slices.Concat([]string{"go", "install"}, flags, []string{g.source + "@v" + g.version})...)
	c.folder, c.env = folder, append([]string{"GOBIN=" + folder}, alone...)
	return c
}

// fetch downloads the sources while others have the processor. What fails is tried again by Install, which says so.
func (g goProgram) fetch(ctx context.Context) error {
	_, _ = g.keep(ctx, g.install(os.TempDir(), "-n"))
	return nil
}

// lint is the command that lints packages of both modules.
func lint(m machine, packages []string) command {
	return line(append([]string{linter(m).program(), "run", "--timeout", "20m"}, packages...)...)
}
