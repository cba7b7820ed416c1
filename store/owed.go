package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// NotOwed says why the books do not owe an order's payment: its hold is missing, or ended already, or it is not yet
// audited, or the balance that it was taken from is not what its audited postings make; orders that are owed are not
// in the map. onlyAudited is false where nobody audits. ids are those of withdrawals, or of refunds to senders. It
// believes no halt and no fault, which are rows like any other, but only what is sealed.
func (tx Withdrawals) NotOwed(ctx context.Context, ids []bursar.ID, onlyAudited bool) (map[bursar.ID]string, error) {
	why := map[bursar.ID]string{}
	if len(ids) == 0 {
		return why, nil
	}
	holds, ended, again, err := tx.holdsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	unverified := func(holdOf) string { return "" }
	if onlyAudited {
		if unverified, err = tx.doubts(ctx, holds); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		hold, is := holds[id]
		switch {
		case !is:
			why[id] = nothingHeld
		case hold.archived:
			why[id] = "its hold is in an archive of the books, so it had ended: cancel it, and have it requested again"
		case !hold.link.Valid:
			why[id] = "its hold is under no link of the books"
		case unverified(hold) != "":
			why[id] = unverified(hold)
		}
	}
	return why, tx.addEnded(ctx, why, ids, ended, again)
}

// Why the books hold no money for an order.
const (
	nothingHeld = "the books hold nothing for it"
	hasEnded    = "it was settled or refunded already"
)

// addEnded adds the orders that have ended, and not only before the newest reversal of that.
func (tx *Tx) addEnded(ctx context.Context, why map[bursar.ID]string, ids []bursar.ID, ended map[bursar.ID]bool,
	again map[bursar.ID]ledger.Kind) (err error) {
	for _, id := range ids {
		is := ended[id]
		if kind := again[id]; is && kind != "" {
			if is, err = tx.endedAgain(ctx, id, kind); err != nil {
				return err
			}
		}
		if is {
			why[id] = hasEnded
		}
	}
	return nil
}

// holdOf is where the money of an order comes from.
type holdOf struct {
	link sql.NullInt64 // that covers it
	from []ledger.Key  // the balances that it was taken from

	archived bool // its postings are not in the database any more
}

// endsOrHolds are the kinds of entries that hold an order's money or end the order.
var endsOrHolds = []ledger.Kind{
	ledger.KindWithdrawalHeld,
	ledger.KindWithdrawalSettled,
	ledger.KindWithdrawalRefund,
	ledger.KindInternalTransfer,
	ledger.KindDirectTransfer,
	ledger.KindRefundHeld,
	ledger.KindRefundSettled,
	ledger.KindRefundFailed,
}

