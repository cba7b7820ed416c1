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

// survivorsFile lists the mutants that may survive: a name and the reason a line.
const survivorsFile = "test/mutate/survivors.txt"

// wanted is how many of a hundred mutants must be killed.
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

// report prints what became of the mutants by package, and every survivor that the list does not excuse in the list's own
// form. It returns an error when there are too many, or such ones.
func report(out io.Writer, outcomes []outcome, listed map[string]string, least float64) error {
	type count struct{ killed, all int }
	counts := map[string]count{}
	var alive []outcome
	excused := 0
	for _, o := range outcomes {
		pkg := filepath.ToSlash(filepath.Dir(o.site.file))
		c := counts[pkg]
		c.all++
		switch {
		case o.killer != "":
			c.killed++
		case listed[o.site.name()] != "":
			excused++
		default:
			alive = append(alive, o)
		}
		counts[pkg] = c
	}
	total := count{}
	for _, pkg := range slices.Sorted(mapKeys(counts)) {
		c := counts[pkg]
		total.killed, total.all = total.killed+c.killed, total.all+c.all
		fmt.Fprintf(out, "%-16s %4d of %4d killed, %5.1f %%\n", pkg, c.killed, c.all, percent(c.killed, c.all))
	}
	fmt.Fprintf(out, "%-16s %4d of %4d killed, %5.1f %%; %d survivors are listed with a reason, %d are not\n", "all", total.killed, total.all,
		percent(total.killed, total.all), excused, len(alive))
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
	if percent(total.killed, total.all) < least || len(alive) > 0 {
		return fmt.Errorf("%d mutants survived that are not in %s; at least %g %% must be killed", len(alive), survivorsFile, least)
	}
	return nil
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
