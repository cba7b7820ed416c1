package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// grid is a table: a line of headings and the lines below it. What is numeric is on the right.
type grid struct {
	head  []string
	lines [][]string
}

// grids are the tables of a part: requests, figures and times, each if there is any. A column that is empty in every
// line is left out.
func (p *part) grids() []grid {
	rows := grid{head: []string{"measurement", "database", "connections", "reference", "service", "ratio", "target", "p50",
		"p99", "processor time of the reference", "of the service"}}
	for _, r := range p.Rows {
		reference, processor := "", ""
		if r.Reference != nil {
			reference, processor = number(r.Reference.PerSecond)+"/s", eachTook(r.Reference.Processor)
		}
		rows.lines = append(rows.lines, []string{r.Name, r.Database, fmt.Sprint(r.Connections), reference,
			perSecond(r.Service), ratio(r.Ratio), atLeast(r.Target), latency(r.Service.P50), latency(r.Service.P99),
			processor, eachTook(r.Service.Processor)})
	}
	figures := grid{head: []string{"measurement", "database", "figure", "compared with", "its figure", "ratio", "target"}}
	for _, f := range p.Figures {
		reference := ""
		if f.Reference != 0 {
			reference = number(f.Reference)
		}
		figures.lines = append(figures.lines, []string{f.Name, f.Database, number(f.Value) + " " + f.Unit, f.Beside,
			reference, ratio(f.Ratio), f.Target})
	}
	times := grid{head: []string{"measurement", "database", "time", "target", "p50", "p99", "samples"}}
	for _, t := range p.Times {
		took, p50, p99, samples := short(t.Took), "", "", ""
		if t.Samples > 0 {
			took, p50, p99, samples = "", short(t.P50), short(t.P99), fmt.Sprint(t.Samples)
		}
		target := ""
		if t.Target > 0 {
			target = "< " + short(t.Target)
		}
		times.lines = append(times.lines, []string{t.Name, t.Database, took, target, p50, p99, samples})
	}
	var list []grid
	for _, g := range []grid{rows, figures, times} {
		if len(g.lines) > 0 {
			list = append(list, g.filled())
		}
	}
	return list
}

// filled leaves out the columns that are empty.
func (g grid) filled() grid {
	var keep []int
	for i := range g.head {
		for _, line := range g.lines {
			if line[i] != "" {
				keep = append(keep, i)
				break
			}
		}
	}
	pick := func(line []string) []string {
		var picked []string
		for _, i := range keep {
			picked = append(picked, line[i])
		}
		return picked
	}
	f := grid{head: pick(g.head)}
	for _, line := range g.lines {
		f.lines = append(f.lines, pick(line))
	}
	return f
}

// print writes the tables for a terminal.
func (r report) print(w io.Writer) error {
	for _, p := range r.over(report{}).Parts {
		fmt.Fprintf(w, "\n%s (%s)\n", titleOf(p.Name), p.Run)
		for _, g := range p.grids() {
			fmt.Fprintln(w)
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			for _, line := range append([][]string{g.head}, g.lines...) {
				fmt.Fprintln(t, strings.Join(line, "\t"))
			}
			if err := t.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// perSecond is the rate of a load, nothing where there was none.
func perSecond(l load) string {
	if l.PerSecond == 0 {
		return ""
	}
	return number(l.PerSecond) + "/s"
}

// latency is short, nothing where there was no load.
func latency(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return short(d)
}

// eachTook is the processor time of a request, nothing where it was not measured.
func eachTook(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return number(float64(d.Nanoseconds())/1000) + " µs"
}

func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// number writes a number with three or more digits and commas between thousands.
func number(v float64) string {
	switch {
	case v < 10:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	case v < 100:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

func atLeast(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("≥ %.2f", v)
}
