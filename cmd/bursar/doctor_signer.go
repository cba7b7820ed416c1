package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// signerState looks at what the signer of this process remembers, beside a running one. That of a remote signer cannot
// be seen from here.
func (e *healthCheck) signerState(ctx context.Context) {
	const check = "signer state"
	if e.cfg.Signer.Remote() {
		return
	}
	s := command.SignerStatus{}
	file, err := memory.Join(ctx, host.StateFile(e.cfg))
	if errors.Is(err, memory.ErrMissing) {
		if e.cfg.Network == config.Mainnet {
			e.advise(check, resultWarning, "to begin with unused limits, `bursar signer init --unused` before the first start: "+
				"see docs/operations/signer.md",
				"none yet: the first start creates it, with all limits used up until their windows have passed")
			return
		}
		e.note(check, resultOK, "none yet: the first start creates it")
		return
	}
	if err == nil {
		e.copies(ctx, file)
		err = errors.Join(s.Summary(ctx, file), file.Close())
	}
	switch {
	case err != nil:
		e.advise(check, resultFailed, "see docs/operations/signer.md", "%v", err)
	case s.Thaw != "":
		e.advise(check, resultFailed, "if you do not know of that thaw, `bursar signer freeze`", "frozen %s; the signer %s",
			s.Frozen[0], s.Thaw)
	case len(s.Frozen) > 0:
		e.advise(check, resultFailed, "investigate, then `bursar signer thaw`", "frozen %s", s.Frozen[0])
	case s.ColdSince != nil && time.Since(*s.ColdSince) < command.ColdFor:
		e.advise(check, resultWarning,
			"wait: hourly limits hold payments back for an hour, daily ones for a day, weekly ones "+
				"for a week", "began cold at %s", moment(*s.ColdSince))
	default:
		e.note(check, resultOK, "entries in its log: %d, latest at %s", s.Entry, moment(s.LatestAt))
	}
}

// copies says what notices that the state was set back together with the database and the marks.
func (e *healthCheck) copies(ctx context.Context, file *memory.File) {
	const check = "signer copies"
	by, err := host.NoticedBy(ctx, e.cfg, file)
	switch {
	case err != nil:
		e.advise(check, resultFailed, "see docs/operations/signer.md", "%v", err)
	case by != "":
		e.note(check, resultOK, "an older state, set back with the database, is noticed by %s", by)
	case e.cfg.Network == config.Mainnet:
		// No warning: nothing is wrong, and a machine without a TPM needs somebody else as a witness. The start warns.
		e.note(check, resultOK, "an older state, set back with the database, is not noticed: %s", host.CopiesAdvice)
	default:
		e.note(check, resultOK, "an older state, set back with the database, is not noticed: that matters on mainnet")
	}
}

// seenOfSigner reports which entries of the signer's log the service has seen: `bursar signer bind`, and anyone who
// compares states, needs them from another source than the signer.
func (e *healthCheck) seenOfSigner(ctx context.Context, db *store.DB) {
	var list []store.SignerLog
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Settings().SignerLogs(ctx)
		return err
	})
	if err != nil {
		e.advise("signer log", resultFailed, "see docs/operations/signer.md", "%v", err)
	}
	for _, l := range list {
		e.note("signer log", resultOK, "of instance %s the service has seen entry %d", l.Instance, l.Number)
	}
}

// fewFees is the number of transactions at max_fee in an hour and in a day below which the limits of fees hold back a
// service that is hardly used.
var fewFees = map[string]int64{"hourly_fees": 5, "daily_fees": 24, "weekly_fees": 24}

// feesWithinLimits compares each chain's limits of fees with max_fee: every transaction counts the most that it can
// cost, which on Tron is its fee limit, and one that expired and was built again counts twice, since the first may have
// been included.
func (e *healthCheck) feesWithinLimits() {
	for _, id := range host.ChainOrder(e.cfg) {
		of := e.cfg.Chains[id]
		var counts []string
		few := ""
		for _, limit := range []struct {
			key  string
			most bursar.Amount
		}{{"hourly_fees", of.Fees.Hour}, {"daily_fees", of.Fees.Day}, {"weekly_fees", of.Fees.Week}} {
			if limit.most.IsZero() || of.MaxFee.IsZero() {
				continue
			}
			count := new(big.Int).Div(limit.most.Big(), of.MaxFee.Big())
			counts = append(counts, fmt.Sprintf("%s %s", limit.key, count))
			if few == "" && count.Cmp(big.NewInt(fewFees[limit.key])) < 0 {
				few = limit.key
			}
		}
		check, says := "fees "+string(id), "transactions that cost max_fee: "+strings.Join(counts, ", ")
		switch {
		case few != "":
			e.advise(check, resultWarning, "raise `"+few+"` under `chains."+string(id)+"`, or lower `max_fee` to what a "+
				"transaction really costs", "%s", says)
		case len(counts) > 0:
			e.note(check, resultOK, "%s", says)
		}
	}
}
