package deposit

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
)

// quorumResult is the result of the endpoints' reports about deposits.
type quorumResult struct {
	agreed  []bursar.Deposit // reported by enough hosts, and denied by none
	refuted []bursar.Deposit // denied by every endpoint, of enough hosts
	open    []bursar.Deposit // neither agreed nor refuted
	denials []string         // why some are open although endpoints answered, for the operator
	late    []bursar.Deposit // the open deposits that have waited too long
}

func (j *quorumResult) add(other quorumResult) {
	j.agreed, j.refuted = append(j.agreed, other.agreed...), append(j.refuted, other.refuted...)
	j.open, j.denials = append(j.open, other.open...), append(j.denials, other.denials...)
}

// report is one endpoint's answer about a block.
type report struct {
	endpoint chain.Endpoint
	block    chain.Block
	err      error
}

// collectReports asks all endpoints for a block at the same time and evaluates their reports. It returns when all have
// answered, or a moment after enough have agreed: an endpoint that hangs delays nothing. While one denies, it waits for
// all.
func (o *Quorum) collectReports(ctx context.Context, b awaitingBlock) quorumResult {
	ctx, cancel := context.WithTimeout(ctx, opinionTime)
	defer cancel()
	reports, n := o.askAll(ctx, b)
	counts := tallied{reported: reportedBy{}, denied: reportedBy{}, missed: reportedBy{}, silent: n}
	var enough <-chan time.Time
	for ; n > 0; n-- {
		select {
		case r := <-reports:
			o.tally(ctx, r, b, &counts)
		case <-enough:
			n = 1 // no more reports are expected
		}
		if enough == nil && o.hasQuorum(b, counts) {
			timer := time.NewTimer(opinionGrace)
			defer timer.Stop()
			enough = timer.C
		}
	}
	return o.evaluate(b, counts)
}

// reportedBy holds, for each deposit, the hosts that report it, or that deny it.
type reportedBy map[bursar.ID]map[string]bool

func (v reportedBy) add(d bursar.Deposit, host string) {
	if v[d.ID] == nil {
		v[d.ID] = map[string]bool{}
	}
	v[d.ID][host] = true
}

// tallied collects the endpoints' reports about the deposits of one block.
type tallied struct {
	reported reportedBy
	denied   reportedBy // by a block of the recorded hash
	missed   reportedBy // denied, or lacked by such a block
	forks    bool       // an endpoint has another block at this height
	silent   int        // endpoints that have not given the block
	denials  []string
}

// hasQuorum reports whether every deposit is reported by enough hosts, and none is denied.
func (o *Quorum) hasQuorum(b awaitingBlock, h tallied) bool {
	return len(h.denials) == 0 && !slices.ContainsFunc(b.waiting, func(d bursar.Deposit) bool {
		return len(h.reported[d.ID]) < o.hostsFor(d)
	})
}

// evaluate decides about each deposit. One that every endpoint denies or lacks is refuted: the endpoint from which it
// was recorded gave a false report, and is no longer configured or no longer reports it. It stays open if one endpoint
// reports it and another denies it, and while an endpoint does not answer, which may be the one from which it was
// recorded.
func (o *Quorum) evaluate(b awaitingBlock, h tallied) (j quorumResult) {
	for _, d := range b.waiting {
		reported, denied, wanted := len(h.reported[d.ID]), len(h.denied[d.ID]), o.hostsFor(d)
		missed := len(h.missed[d.ID])
		switch {
		case h.forks || reported > 0 && denied > 0:
			j.open = append(j.open, d)
		case reported >= wanted:
			j.agreed = append(j.agreed, d)
		case reported == 0 && missed >= wanted && h.silent == 0:
			j.refuted = append(j.refuted, d)
		default:
			j.open = append(j.open, d)
		}
	}
	if len(j.open) > 0 {
		j.denials = h.denials
	}
	return j
}

// askAll asks every endpoint for a block. It returns the channel of their reports, and how many will come.
func (o *Quorum) askAll(ctx context.Context, b awaitingBlock) (<-chan report, int) {
	reader := o.Chain.(chain.EndpointReader)
	endpoints := reader.Endpoints()
	reports := make(chan report, len(endpoints))
	for _, e := range endpoints {
		o.DB.Go(func() {
			r := report{endpoint: e}
			r.err = follow.Guarded(func() (err error) {
				r.block, err = reader.BlockOn(ctx, e.Name, b.ref.Height, o.Watch)
				return err
			})
			reports <- r
		})
	}
	return reports, len(endpoints)
}

// tally adds one report.
func (o *Quorum) tally(ctx context.Context, r report, b awaitingBlock, h *tallied) {
	if r.err != nil {
		o.noOpinion(ctx, r.endpoint, b, r.err)
		return
	}
	h.silent--
	said := compareReport(r.block, b, o.Registry)
	h.forks = h.forks || said.fork
	for _, d := range said.reported {
		h.reported.add(d, r.endpoint.Host)
	}
	for _, d := range said.denied {
		h.denied.add(d, r.endpoint.Host)
	}
	for _, d := range slices.Concat(said.denied, said.lacked) {
		h.missed.add(d, r.endpoint.Host)
	}
	if said.denial != "" {
		h.denials = append(h.denials, r.endpoint.Name+" "+said.denial)
	}
}

func (o *Quorum) noOpinion(ctx context.Context, e chain.Endpoint, b awaitingBlock, err error) {
	if ctx.Err() == nil && !errors.Is(err, chain.ErrNoBlock) {
		o.Log.Info("endpoint gives no second opinion now", "chain", o.Chain.Capabilities().ID, "endpoint", e.Name, "height",
			b.ref.Height, "error", err)
	}
}

// hostsFor returns how many hosts must report a deposit by the current settings.
func (o *Quorum) hostsFor(d bursar.Deposit) int {
	currency, err := o.Registry.Get(d.Currency)
	if err != nil {
		return 1 << 30 // its currency is not configured: never credit it
	}
	return currency.CreditQuorum.Endpoints
}
