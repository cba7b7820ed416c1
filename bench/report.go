package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what a run measured.
type report struct {
	Machine string
	Rows    []row
	Times   []timing
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
	text := fmt.Sprintf("%s, %s, %d connections: %.0f/s, p50 %s, p99 %s", r.Database, r.Name, r.Connections,
		r.Service.PerSecond, short(r.Service.P50), short(r.Service.P99))
	if r.Reference != nil {
		text += fmt.Sprintf("; reference %.0f/s, p99 %s; ratio %.2f", r.Reference.PerSecond, short(r.Reference.P99), r.Ratio)
	}
	return text
}

// timing is one measurement of a time.
type timing struct {
	Database string
	Name     string
	Took     time.Duration
	Target   time.Duration
}

// add keeps a time, or the better one of two rounds.
func (r *report) add(database, name string, took, target time.Duration) {
	progress("%s, %s: %s (target %s)", database, name, short(took), short(target))
	for i, t := range r.Times {
		if t.Database == database && t.Name == name {
			r.Times[i].Took = min(t.Took, took)
			return
		}
	}
	r.Times = append(r.Times, timing{database, name, took, target})
}

func short(d time.Duration) string {
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// write prints the tables, and writes the files that were asked for.
func (r *report) write(w io.Writer, s settings) error {
	fmt.Fprintf(w, "\n%s\n\n", r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "database\tmeasurement\tconnections\treference/s\tservice/s\tratio\ttarget\tp50\tp99")
	for _, m := range r.Rows {
		reference, ratio, target := "", "", ""
		if m.Reference != nil {
			reference, ratio = fmt.Sprintf("%.0f", m.Reference.PerSecond), fmt.Sprintf("%.2f", m.Ratio)
		}
		if m.Target > 0 {
			target = fmt.Sprintf("%.2f", m.Target)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%.0f\t%s\t%s\t%s\t%s\n", m.Database, m.Name, m.Connections, reference,
			m.Service.PerSecond, ratio, target, short(m.Service.P50), short(m.Service.P99))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, m := range r.Times {
		fmt.Fprintf(t, "%s\t%s\t%s\ttarget %s\n", m.Database, m.Name, short(m.Took), short(m.Target))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if s.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.json, append(text, '\n'), 0o644)
}

// machine describes where the run took place.
func machine(ctx context.Context) string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%d cores (%s), %s, commit %s, %s", runtime.NumCPU(), model, runtime.Version(), commit,
		time.Now().UTC().Format("2 January 2006"))
}
