package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// ledgerLine is the effect of one posting on an account. Amounts are exact. Available and Held are changes and have a
// sign: their sums over all lines are the account's balance and what is held.
type ledgerLine struct {
	Kind         ledger.Kind         `json:"kind"`
	Ref          ledger.Ref          `json:"ref"` // names the entry among those of its kind
	Part         ledger.Part         `json:"part"`
	Currency     bursar.CurrencyCode `json:"currency"`
	Amount       string              `json:"amount"`
	Available    string              `json:"available"`
	Held         string              `json:"held"`
	DepositID    *bursar.ID          `json:"depositID"`
	WithdrawalID *bursar.ID          `json:"withdrawalID"`
	CreatedAt    time.Time           `json:"createdAt"`
}

type ledgerAnswer struct {
	Ledger     []ledgerLine   `json:"ledger"`
	Archived   []archivedSums `json:"archived,omitempty"` // on the last page
	NextCursor string         `json:"nextCursor,omitempty"`
}

// archivedSums are what the lines of a currency come to that are in archives outside of the database, and not listed.
type archivedSums struct {
	Currency  bursar.CurrencyCode `json:"currency"`
	Available string              `json:"available"`
	Held      string              `json:"held"`
	Before    time.Time           `json:"before"` // all of them are earlier
}

// listLedger is GET account/ledger.
func (a *api) listLedger(ctx context.Context, c *call) (any, error) {
	page := c.in.page(ledgerList)
	owner := c.identity.Account
	query, err := a.ledgerQuery(owner, &c.in)
	if err != nil {
		return nil, err
	}
	var answer ledgerAnswer
	var lines []store.Line
	var brought map[bursar.ID]bursar.ID
	err = a.DB.View(ctx, func(tx *store.Tx) (err error) {
		var next int64
		if lines, next, err = tx.Statements().Select(ctx, query, page); err != nil {
			return err
		}
		lines, answer.NextCursor = cutAt(next, lines, page, ledgerList, store.Line.Number)
		if answer.NextCursor == "" {
			if answer.Archived, err = a.archived(ctx, tx, owner, query); err != nil {
				return err
			}
		}
		brought, err = tx.Deposits().OfTransfers(ctx, owner, a.transfersTo(owner, lines))
		return err
	})
	if err != nil {
		return nil, err
	}
	answer.Ledger, err = each(lines, func(l store.Line) (ledgerLine, error) { return a.viewLine(owner, l, brought) })
	return answer, err
}

// archived returns the sums of an account's archived lines where a list would reach them, by currency: there are none
// for a list of one kind, or of a period before or behind all that is archived.
func (a *api) archived(ctx context.Context, tx *store.Tx, owner bursar.ID, q store.LineQuery) (list []archivedSums,
	err error) {
	if q.Kind != "" {
		return nil, nil
	}
	sums, err := tx.Checkpoints().SumsOfAccounts(ctx, q.Accounts...)
	if err != nil || len(sums) == 0 {
		return nil, err
	}
	if !q.Until.IsZero() {
		first, err := tx.Links().After(ctx, 0, 1)
		if err != nil || len(first) == 0 || len(first[0].Entries) == 0 || !first[0].Entries[0].At.Before(q.Until) {
			return nil, err
		}
	}
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || !q.Since.Before(newest.Until) {
		return nil, err
	}
	of := map[bursar.CurrencyCode]bool{}
	for k := range sums {
		of[k.Asset] = q.Asset == "" || q.Asset == k.Asset
	}
	for _, code := range slices.Sorted(maps.Keys(of)) {
		if !of[code] {
			continue
		}
		currency, err := a.currency(code)
		if err != nil {
			return nil, err
		}
		list = append(list, archivedSums{
			Currency:  code,
			Available: signed(currency, sums[ledger.Key{Account: ledger.Available(owner), Asset: code}].Balance),
			Held:      signed(currency, sums[ledger.Key{Account: ledger.Held(owner), Asset: code}].Balance),
			Before:    newest.Until.UTC(),
		})
	}
	return list, nil
}

// ledgerQuery reads which lines of the statement to list.
func (a *api) ledgerQuery(owner bursar.ID, in *input) (store.LineQuery, error) {
	q := store.LineQuery{Accounts: []ledger.Account{ledger.Available(owner), ledger.Held(owner)}}
	if code, sent := in.optional("currency"); sent {
		if _, err := a.Registry.Get(bursar.CurrencyCode(code)); err != nil {
			return q, err
		}
		q.Asset = bursar.CurrencyCode(code)
	}
	if kind, sent := in.optional("kind"); sent {
		if q.Kind = ledger.Kind(kind); !slices.Contains(ledger.CustomerKinds(), q.Kind) {
			in.refuse("kind", "kind must be one of %v", ledger.CustomerKinds())
		}
	}
	q.Since, _ = in.instant("since")
	until, bounded := in.instant("until")
	if q.Until = until; bounded && !until.After(q.Since) {
		in.refuse("until", "until must be later than since")
	}
	return q, in.err
}

// transfersTo returns the withdrawals of other accounts that paid this one, and the chain of each.
func (a *api) transfersTo(owner bursar.ID, lines []store.Line) map[bursar.ID]bursar.ChainID {
	chains := map[bursar.ID]bursar.ChainID{}
	for _, l := range lines {
		currency, err := a.currency(l.Asset)
		if id, brought := ledger.TransferOf(owner, l.Kind, l.Ref, l.Posting); brought && err == nil {
			chains[id] = currency.Chain
		}
	}
	return chains
}

func (a *api) viewLine(owner bursar.ID, l store.Line, brought map[bursar.ID]bursar.ID) (ledgerLine, error) {
	currency, err := a.currency(l.Asset)
	if err != nil {
		return ledgerLine{}, err
	}
	m, err := ledger.MovementOf(owner, l.Kind, l.Ref, l.Place, l.Posting)
	if id, is := ledger.TransferOf(owner, l.Kind, l.Ref, l.Posting); is {
		m.Deposit = brought[id]
	}
	return ledgerLine{
		Kind:         l.Kind,
		Ref:          l.Ref,
		Part:         m.Part,
		Currency:     l.Asset,
		Amount:       currency.Exact(l.Amount),
		Available:    signed(currency, m.Available),
		Held:         signed(currency, m.Held),
		DepositID:    idOrNull(m.Deposit),
		WithdrawalID: idOrNull(m.Withdrawal),
		CreatedAt:    l.At,
	}, err
}

func signed(c bursar.Currency, b ledger.Balance) string {
	amount, negative := b.Net(ledger.Liability)
	if negative {
		return "-" + c.Exact(amount)
	}
	return c.Exact(amount)
}

func idOrNull(id bursar.ID) *bursar.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}
