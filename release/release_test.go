package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var moment = time.Unix(1_700_000_000, 0).UTC()

// A small program is the same byte for byte, built in two folders with nothing in the cache. `go run ./release -check`
// does that with all programs, which takes minutes.
func TestTwoBuildsAreTheSame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles the runtime twice")
	}
	var built [][]byte
	for _, name := range []string{"one", "another-folder"} {
		root := t.TempDir()
		b := builder{folder: filepath.Join(root, name), cache: filepath.Join(root, "cache"), toolchain: "local", at: moment}
		if err := os.Mkdir(b.folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"go.mod": "module example.org/small\n\ngo 1.26\n",
			"main.go": "package main\n\nimport \"runtime\"\n\nfunc main() {\n\t_, file, _, _ := " +
				"runtime.Caller(0)\n\tprintln(file)\n}\n"} {
			if err := os.WriteFile(filepath.Join(b.folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		to := filepath.Join(root, "small")
		if err := b.program(t.Context(), ".", "amd64", to); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(root)) {
			t.Errorf("the program names the folder in which it was built")
		}
		if info, err := os.Stat(to); err != nil || !info.ModTime().Equal(moment) {
			t.Errorf("it was made at %v, %v, want %v", info.ModTime(), err, moment)
		}
		built = append(built, content)
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Errorf("two builds of %d and %d bytes differ, want the same bytes", len(built[0]), len(built[1]))
	}
}

// The list holds what Go says that this program was linked of.
func TestThePartsAreThoseThatWereLinked(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(own, program); err != nil {
		t.Fatal(err)
	}
	var lists [][]byte
	for range 2 {
		if err := writeParts(program, moment); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(program + partsSuffix)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, text)
	}
	if !bytes.Equal(lists[0], lists[1]) {
		t.Error("two lists of the same program differ, want the same bytes")
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(lists[0]), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.SpecVersion != cdx.SpecVersion1_6 || bom.Metadata.Timestamp != "2023-11-14T22:13:20Z" ||
		bom.Metadata.Component.Name != "program" {
		t.Errorf("the list is of %v, %+v, want 1.6, the time and the name", bom.SpecVersion, bom.Metadata)
	}
	found := map[string]string{}
	for _, c := range *bom.Components {
		found[c.Name] = c.Version
	}
	if len(info.Deps) == 0 || len(found) != len(info.Deps)+1 || "go"+found["std"] != strings.Fields(info.GoVersion)[0] {
		t.Errorf("the list has %d parts, std %q, want %d and %s", len(found), found["std"], len(info.Deps)+1, info.GoVersion)
	}
	for _, m := range info.Deps {
		if found[m.Path] != m.Version {
			t.Errorf("the list has %s %q, want %s", m.Path, found[m.Path], m.Version)
		}
	}
	if err := writeParts(filepath.Join(t.TempDir(), "none"), moment); err == nil {
		t.Error("a program that is not there has parts, want an error")
	}
}

// sha256sum agrees with the digests.
func TestTheDigestsAreChecked(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("sha256sum is not installed")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := builder{at: moment}
	if err := b.sums(folder, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "--strict", "-c", sumsFile)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil || string(out) != "a: OK\n" {
		t.Errorf("sha256sum says %q, %v, want a: OK", out, err)
	}
	if err := b.all(t.Context(), folder); err == nil {
		t.Error("a folder that exists is built into, want an error")
	}
}

// Packages are made by the release of Go that builds the programs, on any machine.
func TestPackagesAreMadeByOneReleaseOfGo(t *testing.T) {
	t.Parallel()
	pinned := strings.TrimSpace(toolchain)
	for running, refused := range map[string]bool{pinned: false, "go1.2.3": true} {
		if err := (builder{packed: true}).packsAlike(running); (err != nil) != refused {
			t.Errorf("packing by %s: %v, want a refusal %t", running, err, refused)
		}
	}
	if err := (builder{}).packsAlike("go1.2.3"); err != nil {
		t.Errorf("programs alone: %v, want no error, since the pinned release builds them", err)
	}
}
