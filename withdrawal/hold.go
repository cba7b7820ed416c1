package withdrawal

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// holdAll records the withdrawals of one batch and holds their money; each is accepted or refused alone. Those to
// wallets of this service are paid at once. The number of statements does not depend on the number of requests, but for
// those that bring their own money (fund), that a limit of a period binds, that are bound to a list of destinations, or
// that pay a charge.
func (s *Service) holdAll(
	ctx context.Context, tx *store.Tx, requests []prepared,
) ([]store.Result[bursar.Withdrawal], error) {
	results := make([]store.Result[bursar.Withdrawal], len(requests))
	if err := lockChains(ctx, tx, requests); err != nil {
		return nil, err
	}
	found, err := lookUp(ctx, tx, requests)
	if err != nil {
		return nil, err
	}
	for i, p := range requests {
		if found.accounts[p.withdrawal.AccountID].Frozen != "" {
			results[i].Err = errFrozen
		}
	}
	if err := s.checkDestinations(ctx, tx, found.lists, requests, results); err != nil {
		return nil, err
	}
	answered := make([]bool, len(requests))
	if err := replayOrders(ctx, tx, requests, results, answered); err != nil {
		return nil, err
	}
	if err := replayReferences(ctx, tx, requests, results, answered); err != nil {
		return nil, err
	}
	for i := range requests {
		if results[i].Err == nil && !answered[i] {
			results[i].Err = evaluate(&requests[i], found.limits)
		}
	}
	price(requests, results, found.rules)
	if err := replayRecorded(ctx, tx, requests, results, answered); err != nil {
		return nil, err
	}
	periods := windowsOf(found.limits)
	var rest []int
	for i, p := range requests {
		switch {
		case results[i].Err != nil, answered[i]:
		case p.fund != nil, periods.bind(p.withdrawal):
			if err := s.holdAlone(ctx, tx, found, periods, requests, results, i); err != nil {
				return nil, err
			}
		default:
			rest = append(rest, i)
		}
	}
	return results, s.hold(ctx, tx, found, requests, results, rest)
}

// holdAlone holds the money of one request before the next one is looked at: what it brings is there before the next
// one asks for money of its own, and what it takes of a limit of a period is taken only if it is recorded.
func (s *Service) holdAlone(ctx context.Context, tx *store.Tx, found batchReads, periods *windows, requests []prepared,
	results []store.Result[bursar.Withdrawal], i int) (err error) {
	p := requests[i]
	if results[i].Err, err = periods.evaluate(ctx, tx, p); err != nil || results[i].Err != nil {
		return err
	}
	if p.fund != nil {
		if results[i].Err = p.fund(ctx, tx, p.withdrawal); results[i].Err != nil {
			return nil
		}
	}
	if err = s.hold(ctx, tx, found, requests, results, []int{i}); err == nil && results[i].Err == nil {
		periods.add(results[i].Value)
	}
	return err
}

// replayRecorded answers requests that are recorded, because the answer to their commit was lost: an account may have
// been frozen since, or a list, a limit or a fee have changed, which is no reason to refuse what was done, or to do it
// in another way once more. The accounts are locked, so that a commit which was still under way is over.
func replayRecorded(ctx context.Context, tx *store.Tx, requests []prepared, results []store.Result[bursar.Withdrawal],
	answered []bool) error {
	var tried []bursar.ID
	for i, p := range requests {
		if *p.tried && !answered[i] {
			tried = append(tried, p.withdrawal.ID)
		}
		*p.tried = true
	}
	recorded, err := tx.Withdrawals().Recorded(ctx, tried)
	for i, p := range requests {
		if w, is := recorded[p.withdrawal.ID]; is {
			results[i], answered[i] = store.Result[bursar.Withdrawal]{Value: w}, true
		}
	}
	return err
}

