package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
)

// now is the time of commands.
func now() time.Time { return time.Now() }

type signerApplyCommand struct {
	Text       string   `arg:"" placeholder:"FILE" help:"The text, with signatures at its end."`
	Signatures []string `arg:"" optional:"" placeholder:"SIGNATURE" help:"Files with more signatures, as ssh-keygen writes them."`
	Acting
}

// Help returns an example.
func (signerApplyCommand) Help() string {
	return "Takes a text that people signed with bursar-approve or ssh-keygen: a policy, a destination, a client's key, " +
		"a freeze or a thaw. " +
		"On mainnet a thaw begins an hour later, unless anybody of the policy freezes the signer before. " +
		"Run it on the signer's machine, as its user, while the signer runs or not.\n\nExample:\n\n    bursar signer apply " +
		"policy-7.txt"
}

// Run applies a signed text.
func (cmd *signerApplyCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	text, signatures, err := signedFiles(append([]string{cmd.Text}, cmd.Signatures...))
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(text, "\n")
	return c.signerState(ctx, func(file *memory.File) error {
		if err := host.AgreePolicy(ctx, cfg, file, slog.New(slog.NewTextHandler(c.Stderr, nil))); err != nil {
			return err // what was in force is known before anything follows it
		}
		switch kind {
		case roster.KindPolicy:
			return c.applyPolicy(ctx, cfg, file, text, signatures)
		case approval.KindDestination:
			return c.applyDestination(ctx, cfg, file, text, signatures)
		case approval.KindOrderKey:
			return errors.Join(c.applyOrderKey(ctx, file, text, signatures), c.noteOrderKeys(ctx, cfg, file))
		case approval.KindFreeze:
			return c.applyFreeze(ctx, host.StateFile(cfg), file, text, signatures)
		}
		return fmt.Errorf("the text begins with %.40q: apply takes a policy, a destination, a client's key, a freeze or "+
			"a thaw", kind)
	})
}

// signedFiles reads a text and its signatures.
func signedFiles(paths []string) (text string, signatures []string, err error) {
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", nil, fmt.Errorf("read what was signed: %w", err)
		}
		before, found, err := sshsig.Split(string(content))
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("%s: %w", path, err)
		case i == 0:
			text = before
		case strings.TrimSpace(before) != "":
			return "", nil, fmt.Errorf("%s holds more than signatures", path)
		}
		signatures = append(signatures, found...)
	}
	return text, signatures, nil
}

func (c *Call) applyPolicy(
	ctx context.Context, cfg config.Config, file *memory.File, text string, signatures []string,
) error {
	act, err := people.Install(ctx, file, text, signatures, here(ctx, cfg))
	if err != nil {
		return err
	}
	for _, change := range act.Changes {
		c.Note("%s", change)
	}
	for _, rule := range act.Open {
		c.Note("limits:   %s", rule)
	}
	for _, quorum := range act.Unmet {
		c.Note("missing:  %s", quorum)
	}
	if err := host.NotePolicy(cfg, act.Policy); err != nil {
		c.Note("It is installed. That it is could not be noted beside the seed, which the signer's next start does: %v", err)
	}
	who := strings.Join(act.By, ", ")
	if len(act.By) == 0 {
		return c.Say("The policy is the one that was lost, by its hash: version %d is in force again from %s on.",
			act.Policy.Version, Moment(act.From))
	}
	return c.Say("The policy, signed by %s, is in force from %s on. What it takes away from people, and what it denies, "+
		"holds at once.", who, Moment(act.From))
}

// here is where this command takes what people signed.
func here(ctx context.Context, cfg config.Config) people.Here {
	return people.Here{Network: string(cfg.Network), Chains: host.Spellings(ctx, cfg), Clock: now()}
}

