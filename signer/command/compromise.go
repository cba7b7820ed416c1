package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

type signerCompromiseCommands struct {
	Prepare compromisePrepareCommand `cmd:"" help:"Write the text of a compromise order, to be signed by authors."`
	Drill   compromiseDrillCommand   `cmd:"" help:"Verify a signed compromise order as if it was used."`
	Use     compromiseUseCommand     `cmd:"" help:"Move everything to cold wallets, and sign nothing else."`
	Show    compromiseShowCommand    `cmd:"" default:"1" help:"Show which compromise order is in force, and which was drilled."`
}

type compromisePrepareCommand struct {
	Days int               `default:"180" help:"How many days it can be used, at most 366."`
	Cold map[string]string `placeholder:"CHAIN=ADDRESS" help:"Another cold wallet of a chain than the first of the configuration."`
	Acting
}

// Help returns an example.
func (compromisePrepareCommand) Help() string {
	return "Names for each chain a cold wallet of this configuration, and the policy in force. As many authors sign it " +
		"as sign a policy, with `bursar-approve sign`; then `bursar signer compromise drill` says whether it would be " +
		"taken. Keep the signed file away from the signer's machine: anyone who has both can use it.\n\nExample:\n\n" +
		"    bursar signer compromise prepare > compromise.txt"
}

// Run writes the text.
func (cmd *compromisePrepareCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if cmd.Days < 1 {
		return Wrong("--days must be 1 or more")
	}
	created := now().UTC().Truncate(time.Second)
	o := approval.Compromise{ID: approval.NewNonce(), Created: created, Expires: created.AddDate(0, 0, cmd.Days)}
	if o.Cold, err = cmd.destinations(cfg, coldWallets(ctx, cfg)); err != nil {
		return err
	}
	err = c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) error {
			state, err := tx.State(ctx)
			if err != nil {
				return err
			}
			p, found, err := people.InForce(ctx, tx, now())
			if err == nil && !found {
				err = people.ErrNoPolicy
			}
			o.Instance, o.Version = state.Instance, p.Version
			if err == nil {
				o.Policy = p.Hash()
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if _, err := approval.ParseCompromise(o.Text()); err != nil {
		return err
	}
	if c.Keep(Facts{"order": o.ID.String(), "text": o.Text()}) {
		return nil
	}
	if _, err = fmt.Fprint(c.Stdout, o.Text()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// destinations returns where the money of each chain goes that has a cold wallet.
func (cmd *compromisePrepareCommand) destinations(
	cfg config.Config, cold people.ColdWallets,
) (list []approval.ColdDestination, err error) {
	for _, id := range slices.Sorted(maps.Keys(cfg.Chains)) {
		known := cold(id)
		if base := cmd.Cold[string(id)]; base != "" {
			if !slices.Contains(known, base) {
				return nil, fmt.Errorf("%w: %s on %s", people.ErrCold, base, id)
			}
			known = []string{base}
		}
		if len(known) > 0 {
			list = append(list, approval.ColdDestination{Chain: id, Base: known[0]})
		}
	}
	for id := range cmd.Cold {
		if _, configured := cfg.Chains[bursar.ChainID(id)]; !configured {
			return nil, Wrong("--cold names %s, and that chain is not configured", id)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no cold wallet is configured: see docs/operations/cold.md")
	}
	return list, nil
}

// coldWallets returns the addresses of cold wallets of a configuration, in the form of their chains.
func coldWallets(ctx context.Context, cfg config.Config) people.ColdWallets {
	chains := host.Spellings(ctx, cfg)
	return func(id bursar.ChainID) (list []string) {
		spelling, known := chains(id)
		for _, w := range cfg.Chains[id].Cold {
			for _, text := range w.Addresses {
				if !known {
					continue
				}
				if address, err := spelling.ParseAddress(text); err == nil && !address.HasMemo {
					list = append(list, address.Base)
				}
			}
		}
		return list
	}
}

type signedCompromise struct {
	Text       string   `arg:"" placeholder:"FILE" help:"The order, with signatures at its end."`
	Signatures []string `arg:"" optional:"" placeholder:"SIGNATURE" help:"Files with more signatures, as ssh-keygen writes them."`
}

// read reads the order and its signatures, with the configuration.
func (cmd signedCompromise) read(c *Call) (cfg config.Config, text string, signatures []string, err error) {
	if cfg, err = c.Load(); err == nil {
		text, signatures, err = signedFiles(append([]string{cmd.Text}, cmd.Signatures...))
	}
	return cfg, text, signatures, err
}

type compromiseDrillCommand struct {
	signedCompromise
	Acting
}

// Help returns an example.
func (compromiseDrillCommand) Help() string {
	return "The signer verifies everything as if the order was used: who signed, the policy in force, the cold " +
		"wallets, its time, and that it was never used. It changes nothing but its log, and when an order was drilled " +
		"last, for which an alarm waits 92 days.\n\nExample:\n\n    bursar signer compromise drill compromise.txt"
}

// Run drills an order.
func (cmd *compromiseDrillCommand) Run(ctx context.Context, c *Call) error {
	cfg, text, signatures, err := cmd.read(c)
	if err != nil {
		return err
	}
	var o approval.Compromise
	var by []string
	err = c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) (err error) {
			o, by, err = people.Drill(ctx, tx, text, signatures, coldWallets(ctx, cfg), now())
			return err
		})
	})
	if err != nil {
		return err
	}
	c.noteCold(cfg, o)
	return c.Done(compromiseFacts(o, by), "The signer would take compromise order %s, signed by %s, until %s. "+
		"Nothing was changed.", o.ID, strings.Join(by, ", "), Moment(o.Expires))
}