// batchReads is what the transaction of a batch reads before anything is booked.
type batchReads struct {
	accounts map[bursar.ID]bursar.Account // that pay; locked
	lists    map[bursar.ID]bursar.DestinationList
	rules    bursar.FeeRules   // of who pays, and who receives an internal transfer
	limits   bursar.LimitRules // of who pays
}

// lookUp locks the accounts that pay, and then reads the rest.
func lookUp(ctx context.Context, tx *store.Tx, requests []prepared) (found batchReads, err error) {
	ids := accountsOf(requests)
	accounts := tx.Accounts().LockAllDeferred(ctx, ids)
	lists := tx.DestinationLists().OfDeferred(ctx, ids)
	limits := tx.LimitRules().OfDeferred(ctx, ids...)
	rules := tx.FeeRules().OfDeferred(ctx, parties(requests)...)
	if found.accounts, err = accounts.Get(ctx); err != nil {
		return found, err
	}
	if found.lists, err = lists.Get(ctx); err != nil {
		return found, err
	}
	if found.limits, err = limits.Get(ctx); err != nil {
		return found, err
	}
	found.rules, err = rules.Get(ctx)
	return found, err
}

// hold holds the money of some of the requests and records those for which there is enough.
func (s *Service) hold(
	ctx context.Context, tx *store.Tx, found batchReads, requests []prepared, results []store.Result[bursar.Withdrawal],
	which []int,
) error {
	orders := s.buildEntries(tx, requests, which, found.rules)
	groups := make([][]ledger.Entry, len(orders))
	for n, o := range orders {
		groups[n] = o.entries
	}
	refused, err := tx.Ledger().PostGroups(ctx, groups)
	if err != nil {
		return err
	}
	accepted := make([]heldWithdrawal, 0, len(orders))
	for n, o := range orders {
		i := o.index
		if errors.Is(refused[n], store.ErrPosted) { // the answer to a commit was lost: the withdrawal is recorded
			results[i].Value, results[i].Err = tx.Withdrawals().Get(ctx, o.withdrawal.AccountID, o.withdrawal.ID)
			continue
		}
		if results[i].Err = asRefusal(refused[n], requests[i].currency); results[i].Err == nil {
			results[i].Value = o.withdrawal
			accepted = append(accepted, o)
		}
	}
	return s.record(ctx, tx, found.accounts, requests, accepted)
}

// heldWithdrawal is a request in the transaction that records it.
type heldWithdrawal struct {
	index      int // among the requests
	withdrawal bursar.Withdrawal
	entries    []ledger.Entry            // what holds its money, or pays it as an internal transfer, or both
	internal   *deposit.InternalTransfer // nil: the chain pays
	deposit    bursar.Deposit            // what the transfer becomes
}

// buildEntries returns what some of the requests become, with the entries that book them.
func (s *Service) buildEntries(tx *store.Tx, requests []prepared, which []int, rules bursar.FeeRules) []heldWithdrawal {
	orders, transfers := make([]heldWithdrawal, len(which)), make([]deposit.InternalTransfer, 0, len(which))
	for n, i := range which {
		p := requests[i]
		w := p.withdrawal
		w.CreatedAt = tx.Now()
		orders[n] = heldWithdrawal{index: i, withdrawal: w, entries: []ledger.Entry{ledger.WithdrawalHeld(w, tx.Now())}}
		if p.receiver == nil || w.Status != bursar.WithdrawalQueued {
			continue
		}
		w.TxID, w.Status, w.CompletedAt = bursar.TransferHash(w.ID), bursar.WithdrawalConfirmed, tx.Now()
		transfer := deposit.InternalTransfer{Withdrawal: w, Currency: p.currency, To: *p.receiver,
			Direct: p.receiver.AccountID != w.AccountID}
		orders[n].withdrawal, orders[n].internal = w, &transfer
		transfers = append(transfers, transfer)
	}
	deposits, entries := s.credits.PrepareInternal(tx, transfers, rules)
	for n := range orders {
		if orders[n].internal != nil {
			if orders[n].internal.Direct { // nobody sees the hold that it would end
				orders[n].entries = nil
			}
			orders[n].entries = append(orders[n].entries, entries[0])
			orders[n].deposit = deposits[0]
			deposits, entries = deposits[1:], entries[1:]
		}
	}
	return orders
}