func (c *Call) applyDestination(
	ctx context.Context, cfg config.Config, file *memory.File, text string, signatures []string,
) error {
	act, err := people.Direct(ctx, file, text, signatures, here(ctx, cfg))
	if err != nil {
		return err
	}
	d, err := approval.ParseDestination(text)
	if err != nil {
		return err
	}
	if d.Remove {
		return c.Say("%s of %s, removed by %s, cannot be paid any more.", d.To, d.Chain, strings.Join(act.By, ", "))
	}
	return c.Say("%s of %s, signed by %s, can be paid from %s until %s.", d.To, d.Chain, strings.Join(act.By, ", "),
		Moment(act.From), Moment(d.Until))
}

func (c *Call) applyFreeze(
	ctx context.Context, path string, file *memory.File, text string, signatures []string,
) error {
	if err := memory.Enter(ctx, file); err != nil { // a thaw comes after this freeze, or is refused
		return err
	}
	f, err := approval.ParseFreeze(text)
	if err != nil {
		return err
	}
	var who string
	if f.Thaw {
		done, err := memory.ThawIf(ctx, file, now(), func(ctx context.Context, tx memory.Tx) (memory.Thawing, error) {
			t, _, err := people.Thawing(ctx, tx, text, signatures, now())
			who = t.Who
			return t, err
		})
		if err != nil {
			return err
		}
		if !done.Waits.At.IsZero() {
			return c.Say("The signer %s. Until then it stays frozen, and one person of the policy ends the thaw with a freeze.",
				done.Waits.Text())
		}
		return c.Say("Freezes ended by %s: %d.", who, done.Ended)
	}
	err = file.Do(ctx, func(tx memory.Tx) error {
		_, by, err := people.Freezing(ctx, tx, text, signatures, now())
		if who = strings.Join(by, ", "); err != nil {
			return err
		}
		// The freeze comes first: after a crash between the two, its text can be applied again.
		return memory.Stop(path, memory.Freeze{At: now().UTC(), Who: who, Why: f.Why})
	})
	if err != nil {
		return err
	}
	if err := memory.Enter(ctx, file); err != nil {
		return err
	}
	return c.Say("The signer is frozen by %s.", who)
}

// mayThaw refuses a thaw that nobody signed where a policy says who signs it.
func mayThaw(ctx context.Context, file *memory.File) error {
	return file.Do(ctx, func(tx memory.Tx) error {
		p, found, err := people.InForce(ctx, tx, now())
		if errors.Is(err, people.ErrNoPolicy) { // also by a clock that was set back
			return fmt.Errorf("%w: authors sign a thaw, once it is", err)
		}
		if err == nil && found {
			err = fmt.Errorf("the policy has %d of its authors sign a thaw: `bursar-approve thaw`, `bursar-approve sign`, then "+
				"`bursar signer apply`", p.Authors)
		}
		return err
	})
}

type signerDestinationsCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (signerDestinationsCommand) Help() string {
	return "Lists the destinations that people signed.\n\nExample:\n\n    bursar signer destinations"
}

// SignedDestination is a destination as it is shown.
type SignedDestination struct {
	Chain   string    `json:"chain"`
	Address string    `json:"address"`
	Asset   string    `json:"asset"`
	Account string    `json:"account"`
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
}

// Run lists the destinations.
func (cmd *signerDestinationsCommand) Run(ctx context.Context, c *Call) error {
	var all []SignedDestination
	err := c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) error {
			list, err := tx.Destinations(ctx, "", "")
			if err != nil {
				return err
			}
			for _, one := range list {
				d, err := approval.ParseDestination(one.Text)
				if err != nil {
					return err
				}
				shown := SignedDestination{Chain: string(d.Chain), Address: d.To.String(), Asset: "*", Account: "*",
					From: one.From, Until: one.Until}
				if !d.Any {
					shown.Asset = approval.AssetText(d.Contract)
				}
				if !d.Account.IsZero() {
					shown.Account = d.Account.String()
				}
				all = append(all, shown)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return List(c, cmd.JSON, all, "CHAIN ADDRESS ASSET ACCOUNT FROM UNTIL", func(d SignedDestination) []any {
		return []any{d.Chain, d.Address, d.Asset, d.Account, d.From, d.Until}
	})
}
