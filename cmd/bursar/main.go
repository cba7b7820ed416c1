// Command bursar runs the service and is the operator's tool for it.
//
// It owns the command line: what the commands and flags are called, what is printed where, and how it exits. It
// decides nothing about money and holds no wiring; that is service's. Its invariants: results go to standard output
// and everything else to standard error; it exits with 0 when it did what was asked, 1 when that failed, and 2 when
// the command line or the configuration is wrong and nothing was tried; a secret is printed only by the command that
// makes it.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // a machine without a database of time zones knows them too

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
)

func main() {
	log.SetOutput(io.Discard) // net/http logs there what receivers and nodes send unasked
	host.KeepPrivate()
	shielded := host.Shield() // any command may open the seed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c := &call{Call: command.Call{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}}
	if shielded != nil {
		os.Exit(c.fail(shielded))
	}
	os.Exit(run(ctx, c, os.Args[1:]))
}

// commands is the command line.
type commands struct {
	Version kong.VersionFlag `name:"version" short:"V" help:"Print the version."`
	Config  string           `placeholder:"FILE" help:"Configuration file. Default: bursar.yaml, or the environment alone if that does not exist."`

	Init         initCommand          `cmd:"" help:"Make a configuration, a seed and a database, step by step or by flags."`
	Settings     configCommands       `cmd:"" name:"config" help:"Validate the configuration."`
	Serve        serveCommand         `cmd:"" help:"Run the service."`
	Migrate      migrateCommand       `cmd:"" help:"Create the database or migrate its schema."`
	Database     databaseCommands     `cmd:"" help:"Give roles of PostgreSQL their rights."`
	Seed         seedCommands         `cmd:"" help:"Create or restore the seed that all keys are derived from."`
	Signer       signerCommands       `cmd:"" help:"Run the remote signer, freeze it, and show what it remembers."`
	Audit        auditCommands        `cmd:"" help:"List and verify what people did; check the signer's log, and prove what is in it."`
	Operator     operatorCommands     `cmd:"" help:"Invite people to the console, set their roles, and revoke them."`
	Account      accountCommands      `cmd:"" help:"Create, list, configure and freeze accounts."`
	Limit        limitCommands        `cmd:"" help:"Show and change limits of withdrawals."`
	Key          keyCommands          `cmd:"" help:"Create, list, revoke and rotate API keys and webhook secrets."`
	Chain        chainCommands        `cmd:"" help:"Show chains, rescan blocks, halt and resume payments."`
	Currency     currencyCommands     `cmd:"" help:"Halt and resume payments of a currency."`
	Halt         haltCommands         `cmd:"" help:"Stop every payment immediately, and show what is halted."`
	Resume       resumeCommand        `cmd:"" help:"Resume payments after a halt of everything."`
	Find         findCommand          `cmd:"" help:"Find objects by ID, hash, address, reference or amount, and show where the money is."`
	Deposit      depositCommands      `cmd:"" help:"List deposits, and show where their money is."`
	Wallet       walletCommands       `cmd:"" help:"List and show wallets."`
	Charge       chargeCommands       `cmd:"" help:"Make, list, show, resolve and refund charges."`
	Withdrawal   withdrawalCommands   `cmd:"" help:"List, approve, reject and cancel withdrawals."`
	Proposal     proposalCommands     `cmd:"" help:"List, show, approve and reject what was proposed in the console."`
	Approve      approveCommand       `cmd:"" help:"Look at what waits for approval and sign it, with the program bursar-approve."`
	Approval     approvalCommands     `cmd:"" help:"List payments that wait for approvals, and add approvals."`
	Outgoing     outgoingCommands     `cmd:"" help:"Show, resolve and abandon outgoing transactions."`
	Alarm        alarmCommands        `cmd:"" help:"List and close alarms."`
	Notice       noticeCommands       `cmd:"" help:"List and test who is notified of alarms."`
	Webhook      webhookCommands      `cmd:"" help:"List, redeliver and test webhook events."`
	Ledger       ledgerCommands       `cmd:"" help:"Export and verify the books."`
	Screening    screeningCommands    `cmd:"" help:"List and decide what waits for screening."`
	Unattributed unattributedCommands `cmd:"" name:"unattributed" help:"List and resolve unattributed deposits."`
	Treasury     treasuryCommands     `cmd:"" help:"Show and withdraw operator funds."`
	Cold         coldCommands         `cmd:"" help:"Refill the hot wallet from a cold wallet, whose keys sign offline."`
	Reconcile    reconcileCommand     `cmd:"" help:"Compare the books with the balances on the chains."`
	Doctor       doctorCommand        `cmd:"" help:"Check everything that the service needs."`
	Backup       backupCommand        `cmd:"" help:"Back up the database while the service runs, or check a backup."`
	Archive      archiveCommand       `cmd:"" help:"Move delivered webhook events from the database into a verified file."`
	Recovery     recoveryCommands     `cmd:"" help:"Recover a database that is older than its chains."`
	Restore      restoreCommand       `cmd:"" help:"Replace the database with a backup."`
	API          apiCommand           `cmd:"" name:"api" help:"Call the HTTP API with an API key."`
	Listen       listenCommand        `cmd:"" help:"Print an account's events as they come, and forward them to a receiver of yours."`
	Logs         logsCommands         `cmd:"" help:"Show what was asked of the API, and what became of it."`
	Trigger      triggerCommand       `cmd:"" help:"Trigger an event in a sandbox by performing its cause."`
	Profile      profileCommands      `cmd:"" help:"Name services and their API keys, for the commands that call them."`
	Whoami       whoamiCommand        `cmd:"" help:"Show which account an API key is of."`
	Status       statusCommand        `cmd:"" help:"Show whether a service is ready and takes an API key."`
	Docs         docsCommand          `cmd:"" help:"Print the documentation, and search it."`
	Help         helpCommand          `cmd:"" help:"Explain a command or a topic."`
	Completion   completionCommand    `cmd:"" help:"Print the script with which a shell completes commands, flags and values."`
	Man          manCommand           `cmd:"" help:"Print the manual page."`
	Complete     completeCommand      `cmd:"" hidden:"" help:"Print what a word can become."`
	About        versionCommand       `cmd:"" name:"version" help:"Print the version."`

	Destination destinationCommands `cmd:"" help:"Set which addresses an account may withdraw to."`
}

