package command

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

type signerInitCommand struct {
	Unused bool `help:"The limits begin unused, because nothing was ever signed with this seed, or because you know what was."`
	Acting
}

// Help returns an example.
func (signerInitCommand) Help() string {
	return "Creates signer.state, the file in which the signer remembers what it signed; it is never overwritten. " +
		"Without --unused something may have been signed before, so each window of the limits counts as used up until it " +
		"has passed: an hour for hourly limits, a week for weekly ones. `bursar seed new` creates the file too; the signer " +
		"itself creates one where it finds none.\n\nExample:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar signer init"
}

// Run creates the signer's state.
func (cmd *signerInitCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	begin, err := c.begin(cfg, !cmd.Unused)
	if err != nil {
		return err
	}
	if err := memory.Create(ctx, host.StateFile(cfg), begin); err != nil {
		return err
	}
	if cfg.Signer.CounterRequired {
		if err := host.BindCounter(ctx, cfg, begin, Actor{}.Name(), "the state was created"); err != nil {
			return err
		}
	}
	c.Note("The signer's state is %s.", host.StateFile(cfg))
	return nil
}

// begin returns what the state of a configuration's signer begins with.
func (c *Call) begin(cfg config.Config, cold bool) (memory.Init, error) {
	keys, err := c.openKeys(cfg)
	if err != nil {
		return memory.Init{}, err
	}
	defer keys.Wipe()
	return memory.Init{Fingerprint: keys.Fingerprint(), At: time.Now(), Cold: cold}, nil
}

type signerBeginAgainCommand struct {
	Unused         bool `help:"The limits begin unused, because you know what was signed, and that nobody else had a hand in it."`
	WithoutCounter bool `help:"Bind the state to no counter any more, because its TPM is lost or was cleared."`
	Begin
	Confirmed
}

// Help returns an example.
func (signerBeginAgainCommand) Help() string {
	return "Declares the signer's state incomplete: after an older copy of it was put back, or after the clock was far " +
		"ahead. What it remembers stays. It gets a new instance, the present time, and each window of the limits counts as " +
		"used up until it has passed, unless --unused is given, which also ends such a wait. A state that is bound to a " +
		"counter in the TPM counts on from what that holds. Stop the signer first.\n\nExample:\n\n" +
		"    bursar signer begin-again --reason 'the disk was restored from Monday'"
}

// Run begins the signer's state again.
func (cmd *signerBeginAgainCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	begin, err := c.begin(cfg, !cmd.Unused)
	if err != nil {
		return err
	}
	counter, err := c.boundTo(ctx, cfg)
	if err == nil && counter != nil && !cmd.WithoutCounter {
		if _, err = counter.Value(ctx); err != nil { // before anything is changed
			err = fmt.Errorf("%w; --without-counter binds the state to none", err)
		}
	}
	if err != nil {
		return err
	}
	if err := memory.BeginAgain(ctx, host.StateFile(cfg), begin, cmd.Name(), cmd.Reason); err != nil {
		return err
	}
	if counter != nil {
		if cmd.WithoutCounter {
			counter = nil
		}
		if err := memory.Bind(ctx, host.StateFile(cfg), begin, counter, cmd.Name(), cmd.Reason); err != nil {
			return err
		}
	}
	if cmd.Unused {
		c.Note("The state has started again.")
		return nil
	}
	c.Note("The state has started again: hourly limits count as used up for an hour, daily ones for a day, weekly ones " +
		"for a week.")
	return nil
}

type signerFreezeCommand struct {
	Begin
	Acting
}

// Help returns an example.
func (signerFreezeCommand) Help() string {
	return "From then on this signer signs nothing, also after a restart, whatever the service says; `bursar signer " +
		"thaw` ends it. Once the command has returned, no signature leaves the signer any more. Run it on the signer's " +
		"machine, as its user, while the signer runs or not; it waits for no database. `bursar halt` stops payments from " +
		"the service's side.\n\nExample:\n\n" +
		"    bursar signer freeze --reason 'the service may be in other hands'"
}

// Run freezes the signer: with the marker file first, which needs no database, then in the state.
func (cmd *signerFreezeCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	path := host.StateFile(cfg)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", memory.ErrMissing, path)
	}
	if err := memory.Stop(path, memory.Freeze{At: time.Now().UTC(), Who: cmd.Name(), Why: cmd.Reason}); err != nil {
		return err
	}
	err = c.signerState(ctx, func(file *memory.File) error { return memory.Enter(ctx, file) })
	if errors.Is(err, memory.ErrOlder) {
		return fmt.Errorf("the signer is frozen from its next start on, but still signs: %w", err)
	}
	c.Note("The signer is frozen: it signs nothing until `bursar signer thaw`.")
	if err != nil {
		c.Note("Its log does not say so yet, which the signer's next start makes up for: %v", err)
	}
	return nil
}

type signerThawCommand struct {
	Begin
	Acting
}

// Help returns an example.
func (signerThawCommand) Help() string {
	return "Ends every freeze of the signer, at once. Where people signed a policy, its authors sign the thaw: see " +
		"`bursar-approve thaw`, and `bursar signer apply`; on mainnet it begins an hour later.\n\nExample:\n\n" +
		"    bursar signer thaw --reason 'the service was installed again'"
}

