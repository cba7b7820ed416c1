package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// survivorsFile lists the mutants that may survive: a name and the reason per line. A reason that begins with
// "equivalent:" proves that no test could notice: the mutant does what the code does. Such mutants do not count in
// the share that is killed.
const survivorsFile = "test/mutate/survivors.txt"

// wanted is the percentage of mutants that must be killed.
const wanted = 90

// readSurvivors returns the reasons by the mutants' names.
func readSurvivors(root string) (map[string]string, error) {
	file, err := os.Open(filepath.Join(root, survivorsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	listed := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, " ")
		if !found || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %q has no reason", survivorsFile, name)
		}
		listed[name] = strings.TrimSpace(reason)
	}
	return listed, lines.Err()
}

// equivalent begins the reason of a mutant that no test could notice.
const equivalent = "equivalent:"

// count is the outcomes of the mutants of a package.
type count struct{ killed, equivalent, listed, alive int }

func (c count) all() int { return c.killed + c.equivalent + c.listed + c.alive }

// share is the percentage of killed mutants among those that can be noticed.
func (c count) share() float64 { return percent(c.killed, c.all()-c.equivalent) }

// note counts an outcome; reason is the list's reason for it.
func (c *count) note(o outcome, reason string) {
	switch {
	case o.killer != "":
		c.killed++
	case strings.HasPrefix(reason, equivalent):
		c.equivalent++
	case reason != "":
		c.listed++
	default:
		c.alive++
	}
}

// report prints the outcomes of the mutants by package, and every survivor that is not listed, in the list's own
// form. It returns an error if there are such survivors, or if too few mutants of a package are killed.
func report(out io.Writer, outcomes []outcome, listed map[string]string, least float64) error {
	counts, total := map[string]count{}, count{}
	var alive []outcome
	for _, o := range outcomes {
		reason := listed[o.site.name()]
		excused := reason != ""
		c := counts[o.site.pkg()]
		c.note(o, reason)
		total.note(o, reason)
		counts[o.site.pkg()] = c
		if o.killer == "" && !excused {
			alive = append(alive, o)
		}
		if o.killer != "" && excused {
			fmt.Fprintf(out, "%s is listed, and %s notices it: remove it from the list\n", o.site.name(), o.killer)
		}
	}
	few := table(out, counts, total, least)
	slices.SortFunc(alive, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(a.site.file, b.site.file), cmp.Compare(a.site.line, b.site.line))
	})
	for _, o := range alive {
		why := "reached, not noticed"
		if !o.reached {
			why = "no test reaches it"
		}
		fmt.Fprintf(out, "%s  line %d, %s: %s\n", o.site.name(), o.site.line, why, oneLine(o.site.text))
	}
	if len(few) > 0 || len(alive) > 0 {
		return fmt.Errorf("%d mutants survived that are not in %s; at least %g %% must be killed, and are not in %q",
			len(alive), survivorsFile, least, few)
	}
	return nil
}

// table prints a line for each package and returns those of which too few mutants were killed.
func table(out io.Writer, counts map[string]count, total count, least float64) (few []string) {
	line := func(name string, c count) {
		fmt.Fprintf(out, "%-16s %7d %7d %10d %7d %7d %7.1f %%\n", name, c.all(), c.killed, c.equivalent, c.listed, c.alive,
			c.share())
	}
	fmt.Fprintf(out, "%-16s %7s %7s %10s %7s %7s\n", "package", "mutants", "killed", "equivalent", "listed", "alive")
	for _, pkg := range slices.Sorted(mapKeys(counts)) {
		line(pkg, counts[pkg])
		if counts[pkg].share() < least {
			few = append(few, pkg)
		}
	}
	line("all", total)
	return few
}

// stale returns the listed names of the packages' mutants that no longer exist.
func stale(listed map[string]string, sites []site, packages []string) (gone []string) {
	there := map[string]bool{}
	for _, s := range sites {
		there[s.name()] = true
	}
	for _, name := range slices.Sorted(mapKeys(listed)) {
		file, _, _ := strings.Cut(name, ":")
		if slices.Contains(packages, filepath.ToSlash(filepath.Dir(file))) && !there[name] {
			gone = append(gone, name)
		}
	}
	return gone
}

func percent(part, all int) float64 {
	if all == 0 {
		return 100
	}
	return 100 * float64(part) / float64(all)
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return text
}
