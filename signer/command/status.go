package command

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

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