// record writes withdrawals whose money is held, with the deposits of those that are internal transfers, and their
// events.
func (s *Service) record(
	ctx context.Context, tx *store.Tx, accounts map[bursar.ID]bursar.Account, requests []prepared,
	accepted []heldWithdrawal,
) error {
	list := make([]store.NewWithdrawal, 0, len(accepted))
	transfers, deposits := make([]deposit.InternalTransfer, 0, len(accepted)), make([]bursar.Deposit, 0, len(accepted))
	paid := make([]bursar.Withdrawal, 0, len(accepted))
	causes := map[bursar.ID]context.Context{} // of each subject of an event
	for _, o := range accepted {
		p := requests[o.index]
		list = append(list, store.NewWithdrawal{Withdrawal: o.withdrawal, Chain: p.currency.Chain})
		requestCtx := bursar.WithRequest(ctx, p.request)
		causes[o.withdrawal.ID], causes[o.deposit.ID] = requestCtx, requestCtx
		s.logRequested(requestCtx, tx, p)
		if o.internal != nil {
			transfers, deposits = append(transfers, *o.internal), append(deposits, o.deposit)
			paid = append(paid, o.withdrawal)
			s.logSettled(requestCtx, tx, o.withdrawal, o.deposit)
		}
	}
	if err := tx.Withdrawals().InsertAll(ctx, list); err != nil {
		return err
	}
	events, err := s.credits.RecordInternal(ctx, tx, transfers, deposits)
	if err != nil {
		return err
	}
	settled, err := tx.Events().OfWithdrawals(ctx, paid, accounts, s.registry, s.ids)
	if err != nil {
		return err
	}
	events = append(events, settled...)
	due, err := tx.Events().RecordAll(ctx, events)
	if err != nil {
		return err
	}
	deposit.AfterEvents(ctx, tx, events, due, func(e bursar.Event, due bool) {
		s.logEvent(cmp.Or(causes[e.Subject], ctx), e, due)
	})
	for _, o := range accepted {
		if signed := requests[o.index].order; signed != nil {
			signed.signed.WithdrawalID = o.withdrawal.ID
			if err := tx.SignedOrders().Insert(ctx, signed.signed); err != nil {
				return err
			}
		}
		if done := requests[o.index].done; done != nil {
			if err := done(causes[o.withdrawal.ID], tx, o.withdrawal); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) logRequested(ctx context.Context, tx *store.Tx, p prepared) {
	w := p.withdrawal
	tx.After(func() {
		s.log.InfoContext(ctx, "withdrawal requested", "withdrawal", w.ID, "chain", p.currency.Chain, "account",
			w.AccountID, "currency", w.Currency, "amount", p.currency.Text(w.Amount), "fee", p.currency.Text(w.Fee),
			"address", w.Address.String(), "status", w.Status)
	})
}

// lockChains locks the chains of withdrawals that are funded in this transaction: before any account, in the same
// sequence as followers and senders lock them.
func lockChains(ctx context.Context, tx *store.Tx, requests []prepared) error {
	var chains []bursar.ChainID
	for _, p := range requests {
		if p.fund != nil {
			chains = append(chains, p.currency.Chain)
		}
	}
	slices.Sort(chains)
	for _, id := range slices.Compact(chains) {
		if _, err := tx.Chains().Lock(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// accountsOf returns the accounts of the requests, each once, in the order in which they are locked.
func accountsOf(requests []prepared) []bursar.ID {
	var ids []bursar.ID
	for _, p := range requests {
		ids = append(ids, p.withdrawal.AccountID)
	}
	slices.SortFunc(ids, bursar.ID.Compare)
	return slices.Compact(ids)
}
