package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bursar/bursar/test/pg"
)

// conditions are where and how a run took place.
type conditions struct {
	Date     string // UTC
	Commit   string // "+" after it: with changes that are not committed
	Machine  string
	Go       string
	Postgres string `json:",omitempty"`
	SQLite   string // version of the driver
	Settings string // how long and how often
}

func (c conditions) String() string {
	versions := c.Go + ", SQLite driver " + c.SQLite
	if c.Postgres != "" {
		versions = c.Go + ", " + c.Postgres + ", SQLite driver " + c.SQLite
	}
	return fmt.Sprintf("%s, commit %s, on %s, %s; %s", c.Date, c.Commit, c.Machine, versions, c.Settings)
}

// conditionsOf describes this run.
func conditionsOf(ctx context.Context, s settings) conditions {
	conns := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.conns), " ", ", "), "[]")
	c := conditions{
		Date:    time.Now().UTC().Format("2 January 2006"),
		Commit:  commit(ctx),
		Machine: fmt.Sprintf("%d cores (%s)", runtime.NumCPU(), processor()),
		Go:      strings.Replace(runtime.Version(), "go", "Go ", 1),
		SQLite:  version("modernc.org/sqlite"),
		Settings: fmt.Sprintf("each measurement %s, better of %d rounds, %s connections", s.seconds, s.rounds,
			conns),
	}
	if s.rounds == 1 {
		c.Settings = fmt.Sprintf("each measurement %s, once, %s connections", s.seconds, conns)
	}
	if bin, err := pg.Programs(); err == nil {
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
		if err == nil {
			c.Postgres = strings.TrimSpace(strings.TrimPrefix(string(out), "postgres "))
			c.Postgres = "PostgreSQL " + strings.Fields(strings.TrimPrefix(c.Postgres, "(PostgreSQL) "))[0]
		}
	}
	return c
}

func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	if err == nil && len(changed) > 0 {
		name += "+"
	}
	return name
}

// processor is the model of the machine's processor.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// version is the version of a module that this program is built with.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "unknown"
}
