package main

import (
	"errors"
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
	json            bool
	listen          string
	admin           string
	control         string
	shop            string
	data            string
	database        string
	config          string          // file with settings of the service; "": none
	given           map[string]bool // by name, the flags that are set
	chains          []bursar.ChainID
	manual          bool
	screening       bool // payments are screened
	cold            bool // there are cold wallets
	separateService bool // the service runs in a process of its own
	// endpoints is the number of endpoints of each node.
	endpoints int
}

const usage = `Run chains on this machine, the service on top of them, and a remote control.

  go run ./sandbox [flags]

`

// parseFlags reads the command line and resolves what depends on the current directory. The usage goes to stderr.
func parseFlags(args []string, stderr io.Writer) (settings, error) {
	s := settings{given: map[string]bool{}}
	set := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, usage)
		set.PrintDefaults()
	}
	var names, blocks string
	s.defineAddresses(set)
	s.defineFiles(set)
	s.defineChains(set, &names, &blocks)
	s.defineService(set)
	if err := set.Parse(args); err != nil {
		return s, err
	}
	set.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	if set.NArg() > 0 {
		return s, fmt.Errorf("%.60q is not a flag: use --help for the list", set.Arg(0))
	}
	if err := s.check(blocks); err != nil {
		return s, err
	}
	s.manual = blocks == "manual"
	var err error
	if s.chains, err = chosenChains(names); err != nil {
		return s, fmt.Errorf("--chains: %w", err)
	}
	s.database, err = absoluteDatabase(s.database)
	return s, err
}

// defineAddresses defines the flags of output and of what the sandbox listens on.
func (s *settings) defineAddresses(set *flag.FlagSet) {
	set.BoolVar(&s.json, "json", false,
		"print one line of JSON when the sandbox is ready, and write the log to standard error")
	set.StringVar(&s.listen, "listen", "127.0.0.1:8080", "`address` of the API; port 0 chooses a free port")
	set.StringVar(&s.admin, "admin", "127.0.0.1:8081",
		"`address` of the operator's console and metrics; port 0 chooses a free port")
	set.StringVar(&s.control, "control", "127.0.0.1:8082",
		"`address` of the remote control, on the loopback interface; port 0 chooses a free port")
	set.StringVar(&s.shop, "shop", "127.0.0.1:8083",
		"`address` of the demo shop, on the loopback interface; without this flag a free port is used where 8083 is taken")
}

// defineFiles defines the flags of the files and the database that the sandbox uses.
func (s *settings) defineFiles(set *flag.FlagSet) {
	set.StringVar(&s.data, "data", "",
		"data `directory` with the chains, the seed, the account and the database; without it, nothing is kept after the run")
	set.StringVar(&s.database, "database", "",
		"`URL` of the database, sqlite:FILE or postgres://…; default: a SQLite file in the data directory")
	set.StringVar(&s.config, "config", "",
		"`file` with settings of the service to try, as bursar.yaml has them; the environment is used as well")
}

// defineChains defines the flags of the chains and their nodes; names and blocks still have to be checked.
func (s *settings) defineChains(set *flag.FlagSet, names, blocks *string) {
	set.StringVar(names, "chains", "", "comma-separated `list` of chains; default, all: "+
		strings.Join(available(), ", "))
	set.IntVar(&s.endpoints, "endpoints", 1, "number of endpoints of each chain's node, each with its own faults")
	set.StringVar(blocks, "blocks", "auto",
		"`auto`: mine a block every second and after each payment; manual: mine only when the remote control requests it")
}

// defineService defines the flags of what surrounds the service: screening, cold wallets, a process of its own.
func (s *settings) defineService(set *flag.FlagSet) {
	set.BoolVar(&s.screening, "screening", false,
		"screen deposits and payouts by a screening service, which the remote control has pass, review or reject")
	set.BoolVar(&s.cold, "cold", false,
		"give chains cold wallets, whose seed is in the folder cold of the data directory; needs --data")
	set.BoolVar(&s.separateService, "apart", false,
		"run everything except the service, which you start with 'bursar serve --config DIRECTORY/bursar.yaml'")
}

// check reports the first value that cannot be used, or only with another flag.
func (s *settings) check(blocks string) error {
	if blocks != "auto" && blocks != "manual" {
		return fmt.Errorf("--blocks is %.40q: use auto or manual", blocks)
	}
	if s.endpoints < 1 || s.endpoints > maxEndpoints {
		return fmt.Errorf("--endpoints is %d: use 1 to %d", s.endpoints, maxEndpoints)
	}
	if s.separateService && (s.data == "" || strings.HasSuffix(s.listen, ":0") || strings.HasSuffix(s.admin, ":0")) {
		return errors.New("--apart needs --data DIRECTORY, and --listen and --admin with fixed ports (not 0), because " +
			"another process listens on them")
	}
	if s.cold && s.data == "" {
		return errors.New("--cold needs --data DIRECTORY: the folder with the seed of the cold wallets is in it")
	}
	return nil
}

// maxEndpoints is the number of endpoints that the service accepts for one chain.
const maxEndpoints = 8

func available() []string {
	var names []string
	for _, id := range chains.Available() {
		names = append(names, string(id))
	}
	return names
}

// chosenChains parses the list of chains; an empty list means every chain.
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

// absoluteDatabase resolves a file path against the current directory, because the service would resolve it against
// the configuration's directory.
func absoluteDatabase(url string) (string, error) {
	file, ok := strings.CutPrefix(url, "sqlite:")
	if !ok || file == "" || filepath.IsAbs(file) {
		return url, nil
	}
	file, err := filepath.Abs(file)
	return "sqlite:" + file, err
}

// logger logs everything if the output is for programs, and only warnings and errors if a person reads along.
func logger(s settings, stderr io.Writer) *slog.Logger {
	level := slog.LevelError
	if s.json {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}