// Run thaws the signer.
func (cmd *signerThawCommand) Run(ctx context.Context, c *Call) error {
	return c.signerState(ctx, func(file *memory.File) error {
		if err := mayThaw(ctx, file); err != nil {
			return err
		}
		n, err := memory.Thaw(ctx, file, time.Now(), cmd.Name(), cmd.Reason)
		if err == nil && n == 0 {
			err = errors.New("the signer is not frozen")
		}
		if err == nil {
			c.Note("Freezes ended: %d. The signer signs again.", n)
		}
		return err
	})
}

// signerState opens the state of the signer of a configuration, beside a running signer.
func (c *Call) signerState(ctx context.Context, f func(file *memory.File) error) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	file, err := memory.Join(ctx, host.StateFile(cfg))
	if err != nil {
		return err
	}
	if err := file.Guard(ctx, host.Counter(cfg)); err != nil {
		c.Note("The counter of the state is not raised: %v", err)
	}
	return errors.Join(f(file), file.Close())
}

type signerStatusCommand struct {
	JSON bool `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (signerStatusCommand) Help() string {
	return "Shows whether the signer is frozen and when a thaw begins that people signed, since when it remembers, how " +
		"much of each limit of the configuration is used up, and the newest entry of its log, after checking that every " +
		"entry of the log follows from the one before. " +
		"It may run beside the signer.\n\nExample:\n\n" +
		"    bursar signer status"
}

// SignerStatus is what is shown of the signer's state.
type SignerStatus struct {
	State     string     `json:"state"` // the file
	Instance  string     `json:"instance"`
	Seed      string     `json:"seed"`
	Entry     int64      `json:"entry"`
	Hash      string     `json:"hash"`
	LatestAt  time.Time  `json:"latestAt"`
	ColdSince *time.Time `json:"coldSince"`
	Frozen    []string   `json:"frozen"`
	// Thaw says when a thaw begins that people signed; empty: none waits. ThawsAt is that time.
	Thaw    string     `json:"thaw,omitempty"`
	ThawsAt *time.Time `json:"thawsAt,omitempty"`
	// Counter is the name of the counter that the state is bound to; empty: none.
	Counter string `json:"counter,omitempty"`
	// LostPolicy is the version of the policy that was in force and that the state does not have; 0: none.
	LostPolicy int64 `json:"lostPolicy,omitempty"`

	Limits []UsedLimit `json:"limits"` // those of this configuration
}

// Run shows the signer's state.
func (cmd *signerStatusCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	s := SignerStatus{State: host.StateFile(cfg), Frozen: []string{}}
	err = c.signerState(ctx, func(file *memory.File) error {
		if err := s.read(ctx, file); err != nil {
			return err
		}
		return file.Do(ctx, func(tx memory.Tx) (err error) {
			s.Limits, err = used(ctx, tx, cfg, time.Now())
			return err
		})
	})
	if err != nil {
		return err
	}
	if cmd.JSON {
		return c.PrintJSON(s)
	}
	if err := c.Say("state %s, instance %s, of the seed %s\nlog: %d entries, hash %s, latest at %s\n", s.State, s.Instance,
		s.Seed, s.Entry, s.Hash, Moment(s.LatestAt)); err != nil {
		return err
	}
	if s.ColdSince != nil {
		if err := c.Say("cold start: nothing is known of what was signed before %s\n", Moment(*s.ColdSince)); err != nil {
			return err
		}
	}
	if s.LostPolicy > 0 {
		if err := c.Say("lost: version %d of the policy that people signed; nothing is signed until it is applied again\n",
			s.LostPolicy); err != nil {
			return err
		}
	}
	if s.Counter != "" {
		if err := c.Say("counter: %s", s.Counter); err != nil {
			return err
		}
	}
	for _, f := range s.Frozen {
		if err := c.Say("frozen: %s\n", Cell(f)); err != nil {
			return err
		}
	}
	if s.Thaw != "" {
		if err := c.Say("thaw: %s\n", Cell(s.Thaw)); err != nil {
			return err
		}
	}
	return List(c, false, s.Limits, "LIMIT USED OF", func(l UsedLimit) []any { return []any{l.Limit, l.Used, l.Of} })
}

// read reads the state and checks the log.
func (s *SignerStatus) read(ctx context.Context, file *memory.File) error {
	head, err := memory.Verify(ctx, file)
	if err != nil {
		return err
	}
	err = s.Summary(ctx, file)
	s.Entry, s.Hash = head.Number, hex.EncodeToString(head.Hash[:]) // the entry that was checked
	return err
}

// Summary reads the state without checking the log.
func (s *SignerStatus) Summary(ctx context.Context, file *memory.File) error {
	err := file.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		head, err := tx.Head(ctx)
		s.Instance, s.Seed, s.Entry, s.LatestAt = state.Instance, state.Fingerprint, head.Number, state.HighWater
		if !state.ColdSince.IsZero() {
			s.ColdSince = &state.ColdSince
		}
		if err != nil {
			return err
		}
		lost, err := people.Lost(ctx, tx)
		s.LostPolicy = lost.Version
		return err
	})
	if err != nil {
		return err
	}
	if s.Counter, err = file.Bound(ctx); err != nil {
		return err
	}
	frozen, err := memory.Freezes(ctx, file)
	for _, f := range frozen {
		s.Frozen = append(s.Frozen, fmt.Sprintf("since %s by %s: %s", Moment(f.At), f.Who, f.Why))
	}
	if err != nil {
		return err
	}
	w, waits, err := memory.Waiting(ctx, file)
	if waits {
		s.Thaw, s.ThawsAt = w.Text(), &w.At
	}
	return err
}
