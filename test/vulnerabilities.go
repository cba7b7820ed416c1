package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Files that say what is known and which Go builds releases.
const (
	acceptedFile  = "test/vulnerabilities.txt"
	toolchainFile = "release/toolchain.txt"
)

// errVulnerable means that a library has a known vulnerability, errNoData that no reports can be had.
var (
	errVulnerable = errors.New("known vulnerabilities")
	errNoData     = errors.New("no data")
)

// vulnerable is a package with a known vulnerability, which a program imports.
type vulnerable struct{ id, module, version, fixed string }

func (v vulnerable) String() string {
	return fmt.Sprintf("%s in %s %s, fixed in %s", v.id, v.module, v.version, v.fixed)
}

// vulnerabilities compares what the programs import with the reports of vuln.go.dev, or of the module that holds them.
// A library with a report fails the run, unless acceptedFile says why it does not matter. The standard library is that
// of the Go that runs this: what the Go of the releases fixes is only shown. Without data it says so and goes on.
//
// It compares packages, which takes a second. Whether vulnerable functions are called takes half a minute of CPU time,
// and finds nothing that packages do not.
func vulnerabilities(ctx context.Context, m machine) error {
	m.say("== known vulnerabilities of the programs' libraries")
	found, err := scanned(ctx, m)
	if errors.Is(err, errNoData) {
		m.say("   NOT CHECKED: " + err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	accepted, err := acceptedReports()
	if err != nil {
		return err
	}
	release, err := os.ReadFile(toolchainFile)
	if err != nil {
		return err
	}
	bad := evaluated(m, found, accepted, strings.TrimSpace(string(release)))
	if len(bad) > 0 {
		return fmt.Errorf("%w: %s: raise the library, or say in %s why it does not matter", errVulnerable,
			strings.Join(bad, "; "), acceptedFile)
	}
	return nil
}

// evaluated shows what does not matter, and returns what does.
func evaluated(m machine, found []vulnerable, accepted map[string]string, release string) (bad []string) {
	var older []string
	for _, v := range found {
		why, known := accepted[v.id]
		switch {
		case known:
			m.say("   accepted: " + v.String() + ": " + why)
		case v.module == "stdlib" && v.fixed != "" && semver.Compare(v.fixed, "v"+strings.TrimPrefix(release, "go")) <= 0:
			older = append(older, v.id)
		default:
			bad = append(bad, v.String())
		}
	}
	if len(older) > 0 {
		m.say(fmt.Sprintf("   this machine's Go has %d, which %s fixes, with which releases are built: %s", len(older),
			release,
			strings.Join(older, " ")))
	}
	for id := range accepted {
		if !slices.ContainsFunc(found, func(v vulnerable) bool { return v.id == id }) {
			m.say("   " + acceptedFile + " accepts " + id + ", which nothing has: remove it")
		}
	}
	return bad
}

// scanned asks the database, then the mirror of modules.
func scanned(ctx context.Context, m machine) ([]vulnerable, error) {
	scan := func(database ...string) ([]vulnerable, error) {
		args := append([]string{govulncheck(m).program(), "-format", "json", "-scan", "package"}, database...)
		c := line(append(args, "./cmd/...")...)
		c.env = static(m)
		text, err := m.read(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		return parseFindings(text)
	}
	found, err := scan()
	if err == nil {
		return found, nil
	}
	m.say("   vuln.go.dev cannot be asked; the mirror of Go modules is")
	database, err := vulnDatabase(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoData, err)
	}
	return scan("-db", database)
}

// parseFindings reads what govulncheck prints as JSON: one finding for each level; those of packages name one.
func parseFindings(text string) (list []vulnerable, err error) {
	decoder, configured := json.NewDecoder(strings.NewReader(text)), false
	for {
		var message struct {
			Config  *struct{} `json:"config"`
			Finding *struct {
				OSV   string `json:"osv"`
				Fixed string `json:"fixed_version"`
				Trace []struct{ Module, Version, Package string }
			} `json:"finding"`
		}
		if err := decoder.Decode(&message); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what govulncheck prints: %w", err)
		}
		configured = configured || message.Config != nil
		f := message.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Package == "" {
			continue
		}
		v := vulnerable{id: f.OSV, module: f.Trace[0].Module, version: f.Trace[0].Version, fixed: f.Fixed}
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	if !configured {
		return nil, errors.New("govulncheck printed nothing")
	}
	return list, nil
}

// acceptedReports reads which reports do not matter: lines of an ID and a reason.
func acceptedReports() (map[string]string, error) {
	file, err := os.Open(acceptedFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	accepted := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		id, why, _ := strings.Cut(text, " ")
		if !strings.HasPrefix(id, "GO-") || len(why) < 20 {
			return nil, fmt.Errorf("%s: %q needs an ID and a reason", acceptedFile, text)
		}
		accepted[id] = why
	}
	return accepted, lines.Err()
}

// verified compares the libraries in the cache of modules with go.sum.
func verified(ctx context.Context, m machine) error {
	c := line("go", "mod", "verify")
	m.say("== " + c.String())
	if err := m.run(ctx, c); err != nil {
		return fmt.Errorf("%s: a library is not the one of go.sum: %w", c, err)
	}
	return nil
}
