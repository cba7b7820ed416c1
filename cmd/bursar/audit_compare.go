package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signerlog"
	"github.com/bursar/bursar/store"
)

type auditCompareCommand struct {
	Exports []string `arg:"" placeholder:"EXPORT" help:"What bursar audit export wrote at the signer; several where its state was lost or an epoch has another seed."`
	Key     []string `required:"" sep:"none" placeholder:"KEY" help:"The key of the signer's log, as you keep it. Give one for each export, or one for all."`
	command.Span
	JSON bool `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (auditCompareCommand) Help() string {
	return "Compares what the signer signed with what this service's database says was sent, transaction by " +
		"transaction: by the digest of the bytes, by the transaction's ID where the bytes fix it, and by the " +
		"UTXOs or the nonce, never by the outgoing ID alone. It prints what was signed and the books do not " +
		"know, what the books sent and the log does not know, and what differs in payments, fee or transaction, " +
		"and adds up each currency on both sides. It changes nothing, and exits with 1 if anything differs. It " +
		"believes the rows of the database: `bursar ledger verify` and `bursar reconcile` check " +
		"these.\n\nExample:\n\n    bursar audit compare november.log --since 2026-11-01 --until 2026-12-01 --key " +
		"'bursar-signer-log/5c1e+3f2a9b10+AXu0...'"
}

// comparedLog is the outcome as it is printed.
type comparedLog struct {
	Since       time.Time              `json:"since"`
	Until       time.Time              `json:"until"`
	Entries     int64                  `json:"entries"` // of all exports
	Signed      map[chain.Kind]int     `json:"signed"`
	Included    int                    `json:"included"`
	Failed      int                    `json:"failed"`
	Waiting     int                    `json:"waiting"`
	Replaced    int                    `json:"replaced"`
	Ended       int                    `json:"ended"`
	Earlier     int                    `json:"withoutInputs"`
	Sums        []comparedSum          `json:"sums"`
	Uncompared  []signerlog.Uncompared `json:"uncompared"`
	Differences []signerlog.Difference `json:"differences"`
	Notes       []string               `json:"notes"`
}

type comparedSum struct {
	Chain       bursar.ChainID `json:"chain"`
	PaidByLog   string         `json:"paidByLog"`
	PaidByBooks string         `json:"paidByBooks"`
	ColdByLog   string         `json:"toColdByLog"`
	ColdByBooks string         `json:"toColdByBooks"`
}

// Run compares.
func (cmd *auditCompareCommand) Run(ctx context.Context, c *call) error {
	since, until, err := cmd.Times()
	if err != nil {
		return err
	}
	if len(cmd.Key) != 1 && len(cmd.Key) != len(cmd.Exports) {
		return wrong("--key: give one for all exports, or one for each: %d keys for %d exports", len(cmd.Key),
			len(cmd.Exports))
	}
	log, out := &signerlog.Log{}, comparedLog{}
	for i, path := range cmd.Exports {
		log.Begin()
		x, err := command.ReadLog(path, cmd.Key[min(i, len(cmd.Key)-1)], log.Add)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out.Entries += x.Size
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	report, err := signerlog.Compare(ctx, s.DB, log, s.Registry, signerlog.Period{Since: since, Until: until})
	if err != nil {
		return err
	}
	set, notes, err := seenOf(ctx, s.DB, log)
	if err != nil {
		return err
	}
	report.Differences = append(set, report.Differences...)
	out.fill(report, notes, s.Registry)
	if err := cmd.print(c, out); err != nil {
		return err
	}
	if n := len(out.Differences); n > 0 {
		return fmt.Errorf("differences between the signer's log and the books: %d; see docs/operations/signer.md", n)
	}
	return nil
}

// seenOf compares the exports with the newest entries of the signer's log that the service has seen: an export of
// before is not of everything, and one without such an entry is of a log that was changed, or of another one.
func seenOf(
	ctx context.Context, db *store.DB, log *signerlog.Log,
) (d []signerlog.Difference, notes []string, err error) {
	var seen []store.SignerLog
	err = db.View(ctx, func(tx *store.Tx) error {
		seen, err = tx.Settings().SignerLogs(ctx)
		return err
	})
	found := false
	for _, l := range seen {
		same, long := log.Holds(l.Number, l.Hash)
		found = found || same
		switch {
		case same:
		case long:
			notes = append(notes, fmt.Sprintf("the service has seen entry %d of instance %s of the signer's state, which no "+
				"export holds: it is of a state that was lost, or its log was changed", l.Number, l.Instance))
		default:
			notes = append(notes, fmt.Sprintf("the service has seen entry %d of instance %s of the signer's state, and the "+
				"exports end before: what was signed since is not compared", l.Number, l.Instance))
		}
	}
	if err == nil && !found && len(seen) > 0 {
		known := func(l store.SignerLog) bool { _, long := log.Holds(l.Number, l.Hash); return !long }
		if !slices.ContainsFunc(seen, known) { // every one is within the exports' lengths, and in none of them
			d = append(d, signerlog.Difference{Kind: signerlog.OtherLog, Message: "no entry of the signer's log that the " +
				"service has seen is in the exports: they are of another log, or the log was changed"})
		}
	}
	return d, notes, err
}

func (o *comparedLog) fill(r signerlog.Report, notes []string, registry *bursar.Registry) {
	o.Since, o.Until, o.Signed = r.Since, r.Until, r.Signed
	o.Included, o.Failed, o.Waiting, o.Replaced = r.Included, r.Failed, r.Waiting, r.Replaced
	o.Ended, o.Earlier = r.Ended, r.Earlier
	o.Notes = append([]string{}, notes...)
	o.Uncompared = append([]signerlog.Uncompared{}, r.Uncompared...)
	o.Differences = append([]signerlog.Difference{}, r.Differences...)
	o.Sums = []comparedSum{}
	for _, s := range r.Sums {
		text := func(a bursar.Amount) string { return registry.AssetText(s.Chain, s.Contract, a) }
		o.Sums = append(o.Sums, comparedSum{s.Chain, text(s.PaidByLog), text(s.PaidByBooks), text(s.ColdByLog),
			text(s.ColdByBooks)})
	}
}

func (cmd *auditCompareCommand) print(c *call, o comparedLog) error {
	if cmd.JSON {
		return c.PrintJSON(o)
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(o.Signed)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, o.Signed[kind]))
	}
	from := "the beginning"
	if !o.Since.IsZero() {
		from = moment(o.Since)
	}
	lines := []string{fmt.Sprintf("compared from %s to %s, with %d entries of the log", from, moment(o.Until), o.Entries),
		fmt.Sprintf("signed: %s", cell(strings.Join(kinds, ", "))),
		fmt.Sprintf("of these in blocks %d (failed there %d), waiting %d, replaced %d, expired or abandoned %d",
			o.Included, o.Failed, o.Waiting, o.Replaced, o.Ended)}
	if o.Earlier > 0 {
		lines = append(lines, fmt.Sprintf("%d entries are of an earlier release, which noted no inputs and no nonce: they "+
			"were compared by the digest of their bytes, payments and fee", o.Earlier))
	}
	for _, u := range o.Uncompared {
		lines = append(lines, fmt.Sprintf("not compared: outgoing transaction %s, %s of %s: %s", u.Outgoing, cell(u.TxID),
			moment(u.At), u.Why))
	}
	for _, note := range o.Notes {
		lines = append(lines, "note: "+cell(note))
	}
	for _, line := range lines {
		if err := c.Say("%s", line); err != nil {
			return err
		}
	}
	if len(o.Sums) > 0 {
		err := list(c, false, o.Sums, "CHAIN PAID-BY-LOG PAID-BY-BOOKS TO-COLD-BY-LOG TO-COLD-BY-BOOKS",
			func(s comparedSum) []any {
				return []any{s.Chain, s.PaidByLog, s.PaidByBooks, s.ColdByLog, s.ColdByBooks}
			})
		if err != nil {
			return err
		}
	}
	for _, d := range o.Differences {
		if err := c.Say("%s", cell(d.String())); err != nil {
			return err
		}
	}
	if len(o.Differences) > 0 {
		return nil
	}
	return c.Say("the signer's log and the books agree")
}
