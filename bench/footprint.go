package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// allChains are the chains of the sandbox.
var allChains = []string{"bitcoin", "litecoin", "ethereum", "bsc", "polygon", "tron", "solana", "xrpl"}

const (
	startTarget = 500 * time.Millisecond
	megabyte    = 1 << 20
)

// footprintSuite measures what the service takes with all chains before anything happens.
func (b *bench) footprintSuite() suite {
	s := &site{bench: b, kind: "sqlite"}
	steps := []step{{"footprint: serve with all chains", 8 * time.Second, s.footprint}}
	if !b.quick {
		steps = append(steps, step{"footprint: compiling the sandbox", 4 * time.Minute, s.compiled})
	}
	open := func(ctx context.Context) (func(), error) {
		if err := s.prepare(ctx, "footprint", allChains...); err != nil {
			s.close()
			return nil, err
		}
		return s.close, nil
	}
	return suite{"footprint", 5 * time.Second, open, steps}
}

func (s *site) footprint(ctx context.Context) error {
	p := s.part(partFootprint)
	info, err := os.Stat(s.bursar)
	if err != nil {
		return err
	}
	p.figure(figure{Name: "size of the program", Unit: "MB", Value: float64(info.Size()) / megabyte})
	for range 3 {
		if err := s.serve(ctx); err != nil {
			return err
		}
		p.time(s.kind, fmt.Sprintf("from the start of the process to ready, %d chains", len(allChains)), s.ready, startTarget)
		memory, err := s.service.memory()
		s.halt()
		if err != nil {
			return err
		}
		p.least(figure{Database: s.kind, Name: "memory when it is ready", Unit: "MB", Value: float64(memory) / megabyte})
	}
	return nil
}

// least keeps the smallest of the figures with a name.
func (p *part) least(f figure) {
	for i, old := range p.Figures {
		if old.Database == f.Database && old.Name == f.Name {
			p.Figures[i].Value = min(old.Value, f.Value)
			return
		}
	}
	p.figure(f)
}

// compiled measures what a clean machine compiles for the sandbox, and for the service alone.
func (s *site) compiled(ctx context.Context) error {
	p := s.part(partFootprint)
	for _, of := range [][2]string{{"the service", "./cmd/bursar"}, {"the sandbox", "./sandbox"}} {
		name, program := of[0], of[1]
		out, err := exec.CommandContext(ctx, "go", "list", "-deps", program).Output()
		if err != nil {
			return fmt.Errorf("go list %s: %w", program, err)
		}
		p.figure(figure{Name: "packages that " + name + " compiles", Unit: "packages",
			Value: float64(strings.Count(string(out), "\n"))})
		cache := filepath.Join(s.work, "cache"+filepath.Base(program))
		command := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, program)
		command.Env = append(os.Environ(), "GOCACHE="+cache)
		began := time.Now()
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
		p.time("", name+" compiled with an empty build cache", time.Since(began), 0)
		used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		p.time("", name+" compiled, processor time", used, 0)
		if err := os.RemoveAll(cache); err != nil {
			return err
		}
	}
	return nil
}
