// Command bursar-signer runs the signer alone: the process with the seed, and the commands for it.
//
// It owns the names under which package command's commands are typed here. Its invariant is what it does not contain:
// the API, the database of the service, the follower, webhooks and metrics. It reads the configuration of bursar.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
)

func main() {
	log.SetOutput(io.Discard) // net/http logs there what comes unasked
	host.KeepPrivate()
	shielded := host.Shield() // any command may open the seed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c := &command.Call{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: renamed{os.Stderr}, Environ: os.Environ()}
	if shielded != nil {
		os.Exit(fail(c, shielded))
	}
	os.Exit(run(ctx, c, os.Args[1:]))
}

// commands is the command line.
type commands struct {
	Config string `placeholder:"FILE" help:"Configuration file. Default: bursar.yaml, or the environment alone if that does not exist."`

	command.Signer
	Audit   command.Audit   `cmd:"" help:"Check the signer's log, and prove what is in it."`
	Offline command.Offline `cmd:"" help:"Sign refills from a cold wallet on a machine without a network."`
	Seed    command.Seed    `cmd:"" help:"Create, restore or check the seed that all keys are derived from."`
	Version versionCommand  `cmd:"" help:"Print the version."`
}

// names are the commands as they are typed here. The texts of package command name those of bursar.
var names = strings.NewReplacer("bursar signer", "bursar-signer", "bursar seed", "bursar-signer seed",
	"bursar audit", "bursar-signer audit")

// renamed writes with the names of the commands as they are typed here.
type renamed struct{ io.Writer }

// Write writes a text that holds each name whole.
func (r renamed) Write(text []byte) (int, error) {
	if _, err := io.WriteString(r.Writer, names.Replace(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// newParser returns the parser of the command line. It calls exit when --help was printed.
func newParser(c *command.Call, line *commands, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(line, kong.Name("bursar-signer"), kong.Writers(c.Stdout, c.Stderr), kong.Exit(exit),
		kong.Description("Holds the seed of Bursar and signs for it."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}))
	if err != nil {
		return nil, err
	}
	return parser, kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if n, is := node.(*kong.Node); is {
			n.Detail = names.Replace(n.Detail)
		}
		return next(nil)
	})
}

// run executes a command line and returns the exit code: 1 if what was asked failed, 2 if it is wrong.
func run(ctx context.Context, c *command.Call, args []string) int {
	var line commands
	helped := false
	parser, err := newParser(c, &line, func(int) { helped = true })
	if err != nil {
		return fail(c, err)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return 0
	}
	if err != nil {
		return fail(c, command.Wrong("%w; see `bursar-signer --help`", err))
	}
	c.Config = line.Config
	parsed.BindTo(ctx, (*context.Context)(nil))
	selected := parsed.Selected().Target.Addr().Interface()
	if err := c.Prepare(selected, "bursar-signer "+strings.Join(args, " ")); err != nil {
		return fail(c, err)
	}
	if err := errors.Join(parsed.Run(c), c.Finish()); err != nil {
		return fail(c, err)
	}
	return 0
}

func fail(c *command.Call, err error) int {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	fmt.Fprintln(c.Stderr, "bursar-signer: "+text)
	if command.Mistaken(err) {
		return 2
	}
	return 1
}

type versionCommand struct{}

// Help returns an example.
func (versionCommand) Help() string { return "Example:\n\n    bursar-signer version" }

// Run prints the version, the Go release and the platform of this program.
func (versionCommand) Run(c *command.Call) error {
	v := command.ReadVersion()
	return c.Say("bursar-signer %s %s %s", v.Version, v.Go, v.Platform)
}
