package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// vulndb is the Go module that holds the reports of Go's vulnerability database. Where the database itself cannot be
// reached, a mirror of modules may still serve it.
const vulndb = "golang.org/x/vulndb"

// vulnDatabase makes a database of the newest reports that the mirror of modules serves, in the cache folder, and
// returns its URL. Its form is that of https://go.dev/doc/security/vuln/database.
func vulnDatabase(ctx context.Context, m machine) (url string, err error) {
	c := line("go", "mod", "download", "-json", vulndb+"@latest")
	c.folder, c.env = os.TempDir(), []string{"GOWORK=off", "GOFLAGS="}
	text, err := m.read(ctx, c)
	var module struct{ Dir, Version string }
	if err == nil {
		err = json.Unmarshal([]byte(text), &module)
	}
	if err != nil || module.Dir == "" {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	name := "vulndb-" + module.Version
	if len(m.glob(filepath.Join(m.folder("", name), "index", "db.json"))) == 0 {
		err = m.replace(name, func(work string) error { return indexed(filepath.Join(module.Dir, "data", "osv"), work) })
	}
	m.say("   reports of " + vulndb + " " + module.Version)
	return "file://" + m.folder("", name), err
}

// report is what of a report says which modules it is about.
type report struct {
	ID       string `json:"id"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected"`
}

// moduleIndex is a line of the index.
type moduleIndex struct {
	Path  string              `json:"path"`
	Vulns []map[string]string `json:"vulns"`
}

// never is the time at which reports and database were changed, which nothing reads.
const never = "2000-01-01T00:00:00Z"

// indexed copies reports and writes the index of their modules.
func indexed(reports, to string) error {
	files, err := filepath.Glob(filepath.Join(reports, "GO-*.json"))
	if err != nil || len(files) < 1000 {
		return fmt.Errorf("%s holds %d reports, want thousands: %w", reports, len(files), err)
	}
	for _, folder := range []string{"index", "ID"} {
		if err := os.Mkdir(filepath.Join(to, folder), 0o755); err != nil {
			return err
		}
	}
	of := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil || r.ID != strings.TrimSuffix(filepath.Base(file), ".json") {
			return fmt.Errorf("%s is not the report that it is named after: %w", file, err)
		}
		for _, a := range r.Affected {
			if !slices.Contains(of[a.Package.Name], r.ID) {
				of[a.Package.Name] = append(of[a.Package.Name], r.ID)
			}
		}
		if err := os.WriteFile(filepath.Join(to, "ID", r.ID+".json"), text, 0o600); err != nil {
			return err
		}
	}
	index := []moduleIndex{}
	for path, ids := range of {
		entry := moduleIndex{Path: path}
		for _, id := range ids {
			entry.Vulns = append(entry.Vulns, map[string]string{"id": id, "modified": never})
		}
		index = append(index, entry)
	}
	slices.SortFunc(index, func(a, b moduleIndex) int { return strings.Compare(a.Path, b.Path) })
	for name, value := range map[string]any{"modules": index, "db": map[string]string{"modified": never}} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, "index", name+".json"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
