package main

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPlantedBugsAreFound checks that a bug that is planted in the service is found by a few histories, and that the
// same build finds nothing while it has none of them.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("-short builds no service with a bug in it")
	}
	t.Parallel()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	simulation, err := build(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		// A seed that finds it is one of a few histories that do: the others are played only where it no longer does.
		_, err := b.find(simulation, b.seed, 1)
		if errors.Is(err, errMissed) {
			var line string
			line, err = b.find(simulation, 0, within)
			t.Logf("seed %d no longer finds %q: write the seed of this line into bugs.go and docs/simulation.md: %s", b.seed,
				b.name, line)
		}
		if err != nil {
			t.Error(err)
		}
	}
	none := bug{name: "none of them"}
	if line, err := none.find(simulation, 0, 10); !errors.Is(err, errMissed) {
		t.Errorf("without a bug: %s: %v, want %v", line, err, errMissed)
	}
}

// TestPlantedBugsFit checks that every planted bug fits the sources as they are.
func TestPlantedBugsFit(t *testing.T) {
	t.Parallel()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := overlay(root, t.TempDir()); err != nil {
		t.Error(err)
	}
}

// TestABugStandsBesideTheRightFunction checks what is made of a source, for each shape of a function.
func TestABugStandsBesideTheRightFunction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{"package p\n\nfunc (t *T) f(a, b int, c ...string) (int, error) {\n\treturn right()\n}\n",
			"package p\n\nfunc (t *T) f(a, b int, c ...string) (int, error) {\n\tif plantedBug == \"b\" {\n" +
				"\t\treturn t.g(a, b, c...)\n\t}\n\n\treturn right()\n}\n\n" +
				"func (t *T) g(a, b int, c ...string) (int, error) {\n\treturn wrong()\n}\n"},
		{"package p\n\nfunc f() {\n\tright()\n}\n",
			"package p\n\nfunc f() {\n\tif plantedBug == \"b\" {\n\t\tg(); return\n\t}\n\n\tright()\n}\n\n" +
				"func g() {\n\twrong()\n}\n"},
	} {
		got, name, err := bug{name: "b", file: "p.go", was: "right()", is: "wrong()"}.beside([]byte(c.source), "g")
		if err != nil || name != "p" || string(got) != c.want {
			t.Errorf("%s becomes package %s, %s: %v; want\n%s", c.source, name, got, err, c.want)
		}
	}
	for _, source := range []string{"package p\n", "package p\n\nvar a, b = right(), right()\n",
		"package p\n\nvar a = right()\n"} {
		_, _, err := bug{name: "b", file: "p.go", was: "right()", is: "wrong()"}.beside([]byte(source), "g")
		if err == nil || !strings.Contains(err.Error(), "p.go") {
			t.Errorf("%q: %v, want an error that names the file", source, err)
		}
	}
}

// docs/simulation.md lists the planted bugs in the order of the table, each with the seed that finds it.
func TestTheDocumentListsThePlantedBugs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Bug | Found by seed |\n|---|---|\n")
	table, _, found := strings.Cut(table, "\n\n")
	var listed, want []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		listed = append(listed, strings.TrimSpace(cells[len(cells)-2]))
	}
	for _, b := range bugs {
		want = append(want, strconv.FormatUint(b.seed, 10))
	}
	if !found || !slices.Equal(listed, want) {
		t.Errorf("docs/simulation.md lists the seeds %v, want %v of bugs.go", listed, want)
	}
}
