package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// Screening is the screening service and the key with which it signs its answers.
type Screening struct {
	Service screening.Asker
	Key     ed25519.PublicKey
}

// screeningOf returns the screening service of a configuration; nil if none is configured.
func screeningOf(cfg config.Screening) *Screening {
	if !cfg.On() {
		return nil
	}
	return &Screening{screening.NewClient(cfg.URL.Reveal(), cfg.Timeout, cfg.AllowNetworks), cfg.Key}
}

// addScreener has a chain's deposits and payouts screened, if something is.
func (s *Service) addScreener(w *worker, log *slog.Logger, pace time.Duration) {
	if s.parts.Screening == nil {
		return
	}
	gate := screening.Gate{Registry: s.Registry, Key: s.parts.Screening.Key}
	w.sender.Screened, w.sender.ScreenAgain = gate.Lacking, gate.Again
	w.screener = &screening.Screener{
		DB:       s.DB,
		Chain:    w.chain.Capabilities().ID,
		Registry: s.Registry,
		IDs:      s.IDs,
		Log:      log,
		Service:  s.parts.Screening.Service,
		Key:      s.parts.Screening.Key,
		Pace:     cmp.Or(pace, w.chain.Capabilities().Pace),
		Acts:     s.screeningActs(w),
		Final:    w.follower.Deposits.CreditQuery,
		Decided:  func() { hint(w.blocks); hint(w.payouts); s.Deliverer.Wake() },
	}
}

// screeningActs is what follows a decision about something on a chain.
func (s *Service) screeningActs(w *worker) screening.Acts {
	payouts := withdrawal.Payouts{Chain: w.chain.Capabilities().ID, Registry: s.Registry, IDs: s.IDs, Log: s.log}
	return screening.Acts{
		Quarantine: w.follower.Deposits.Quarantine,
		Refuse: func(ctx context.Context, tx *store.Tx, order bursar.Withdrawal, reason string) error {
			return s.refuseUnpaid(ctx, tx, payouts, order, reason)
		},
	}
}

// refuseUnpaid rejects a withdrawal after screening, unless an external spend may have paid it: its money would be
// given back all the same. Then it stays queued, and is not paid either since it was not passed.
func (s *Service) refuseUnpaid(
	ctx context.Context, tx *store.Tx, payouts withdrawal.Payouts, w bursar.Withdrawal, reason string,
) error {
	assessor, err := s.Assessor(payouts.Chain)
	if err != nil {
		return err
	}
	by, why, err := outgoing.MayBePaid(ctx, tx, assessor, w)
	if err != nil {
		return err
	}
	if by == "" {
		return payouts.Refuse(ctx, tx, w, reason)
	}
	err = tx.Alarms().Raise(ctx, store.Alarm{Chain: payouts.Chain, Kind: recovery.AlarmUnclear, Ref: by,
		Message: fmt.Sprintf("withdrawal %s was rejected after screening, and is not given back: %s; then cancel it", w.ID,
			why)})
	return errors.Join(fmt.Errorf("%w: %s", screening.ErrTooLate, why), err)
}

// addScreenings prepares what operators decide: also about what was to be reviewed before the service was taken out of
// the configuration.
func (s *Service) addScreenings() {
	s.Screenings = &screening.Decisions{DB: s.DB, Log: s.log, Behind: s.behind, Decided: s.decided,
		Acts: func(id bursar.ChainID) (screening.Acts, error) {
			w, on := s.workers[id]
			if !on {
				return screening.Acts{}, fmt.Errorf("chain %s is not configured: configure it first", id)
			}
			return s.screeningActs(w), nil
		}}
}

// checkScreening refuses to run without screening where it was on: a replica whose configuration lacks it would credit
// and pay what the others hold.
func (s *Service) checkScreening(ctx context.Context) error {
	key := ""
	if s.parts.Screening != nil {
		key = base64.StdEncoding.EncodeToString(s.parts.Screening.Key)
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		noted, err := tx.Settings().Screened(ctx)
		switch {
		case err != nil || noted == key:
			return err
		case key == "":
			return fmt.Errorf("the payments of this database are screened, by the service with the key %s, and the "+
				"configuration has no screening: add it, or end it with `bursar screening end`", noted)
		}
		return tx.Settings().NoteScreened(ctx, key)
	})
}

// screenings exports what waits for screening.
func (m metrics) screenings(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	for _, id := range m.service.order {
		open, err := tx.Screenings().Open(ctx, id)
		if err != nil {
			return err
		}
		screeningOpen.set(out, float64(open.Unanswered), string(id), "unanswered")
		screeningOpen.set(out, float64(open.Review), string(id), "review")
	}
	return nil
}
