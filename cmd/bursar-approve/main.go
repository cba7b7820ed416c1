// Command bursar-approve shows an approver what waits for approval, and signs it.
//
// It owns the dialogue with the person who signs. Its invariants: it shows only what it parsed from the very bytes that
// it signs afterwards; it signs a payment only after the person has typed its amount and the end of its address; it
// trusts nothing that the service sends but for texts to be signed, which the signer checks again. It contains no
// chain, no API and no database, and no other key than the person's.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	s := &session{stdin: bufio.NewReader(os.Stdin), out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now}
	os.Exit(run(ctx, s, os.Args[1:]))
}

// session is one run of the program with its inputs and outputs.
type session struct {
	stdin    *bufio.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time

	Key, Journal, PasswordFile string
	Certificate
}

// commands is the command line.
type commands struct {
	Key          string `placeholder:"FILE" help:"Private SSH key without passphrase, or the public key of one in the agent. Default: the agent's key in the policy."`
	PasswordFile string `placeholder:"FILE" help:"File with the password of the operator's listener."`
	Certificate

	Journal string `placeholder:"FILE" help:"File in which you keep what you signed. Default: bursar-approve.log in your home directory."`

	List        listCommand        `cmd:"" help:"List payments that wait for approval."`
	Yes         yesCommand         `cmd:"" help:"Look at payments one by one, and approve them."`
	No          noCommand          `cmd:"" help:"Say no to a payment."`
	Sign        signCommand        `cmd:"" help:"Sign a policy, a destination, a client's key, a compromise order, a freeze or a thaw."`
	Destination destinationCommand `cmd:"" help:"Write the text of a destination, to be signed."`
	OrderKey    orderKeyCommand    `cmd:"" name:"order-key" help:"Write the text of a client's key, to be signed."`
	Passkey     passkeyCommand     `cmd:"" help:"Show the fingerprint of a passkey, and its line for the policy."`
	Freeze      freezeCommand      `cmd:"" help:"Write the text of a freeze, to be signed."`
	Thaw        thawCommand        `cmd:"" help:"Write the text of a thaw, to be signed."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

// newParser returns the parser of the command line. It calls exit when --help was printed.
func newParser(s *session, line *commands, exit func(int)) (*kong.Kong, error) {
	return kong.New(line, kong.Name("bursar-approve"), kong.Writers(s.out, s.err), kong.Exit(exit),
		kong.Description("Shows what waits for approval in Bursar, and signs."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}))
}

// errUsage is a mistake in the command line: nothing was attempted.
var errUsage = errors.New("see `bursar-approve --help`")

// run executes a command line and returns the exit code: 1 if what was asked failed, 2 if it is wrong.
func run(ctx context.Context, s *session, args []string) int {
	var line commands
	helped := false
	parser, err := newParser(s, &line, func(int) { helped = true })
	if err != nil {
		return s.fail(err)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return 0
	}
	if err != nil {
		return s.fail(fmt.Errorf("%w; %w", err, errUsage))
	}
	s.Key, s.Journal, s.PasswordFile = line.Key, line.Journal, line.PasswordFile
	s.Certificate = line.Certificate
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(s); err != nil {
		return s.fail(err)
	}
	return 0
}

func (s *session) fail(err error) int {
	fmt.Fprintln(s.err, "bursar-approve: "+clean(err.Error()))
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// say shows a line to the person.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.err, clean(fmt.Sprintf(format, args...)))
}

// ask shows a question and reads a line.
func (s *session) ask(question string) (string, error) {
	fmt.Fprint(s.err, question+" ")
	line, err := s.stdin.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("nothing was signed: no answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// clean takes out what could move a terminal's cursor, or look like something else.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || unicode.IsControl(r) && r != '\n' {
			return '?'
		}
		return r
	}, text)
}

type versionCommand struct{}

// Help returns an example.
func (versionCommand) Help() string { return "Example:\n\n    bursar-approve version" }

// Run prints the version, the Go release and the platform of this program.
func (versionCommand) Run(s *session) error {
	version := "unknown"
	if info, found := debug.ReadBuildInfo(); found {
		version = info.Main.Version
	}
	_, err := fmt.Fprintf(s.out, "bursar-approve %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
