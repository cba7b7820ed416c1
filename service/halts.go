package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store"
)

// haltPace is how often every replica reads the halts and sends them to the signer. The database alone would be enough,
// because each step reads it; the signer is notified so that it refuses even if the service no longer asks.
const haltPace = 500 * time.Millisecond

// haltable is a signer that can be notified of halts.
type haltable interface {
	SendHalts(ctx context.Context, h signer.Halts) (known int64, err error)
}

// SendHalts sends the halts of the database to the signer. It returns the number of the newest halt event.
func (s *Service) SendHalts(ctx context.Context) (int64, error) {
	h, err := halted(ctx, s.DB, s.Registry)
	if err != nil {
		return 0, err
	}
	return h.Number, notify(ctx, s.parts.Signer, h)
}

// notify sends the halts to a signer that accepts them; other signers are halted by the database alone.
func notify(ctx context.Context, to any, h signer.Halts) error {
	can, able := to.(haltable)
	if !able {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, haltTime)
	defer cancel()
	known, err := can.SendHalts(ctx, h)
	if err == nil && known > h.Number {
		err = fmt.Errorf("%w: the signer has number %d, the database %d", errOlderHalts, known, h.Number)
	}
	return err
}

// haltTime bounds how long the signer is waited for, so that one that does not answer is notified again soon.
const haltTime = 2 * time.Second

var errOlderHalts = errors.New("the signer knows newer halts than this database and lifts none; restart it " +
	"if the database is right")

// halted reads the halts in the signer's terms.
func halted(ctx context.Context, db *store.DB, registry *bursar.Registry) (h signer.Halts, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		if h.Number, err = tx.Halts().Number(ctx); err != nil {
			return err
		}
		all, err := tx.Halts().List(ctx)
		h = haltsOf(h.Number, all, registry)
		return err
	})
	return h, err
}

// haltsOf leaves out the freezes of accounts, which the signer does not know, and recovering chains: on those the
// signer is only asked for what it signed already and is missing from the database. Of several reasons the oldest is
// used.
func haltsOf(number int64, all []store.Halt, registry *bursar.Registry) signer.Halts {
	h := signer.Halts{Number: number, Chains: map[bursar.ChainID]string{}}
	for _, one := range all {
		if one.Kind == store.HaltByRecovery {
			continue
		}
		h.Spends = spendsWith(h.Spends, one)
		kind, name, _ := strings.Cut(string(one.Scope), ":")
		switch kind {
		case "all":
			if h.All == "" {
				h.All = one.String()
			}
		case "chain":
			if id := bursar.ChainID(name); h.Chains[id] == "" {
				h.Chains[id] = one.String()
			}
		case "currency":
			if currency, err := registry.Get(bursar.CurrencyCode(name)); err == nil {
				h.Assets = append(h.Assets, signer.HaltedAsset{Chain: currency.Chain, Contract: currency.Contract,
					Reason: one.String()})
			}
		}
	}
	return h
}

// spendsWith adds the external spend that a halt is for. A nonce that we did not use is none yet: it waits for the
// block that shows the spend.
func spendsWith(list []signer.ExternalSpend, h store.Halt) []signer.ExternalSpend {
	_, err := bursar.ParseID(h.Ref)
	if h.Kind != store.HaltByExternalSpend || err == nil || h.Ref == "" ||
		slices.ContainsFunc(list, func(x signer.ExternalSpend) bool { return x.Ref == h.Ref }) {
		return list
	}
	return append(list, signer.ExternalSpend{Ref: h.Ref, Reason: h.Reason})
}

// watchHalts sends the halts to the signer repeatedly, so that a signer that was unreachable or restarted knows them
// too, and wakes the senders after a change.
func (s *Service) watchHalts(ctx context.Context) error {
	ticker := time.NewTicker(haltPace)
	defer ticker.Stop()
	number, sent, trouble := int64(-1), s.logHalts(ctx, -1), ""
	for {
		now, err := s.SendHalts(ctx)
		err = errors.Join(err, s.noteSignerLog(ctx), s.noteFreeze(ctx), s.hearEpoch(ctx))
		if text := fmt.Sprint(err); err != nil && text != trouble && ctx.Err() == nil {
			s.log.Warn("signer not notified of halts", "error", err)
			trouble = text
		} else if err == nil {
			trouble = ""
		}
		if now > 0 && now != number {
			number, sent = now, s.logHalts(ctx, sent)
			for _, w := range s.workers {
				hint(w.payouts)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// logHalts logs the halts and resumptions since an event, and returns the newest event; -1 is the value at startup,
// before which nothing is logged.
func (s *Service) logHalts(ctx context.Context, since int64) int64 {
	var events []store.HaltEvent
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		events, err = tx.Halts().Events(ctx, logAtOnce)
		return err
	})
	if err != nil || len(events) == 0 {
		return max(since, 0)
	}
	for i := len(events) - 1; i >= 0 && since >= 0; i-- {
		e, what := events[i], "payments halted"
		if e.Resumed {
			what = "payments resumed"
		}
		if e.Number > since {
			s.log.Warn(what, "scope", string(e.Scope), "kind", e.Kind, "reason", e.Reason, "actor", e.Actor)
		}
	}
	return events[0].Number
}

// logAtOnce bounds how many halts are logged at once.
const logAtOnce = 100

// NotifySigner sends the halts of the database to a remote signer, and reports whether there is one. A signer within
// the service reads them from the database.
func NotifySigner(ctx context.Context, cfg config.Config, db *store.DB) (apart bool, err error) {
	if cfg.Signer.Address == "" {
		return false, nil
	}
	registry, err := host.Usable(cfg)
	if err != nil {
		return true, err
	}
	h, err := halted(ctx, db, registry)
	if err != nil {
		return true, err
	}
	client, err := remote.Dial(host.Address(cfg))
	if err != nil {
		return true, fmt.Errorf("reach the signer: %w", err)
	}
	defer client.Close()
	return true, notify(ctx, client, h)
}