// noteCold says where the money of each chain goes, and of which it would stay.
func (c *Call) noteCold(cfg config.Config, o approval.Compromise) {
	for _, id := range slices.Sorted(maps.Keys(cfg.Chains)) {
		to := o.To(id)
		if to == "" {
			to = "stays where it is: the order names no cold wallet of this chain"
		}
		c.Note("%s: %s", id, to)
	}
}

func compromiseFacts(o approval.Compromise, by []string) Facts {
	cold := map[string]string{}
	for _, d := range o.Cold {
		cold[string(d.Chain)] = d.Base
	}
	return Facts{"order": o.ID.String(), "by": by, "policy": o.Version, "expires": o.Expires, "cold": cold}
}

type compromiseUseCommand struct {
	signedCompromise
	Confirmed
}

// Help returns an example.
func (compromiseUseCommand) Help() string {
	return "Freezes the signer, but for one exception until the authors' thaw: it moves what the hot wallets hold to " +
		"the cold wallets of the order, with the sweeps and the gas that this needs. The service makes these moves by " +
		"itself; withdrawals wait. Limits of amounts do not stop them, limits of fees do. The order can never be used " +
		"again. Run it on the signer's machine, as its user, while the signer runs or not.\n\nExample:\n\n" +
		"    bursar signer compromise use compromise.txt"
}

// Run uses an order.
func (cmd *compromiseUseCommand) Run(ctx context.Context, c *Call) error {
	cfg, text, signatures, err := cmd.read(c)
	if err != nil {
		return err
	}
	var o approval.Compromise
	var by []string
	err = c.signerState(ctx, func(file *memory.File) error {
		o, by, err = people.Use(ctx, file, text, signatures, coldWallets(ctx, cfg), now())
		return err
	})
	if err != nil {
		return err
	}
	c.noteCold(cfg, o)
	return c.Done(compromiseFacts(o, by), "Compromise order %s, signed by %s, is in force: the signer is frozen but for "+
		"moves to the cold wallets. A halt of the service would hold them up: `bursar resume` ends it.", o.ID,
		strings.Join(by, ", "))
}

type compromiseShowCommand struct {
	JSON bool `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (compromiseShowCommand) Help() string {
	return "Shows which compromise order is in force, which was drilled last and when, and what is due." +
		"\n\nExample:\n\n    bursar signer compromise show"
}

// Run shows the status.
func (cmd *compromiseShowCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	var s people.CompromiseStatus
	err = c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) (err error) {
			chains := slices.Sorted(maps.Keys(cfg.Chains))
			s, err = people.CompromiseStatusOf(ctx, tx, chains, coldWallets(ctx, cfg), now())
			return err
		})
	})
	if err != nil {
		return err
	}
	if cmd.JSON {
		return c.PrintJSON(s)
	}
	var lines []string
	if s.InForce != "" {
		lines = append(lines, fmt.Sprintf("in force since %s:\n%s", Moment(s.Since), s.InForce))
	}
	if s.Order != "" {
		lines = append(lines, fmt.Sprintf("drilled last at %s:\n%s", Moment(s.Drilled), s.Order))
	}
	switch {
	case s.Trouble != "":
		lines = append(lines, "due: "+s.Trouble)
	case !s.Wanted:
		lines = append(lines, "none is needed: people signed no policy, or there is no cold wallet")
	}
	return c.Say("%s", strings.TrimRight(strings.Join(lines, "\n"), "\n"))
}