// signerCommands are those of the signer, with an earlier name of one.
type signerCommands struct {
	command.Signer
	Audit command.Audit `cmd:"" hidden:""`
}

// newParser returns the parser of command lines that begin with some words, such as the arguments of this process;
// with no words it is one of every command line. It calls exit when --help was printed.
func newParser(c *call, line *commands, exit func(int), words ...string) (*kong.Kong, error) {
	return kong.New(line, kong.IgnoreFields(besides(commandOf(words))...),
		kong.Name("bursar"), kong.Writers(c.Stdout, c.Stderr), kong.Exit(exit),
		kong.Description("Takes cryptocurrency deposits, keeps accounts and pays out."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.NamedMapper("account", &c.names),
		kong.Vars{"families": familyList(), "version": "bursar " + command.ReadVersion().Version})
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, c *call, args []string) int {
	var line commands
	helped := false
	args = spelled(args)
	parser, err := newParser(c, &line, func(int) { helped = true }, args...)
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
	c.Config = line.Config
	err = c.execute(ctx, parsed, args)
	if program := exited(0); errors.As(err, &program) {
		return int(program)
	}
	if err != nil {
		return c.fail(err)
	}
	return 0
}

// execute runs a command that was parsed.
func (c *call) execute(ctx context.Context, parsed *kong.Context, args []string) error {
	selected := parsed.Selected().Target.Addr().Interface()
	r, is := selected.(interface{ onlyRehearses() bool })
	c.rehearses = is && r.onlyRehearses()
	if err := c.names.resolve(ctx, c); err != nil {
		return err
	}
	c.did = didOf(parsed)
	if !c.rehearses { // what changes nothing asks nobody
		if err := c.Prepare(selected, "bursar "+strings.Join(args, " ")); err != nil {
			return err
		}
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err := parsed.Run(c, &c.Call)
	if c.rehearses && errors.Is(err, errRehearsed) {
		return c.rehearsed(selected, err)
	}
	return errors.Join(err, c.Finish())
}

// rehearsed says that every check passed, and what would come of it where that is known.
func (c *call) rehearsed(selected any, ended error) error {
	facts, message := actFacts{"dryRun": true}, errRehearsed.Error()
	if f := (foreseen{}); errors.As(ended, &f) {
		facts["outcome"], message = f.outcome, f.Error()
	}
	if j, is := selected.(interface{ InJSON() bool }); is && j.InJSON() {
		facts["message"] = message
		return c.PrintJSON(facts)
	}
	return c.Say("%s", message)
}
