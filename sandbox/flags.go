package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
)

// settings are the command's flags.
type settings struct {
	json         bool
	listen       string
	admin        string
	control      string
	data         string
	database     string
	chains       []bursar.ChainID
	manual       bool
	remoteSigner bool // the service is a process of its own
	// endpoints is how many ways there are to each node.
	endpoints int
}

const usage = `Runs chains on this machine, the service on top of them, and a remote control.

  go run ./sandbox [flags]

`

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var names, blocks string
	set := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, usage)
		set.PrintDefaults()
	}
	set.BoolVar(&s.json, "json", false, "print one line of JSON when ready, and the log to standard error")
	set.StringVar(&s.listen, "listen", "127.0.0.1:8080", "`address` of the API; port 0 picks a free one")
	set.StringVar(&s.admin, "admin", "127.0.0.1:8081",
		"`address` of the operator's dashboard and metrics; port 0 picks a free one")
	set.StringVar(&s.control, "control", "127.0.0.1:8082",
		"`address` of the remote control, on loopback; port 0 picks a free one")
	set.StringVar(&s.data, "data", "",
		"`directory` that keeps chains, seed, account and database; none: nothing outlives this run")
	set.StringVar(&s.database, "database", "",
		"`URL` of the database, sqlite:FILE or postgres://…; none: a file beside the rest")
	set.StringVar(&names, "chains", "", "`list` of chains, with commas between; none: all of "+
		strings.Join(available(), ", "))
	set.IntVar(&s.endpoints, "endpoints", 1, "how many endpoints the service has for each chain, with faults of their own")
	set.BoolVar(&s.remoteSigner, "apart", false,
		"run everything but the service, which is for 'bursar serve --config DIRECTORY/bursar.yaml' then")
	set.StringVar(&blocks, "blocks", "auto",
		"`auto`: every second and after a payment; manual: only when the remote control asks")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("%.60q is not a flag; --help lists them", set.Arg(0))
	}
	if blocks != "auto" && blocks != "manual" {
		return s, fmt.Errorf("--blocks is %.40q; it can be auto or manual", blocks)
	}
	if s.endpoints < 1 || s.endpoints > maxEndpoints {
		return s, fmt.Errorf("--endpoints is %d; it can be 1 to %d", s.endpoints, maxEndpoints)
	}
	if s.remoteSigner && (s.data == "" || strings.HasSuffix(s.listen, ":0") || strings.HasSuffix(s.admin, ":0")) {
		return s,
			fmt.Errorf("--apart needs --data DIRECTORY, and --listen and --admin with ports that are not 0: another process " +
				"will use them")
	}
	s.manual = blocks == "manual"
	var err error
	if s.chains, err = chosenChains(names); err != nil {
		return s, fmt.Errorf("--chains: %w", err)
	}
	s.database, err = absoluteDatabase(s.database)
	return s, err
}

// maxEndpoints is as many as the service takes for one chain.
const maxEndpoints = 8

func available() []string {
	var names []string
	for _, id := range chains.Available() {
		names = append(names, string(id))
	}
	return names
}

// chosenChains reads the list of chains; all there are where none is named.
func chosenChains(names string) ([]bursar.ChainID, error) {
	if names == "" {
		return chains.Available(), nil
	}
	var list []bursar.ChainID
	for name := range strings.SplitSeq(names, ",") {
		id := bursar.ChainID(strings.TrimSpace(name))
		if err := chains.Check(id); err != nil {
			return nil, err
		}
		if slices.Contains(list, id) {
			return nil, fmt.Errorf("%s is named twice", id)
		}
		list = append(list, id)
	}
	return list, nil
}

// absoluteDatabase resolves a file against the current folder: in the configuration it would be resolved against
// another.
func absoluteDatabase(url string) (string, error) {
	file, ok := strings.CutPrefix(url, "sqlite:")
	if !ok || file == "" || filepath.IsAbs(file) {
		return url, nil
	}
	file, err := filepath.Abs(file)
	return "sqlite:" + file, err
}

// logger writes everything where the output is for programs, and only what is wrong where a person reads along.
func logger(s settings, stderr io.Writer) *slog.Logger {
	level := slog.LevelError
	if s.json {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}
