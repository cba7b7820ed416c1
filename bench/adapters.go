package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// adapters are the packages whose benchmarks follow blocks of the size that each mainnet has today.
var adapters = []string{"bitcoin", "evm", "tron", "solana", "xrpl"}

// adapterSuites run the benchmarks of the chains' adapters, each in a process of its own.
func (b *bench) adapterSuites() []suite {
	if b.quick {
		return nil
	}
	var steps []step
	for _, name := range adapters {
		steps = append(steps, step{
			name:  "adapters: " + name,
			takes: 40 * time.Second,
			run:   func(ctx context.Context) error { return b.adapter(ctx, name) },
		})
	}
	nothing := func(context.Context) (func(), error) { return func() {}, nil }
	return []suite{{"adapters", time.Second, nothing, steps}}
}

func (b *bench) adapter(ctx context.Context, name string) error {
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "Throughput", "-benchtime", "2x",
		"./chain/"+name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the benchmark of %s: %w\n%s", name, err, lastLines(string(out), 20))
	}
	figures, err := throughputs(name, string(out))
	if err != nil {
		return err
	}
	p := b.part(partAdapters)
	for _, f := range figures {
		p.figure(f)
	}
	return nil
}

// throughputs reads what the benchmarks of an adapter print. Of their cases it keeps a node beside the service, one
// that is 400 ms away, and the chain's tip.
func throughputs(adapter, text string) (figures []figure, err error) {
	for line := range strings.Lines(text) {
		name, found := strings.CutPrefix(line, "Benchmark")
		if !found {
			continue
		}
		values := strings.Fields(name)
		name = values[0]
		if dash := strings.LastIndexByte(name, '-'); dash > 0 { // the number of processors
			name = name[:dash]
		}
		how := caseOf(name)
		if how == "" {
			continue
		}
		measured := map[string]float64{}
		for i := 2; i+1 < len(values); i += 2 {
			if measured[values[i+1]], err = strconv.ParseFloat(values[i], 64); err != nil {
				return nil, fmt.Errorf("the benchmark of %s prints %.200q", adapter, line)
			}
		}
		rate, headroom, peak := measured["blocks/s"], measured["x-chain"], measured["peak-MB"]
		if rate == 0 || headroom == 0 {
			return nil, fmt.Errorf("the benchmark of %s prints %.200q", adapter, line)
		}
		label := chainOf(adapter, name) + how
		figures = append(figures, figure{Name: label, Unit: "blocks/s", Value: rate}.beside("the chain", rate/headroom))
		if peak > 0 && strings.Contains(name, "400ms") {
			figures = append(figures, figure{Name: label + ", most memory beyond the start", Unit: "MB", Value: peak})
		}
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("the benchmark of %s prints no figures: %s", adapter, lastLines(text, 5))
	}
	return figures, nil
}

// caseOf says how far the node is in a benchmark's case; empty for a case that is not kept.
func caseOf(name string) string {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "big=0s":
		return ", a node that answers at once"
	case "big=400ms":
		return ", a large answer takes 400 ms"
	case "tip":
		return ", block by block at the tip"
	}
	return ""
}

// chainOf names the chain of a case: Throughput/big=0s is that of the adapter, Throughput/polygon/big=0s one of
// several.
func chainOf(adapter, name string) string {
	parts := strings.Split(name, "/")
	if len(parts) < 3 {
		return adapter
	}
	return adapter + " " + strings.Join(parts[1:len(parts)-1], " ")
}
