package command

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// Span is the flags of a command that looks at a period.
type Span struct {
	Since string `placeholder:"TIME" help:"Start of the period, such as 2026-01-01 (UTC) or 2026-01-01T12:00:00Z. Default: the first entry."`
	Until string `placeholder:"TIME" help:"End of the period, exclusive. Default: the last entry."`
}

// Times returns the period; a time that was not given is zero. The error is a UsageError.
func (s Span) Times() (since, until time.Time, err error) {
	for _, one := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", s.Since, &since}, {"--until", s.Until, &until}} {
		if one.text == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, one.text)
		if err != nil {
			at, err = time.Parse(time.RFC3339, one.text)
		}
		if err != nil {
			return since, until, Wrong("%s %q is not a time such as 2026-01-01 or 2026-01-01T00:00:00Z", one.flag, one.text)
		}
		*one.to = at.UTC()
	}
	if !until.IsZero() && !since.Before(until) {
		return since, until, Wrong("--until must be later than --since")
	}
	return since, until, nil
}

type signerListCommand struct {
	Export string `arg:"" optional:"" placeholder:"EXPORT" help:"What bursar audit export wrote. Default: the log of this signer."`
	logKey
	Span
	Kind   []string       `placeholder:"KIND" help:"Only entries of this kind, such as signed, refused, policy or freeze. May be repeated."`
	Chain  bursar.ChainID `placeholder:"CHAIN" help:"Only what was signed or refused on this chain."`
	Number int64          `placeholder:"N" help:"Only this entry."`
	JSON   bool           `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (signerListCommand) Help() string {
	return "Lists what the signer signed and refused, and what people did to it, oldest first, after checking that " +
		"every entry follows from the one before. It may run beside the signer. Of an export it checks the signature " +
		"too, with the key that you keep, and needs neither the signer nor its state. Amounts are whole units in the " +
		"currencies of the configuration; fees are the most that a transaction could cost.\n\nExample:\n\n    " +
		"bursar audit list --since 2026-11-01 --kind signed --chain bitcoin"
}

// ListedEntry is an entry of the log as it is listed.
type ListedEntry struct {
	Number  int64     `json:"number"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Summary string    `json:"summary"`
	Hash    string    `json:"hash"`

	Signed *ListedSigned   `json:"signed,omitempty"` // of entries that allow a signature
	Detail json.RawMessage `json:"detail,omitempty"` // as the log has it, in base units
}

// ListedSigned is what a signed transaction pays, in whole units.
type ListedSigned struct {
	Chain    bursar.ChainID  `json:"chain"`
	Kind     string          `json:"kind"`
	Outgoing bursar.ID       `json:"outgoing"`
	TxID     string          `json:"transaction,omitempty"`
	Payments []ListedPayment `json:"payments"`
	Fee      string          `json:"fee"` // the most that it can cost
}

// ListedPayment is one payment of it.
type ListedPayment struct {
	To     string `json:"to"`
	Amount string `json:"amount"` // with the currency's code
	Home   bool   `json:"home"`   // it stays ours: change, or what a sweep moves
}

// Run lists entries.
func (cmd *signerListCommand) Run(ctx context.Context, c *Call) error {
	since, until, err := cmd.Times()
	if err != nil {
		return err
	}
	reader := entryReader{registry: c.currencies()}
	var list []ListedEntry
	visit := func(e memory.Entry) error {
		if e.At.Before(since) || !until.IsZero() && !e.At.Before(until) || !cmd.wants(e) {
			return nil
		}
		listed, chains := reader.read(e)
		if cmd.Chain == "" || chains[cmd.Chain] {
			list = append(list, listed)
		}
		return nil
	}
	if err := cmd.walk(ctx, c, visit); err != nil {
		return err
	}
	return List(c, cmd.JSON, list, "ENTRY AT KIND SUMMARY", func(e ListedEntry) []any {
		return []any{e.Number, e.At, e.Kind, e.Summary}
	})
}

// wants reports whether an entry is asked for by its kind and number.
func (cmd *signerListCommand) wants(e memory.Entry) bool {
	if cmd.Number != 0 && cmd.Number != e.Number {
		return false
	}
	return len(cmd.Kind) == 0 || slices.Contains(cmd.Kind, e.Kind)
}

// walk goes through the log of this signer, or an export.
func (cmd *signerListCommand) walk(ctx context.Context, c *Call, visit func(memory.Entry) error) error {
	if cmd.Export == "" {
		return c.signerState(ctx, func(file *memory.File) error {
			_, err := memory.Walk(ctx, file, visit)
			return err
		})
	}
	_, err := ReadLog(cmd.Export, cmd.Key, visit)
	return err
}

// currencies returns those of the configuration or, without a valid one, the standard ones.
func (c *Call) currencies() *bursar.Registry {
	if cfg, err := c.Load(); err == nil {
		return cfg.Registry
	}
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		panic("signer/command: " + err.Error()) // a constant
	}
	return registry
}
