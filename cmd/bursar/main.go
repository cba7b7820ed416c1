// Command bursar runs the service and is the operator's tool for it.
//
// It owns the command line: what the commands and flags are called, what is printed where, and how it exits. It decides
// nothing about money and holds no wiring; that is service's. Its invariants: results go to standard output and
// everything else to standard error; it exits with 0 when it did what was asked, 1 when that failed, and 2 when the
// command line or the configuration is wrong and nothing was tried; a secret is printed only by the command that makes
// it.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	log.SetOutput(io.Discard) // the standard library prints there what receivers and nodes send unasked
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, &call{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}, os.Args[1:]))
}

// commands is the command line.
type commands struct {
	Config string `placeholder:"FILE" help:"Configuration file. Default: bursar.yaml, or the environment alone where that is not there."`

	Serve        serveCommand         `cmd:"" help:"Run the service."`
	Migrate      migrateCommand       `cmd:"" help:"Create the database, or bring its schema up to date."`
	Seed         seedCommands         `cmd:"" help:"Make or bring the seed that all keys come from."`
	Signer       signerCommand        `cmd:"" help:"Run the signer as a process of its own."`
	Account      accountCommands      `cmd:"" help:"Create and list accounts."`
	Key          keyCommands          `cmd:"" help:"Create, list, revoke and rotate API keys and webhook secrets."`
	Chain        chainCommands        `cmd:"" help:"Look at chains, search blocks again, lift a halt."`
	Currency     currencyCommands     `cmd:"" help:"Halt a currency, and pay it again."`
	Halt         haltCommands         `cmd:"" help:"Stop every payment at once, and see what is halted."`
	Resume       resumeCommand        `cmd:"" help:"Pay again after a halt of everything."`
	Withdrawal   withdrawalCommands   `cmd:"" help:"List withdrawals and decide about them."`
	Outgoing     outgoingCommands     `cmd:"" help:"Look at outgoing transactions and end what hangs."`
	Alarm        alarmCommands        `cmd:"" help:"Look at what needs an operator."`
	Webhook      webhookCommands      `cmd:"" help:"Look at what receivers were told, and tell them again."`
	Ledger       ledgerCommands       `cmd:"" help:"Write the books for the accountant."`
	Unattributed unattributedCommands `cmd:"" name:"unattributed" help:"List value that fits no wallet and decide about it."`
	Treasury     treasuryCommands     `cmd:"" help:"Show the operator's own, and pay it out."`
	Reconcile    reconcileCommand     `cmd:"" help:"Compare the books with what the chains hold."`
	Doctor       doctorCommand        `cmd:"" help:"Check everything that the service needs."`
	Backup       backupCommand        `cmd:"" help:"Copy the database while the service runs, or check a copy."`
	Recovery     recoveryCommands     `cmd:"" help:"Bring a database up to the chains that it is older than."`
	Restore      restoreCommand       `cmd:"" help:"Put a backup in the database's place."`
	Version      versionCommand       `cmd:"" help:"Print the version."`

	Destination destinationCommands `cmd:"" help:"Say which addresses an account may withdraw to."`
}

// newParser returns the parser of the command line; exit is told when --help was printed.
func newParser(c *call, line *commands, exit func(int)) (*kong.Kong, error) {
	return kong.New(line, kong.Name("bursar"), kong.Writers(c.stdout, c.stderr), kong.Exit(exit),
		kong.Description("Takes cryptocurrency deposits, keeps accounts and pays out."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}))
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, c *call, args []string) int {
	var line commands
	helped := false
	parser, err := newParser(c, &line, func(int) { helped = true })
	if err != nil {
		return c.fail(err)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return 0
	}
	if err != nil {
		return c.fail(usage(err))
	}
	c.config = line.Config
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(c); err != nil {
		return c.fail(err)
	}
	return 0
}