// holdsOf returns what the books hold for orders, which of them have ended, and of which that was reversed by what.
func (tx *Tx) holdsOf(ctx context.Context, ids []bursar.ID) (holds map[bursar.ID]holdOf, ended map[bursar.ID]bool,
	again map[bursar.ID]ledger.Kind, err error) {
	holds, ended, again = map[bursar.ID]holdOf{}, map[bursar.ID]bool{}, map[bursar.ID]ledger.Kind{}
	var names []any // kinds and references
	for _, id := range ids {
		for _, kind := range endsOrHolds {
			names = append(names, string(kind), id.String())
		}
		for _, kind := range []ledger.Kind{ledger.KindUnsettled, ledger.KindRefundUnsettled} {
			names = append(names, string(kind), id.String()+"/1")
		}
	}
	note := func(s scanner) (none struct{}, err error) {
		var kind ledger.Kind
		var ref string
		var link sql.NullInt64
		var from ledger.Key
		if err := s.Scan(&kind, &ref, &link, &from.Account, &from.Asset); err != nil {
			return none, err
		}
		id, err := bursar.ParseID(ref[:min(len(ref), 36)])
		switch kind {
		case ledger.KindUnsettled, ledger.KindRefundUnsettled:
			again[id] = kind
		case ledger.KindWithdrawalHeld, ledger.KindRefundHeld:
			holds[id] = holdOf{link, append(holds[id].from, from), from == ledger.Key{}}
		default:
			ended[id] = true
		}
		return none, err
	}
	for part := range parts(tx, names) {
		source, those, args, err := sought(tx, "entries", "e", []string{"kind", "ref"}, part)
		if err != nil {
			return nil, nil, nil, err
		}
		_, err = rows(ctx, tx, "look up what is owed", note,
			`SELECT e.kind, e.ref, s.link, COALESCE(p.debit, ''), COALESCE(p.asset, '') FROM `+source+
				tx.joined("seals", "s", "entry", "e.number", " LIMIT 1")+
				tx.joined("postings", "p", "entry", "e.number", " ORDER BY place")+` WHERE `+those, args...)
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return holds, ended, again, nil
}

// doubts returns what says why a hold pays nothing yet: it, or a balance that it was taken from, is not audited, or
// contradicts the books, or some balance of its currency does, from which the money may have been moved to where it
// was taken.
func (tx *Tx) doubts(ctx context.Context, holds map[bursar.ID]holdOf) (func(holdOf) string, error) {
	audited, err := tx.Audits().Get(ctx)
	if err != nil {
		return nil, err
	}
	var keys []ledger.Key
	for _, h := range holds {
		keys = append(keys, h.from...)
	}
	slices.SortFunc(keys, byName)
	keys = slices.Compact(keys)
	sums, err := tx.Ledger().PostedOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	differs, err := tx.differing(ctx, audited, keys, sums)
	if err != nil {
		return nil, err
	}
	unchecked, err := rows(ctx, tx, "look for unchecked sums", scanOne[bursar.CurrencyCode],
		`SELECT DISTINCT asset FROM posted WHERE unchecked = TRUE`)
	return func(h holdOf) string {
		if h.link.Int64 > audited.Link {
			return "its hold is not yet audited"
		}
		for _, k := range h.from {
			sum, is := sums[k]
			switch {
			case !is || sum.Altered || sum.Link < h.link.Int64:
				return "what the audit noted of the balance that it was held from was changed by somebody else"
			case sum.Unchecked || slices.Contains(unchecked, k.Asset):
				return fmt.Sprintf("a balance of %s is not yet audited, or contradicts the books", k.Asset)
			case differs[k]:
				return "the balance that it was held from is not the sum of its audited postings"
			}
		}
		return ""
	}, err
}

// differing returns the keys whose balances are not what the audit added up and what the links behind that make.
func (tx *Tx) differing(ctx context.Context, audited Audit, keys []ledger.Key,
	sums map[ledger.Key]Posted) (map[ledger.Key]bool, error) {
	differs := map[ledger.Key]bool{}
	balances, err := tx.Ledger().BalancesOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if balances[k] != sums[k].Balance {
			differs[k] = true
		}
	}
	if len(differs) == 0 {
		return nil, nil
	}
	booked, err := tx.bookedBehind(ctx, audited)
	if err != nil {
		return nil, err
	}
	for _, k := range slices.Collect(maps.Keys(differs)) {
		sum := sums[k].Balance
		for _, p := range booked {
			for _, account := range []ledger.Account{p.Debit, p.Credit} {
				if account == k.Account && p.Asset == k.Asset {
					if sum, err = sum.Apply(account, p); err != nil {
						return nil, err
					}
				}
			}
		}
		differs[k] = balances[k] != sum
	}
	return differs, nil
}

// bookedBehind returns the postings of the links behind what is audited, as many as Links reads at once, and none
// behind one that does not hold.
func (tx *Tx) bookedBehind(ctx context.Context, audited Audit) (postings []ledger.Posting, err error) {
	before, err := tx.Links().At(ctx, audited.Link)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	before.Number, before.Hash = audited.Link, audited.Hash
	links, err := tx.Links().After(ctx, audited.Link, linksBehind)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		holds, err := tx.Links().Verify(before, l)
		if err != nil || !holds {
			return postings, err
		}
		for _, e := range l.Entries {
			postings = append(postings, e.Postings...)
		}
		before = l
	}
	return postings, nil
}

// linksBehind bounds the links that one question about what is owed reads.
const linksBehind = 500

// endedAgain reports whether a withdrawal or a refund whose end was reversed, as entries of a kind say, has ended
// again since its newest reversal.
func (tx *Tx) endedAgain(ctx context.Context, id bursar.ID, taken ledger.Kind) (ended bool, err error) {
	reversals, err := tx.Ledger().ReversalNumber(ctx, taken, id.String())
	if err != nil {
		return false, err
	}
	ends := []ledger.Kind{ledger.KindWithdrawalSettled, ledger.KindWithdrawalRefund}
	if taken == ledger.KindRefundUnsettled {
		ends = []ledger.Kind{ledger.KindRefundSettled, ledger.KindRefundFailed}
	}
	err = tx.row(ctx, "look up the end of an order",
		`SELECT EXISTS (SELECT 1 FROM entries WHERE kind IN ($1, $2) AND ref = $3)`,
		[]any{string(ends[0]), string(ends[1]), fmt.Sprintf("%s/%d", id, reversals)}, &ended)
	return ended, err
}
