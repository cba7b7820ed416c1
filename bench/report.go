package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// report is what one or more runs measured. Each part is of one run: ratios never compare two.
type report struct{ Parts []*part }

// part is what one run measured of one subject.
type part struct {
	Name    string // a key of sections
	Run     conditions
	Rows    []row    `json:",omitempty"`
	Times   []timing `json:",omitempty"`
	Figures []figure `json:",omitempty"`
}

// row is one measurement of requests per second.
type row struct {
	Database    string
	Name        string
	Connections int
	Reference   *load `json:",omitempty"`
	Service     load
	Ratio       float64 `json:",omitempty"` // service to reference
	Target      float64 `json:",omitempty"` // of the ratio
}

func (r row) String() string {
	text := fmt.Sprintf("%s, %s, %d connections", r.Database, r.Name, r.Connections)
	if r.Service.PerSecond > 0 {
		text += fmt.Sprintf(": %.0f/s, p50 %s, p99 %s", r.Service.PerSecond, short(r.Service.P50), short(r.Service.P99))
	}
	if r.Reference != nil {
		text += fmt.Sprintf("; reference %.0f/s, p99 %s", r.Reference.PerSecond, short(r.Reference.P99))
	}
	if r.Ratio > 0 {
		text += fmt.Sprintf("; ratio %.2f", r.Ratio)
	}
	if r.Service.Processor > 0 {
		text += "; processor time " + eachTook(r.Service.Processor) + " each"
	}
	return text
}

// timing is one measurement of a time, or of several of the same kind with their median and 99th percentile.
type timing struct {
	Database string
	Name     string
	Took     time.Duration // the shortest of several
	Samples  int           `json:",omitempty"`
	P50      time.Duration `json:",omitempty"`
	P99      time.Duration `json:",omitempty"`
	Target   time.Duration `json:",omitempty"` // of P99 where there are samples
}

// figure is a number with a unit.
type figure struct {
	Database  string `json:",omitempty"`
	Name      string
	Unit      string
	Value     float64
	Beside    string  `json:",omitempty"` // what Reference is
	Reference float64 `json:",omitempty"`
	Ratio     float64 `json:",omitempty"` // Value to Reference
	Target    string  `json:",omitempty"`
}

func (f figure) String() string {
	text := fmt.Sprintf("%s: %s %s", on(f.Database, f.Name), number(f.Value), f.Unit)
	if f.Reference != 0 {
		text += fmt.Sprintf("; %s %s; ratio %.2f", f.Beside, number(f.Reference), f.Ratio)
	}
	if f.Target != "" {
		text += " (target " + f.Target + ")"
	}
	return text
}

// beside compares a figure with another one of the same run.
func (f figure) beside(what string, reference float64) figure {
	f.Beside, f.Reference, f.Ratio = what, reference, f.Value/reference
	return f
}

// part returns the part with a name, which this run measures.
func (r *report) part(name string, run conditions) *part {
	for _, p := range r.Parts {
		if p.Name == name {
			return p
		}
	}
	p := &part{Name: name, Run: run}
	r.Parts = append(r.Parts, p)
	return p
}

// time keeps a time, or the shorter one of two rounds.
func (p *part) time(database, name string, took, target time.Duration) {
	progress("%s: %s%s", on(database, name), short(took), aim(target))
	for i, t := range p.Times {
		if t.Database == database && t.Name == name {
			p.Times[i].Took = min(t.Took, took)
			return
		}
	}
	p.Times = append(p.Times, timing{Database: database, Name: name, Took: took, Target: target})
}

// times keeps several times of the same kind.
func (p *part) times(database, name string, took []time.Duration, target time.Duration) {
	slices.Sort(took)
	t := timing{
		Database: database,
		Name:     name,
		Took:     took[0],
		Samples:  len(took),
		P50:      percentile(took, 50),
		P99:      percentile(took, 99),
		Target:   target,
	}
	progress("%s, %s: p50 %s, p99 %s of %d%s", database, name, short(t.P50), short(t.P99), t.Samples, aim(target))
	p.Times = append(p.Times, t)
}

func (p *part) figure(f figure) {
	progress("%s", f)
	p.Figures = append(p.Figures, f)
}

func (p *part) row(r row) {
	progress("%s", r)
	p.Rows = append(p.Rows, r)
}

// on names a measurement with its database, if it has one.
func on(database, name string) string {
	if database == "" {
		return name
	}
	return database + ", " + name
}

func aim(target time.Duration) string {
	if target == 0 {
		return ""
	}
	return " (target " + short(target) + ")"
}

// percentile returns the smallest of sorted times that is not below so many percent of them.
func percentile(sorted []time.Duration, percent int) time.Duration {
	at := (len(sorted)*percent + 99) / 100
	return sorted[max(at, 1)-1]
}

// readReport reads the report in a file; an empty one if the file does not exist.
func readReport(file string) (report, error) {
	var r report
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read the figures: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the figures in %s: %w", file, err)
	}
	return r, nil
}

// over returns the older report with the parts that this one has measured replaced, in the order of sections.
func (r report) over(older report) report {
	var merged report
	for _, s := range sections {
		for _, from := range []report{r, older} {
			at := slices.IndexFunc(from.Parts, func(p *part) bool { return p.Name == s.name })
			if at >= 0 {
				merged.Parts = append(merged.Parts, from.Parts[at])
				break
			}
		}
	}
	return merged
}

func (r report) save(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
