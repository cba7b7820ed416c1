package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// statements holds what is listed of the books, by every filter and in pages of every size and direction, against a
// filter over all lines in Go.
func statements(t *testing.T, db *store.DB) {
	started := db.Now().Truncate(time.Second)
	posted := someEntries(started)
	for _, e := range posted {
		do(t, db, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, e) })
	}
	all := readLines(t, db, store.LineQuery{}, 1000)
	if n := countPostings(posted); len(all) != n {
		t.Fatalf("%d postings are listed as %d", n, len(all))
	}
	one := []ledger.Account{ledger.Available(bursar.ID{1}), ledger.Held(bursar.ID{1})}
	for name, q := range map[string]store.LineQuery{
		"everything":     {},
		"two accounts":   {Accounts: one},
		"the operator's": {Accounts: []ledger.Account{ledger.Custody}},
		"nobody's":       {Accounts: []ledger.Account{ledger.Available(bursar.ID{9})}},
		"a currency":     {Accounts: one, Asset: "ETH"},
		"a kind":         {Accounts: one, Kind: ledger.KindDeposit},
		"since":          {Accounts: one, Since: started.Add(30 * time.Hour)},
		"until":          {Accounts: one, Until: started.Add(30 * time.Hour)},
		"a period":       {Since: started.Add(10*time.Hour + time.Microsecond), Until: started.Add(40 * time.Hour)},
		"all at once": {
			Accounts: one,
			Asset:    "BTC",
			Kind:     ledger.KindWithdrawalHeld,
			Since:    started.Add(5 * time.Hour),
			Until:    started.Add(50 * time.Hour),
		},
		"before everything": {Until: started.Add(-time.Hour)},
		"after everything":  {Since: started.Add(1000 * time.Hour)},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(l store.Line) bool { return !matches(q, l) })
		for _, size := range []int{1, 3, 1000} {
			if got := readLines(t, db, q, size); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %d lines, want %d", name, size, len(got), len(want))
			}
			if got := readLinesUp(t, db, q, size); !slices.Equal(got, reversed(want)) {
				t.Errorf("%s upwards in pages of %d: %d lines, want %d", name, size, len(got), len(want))
			}
			if got := selectLines(t, db, q, size, true); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d that look at few: %d lines, want %d", name, size, len(got), len(want))
			}
			if got := selectLines(t, db, q, size, false); !slices.Equal(got, reversed(want)) {
				t.Errorf("%s upwards in pages of %d that look at few: %d lines, want %d", name, size, len(got), len(want))
			}
		}
	}
	if !slices.IsSortedFunc(all, func(a, b store.Line) int { return int(b.Number() - a.Number()) }) {
		t.Error("the lines are not the newest first")
	}
}

// someEntries are of three customers and two currencies, one every hour; now and then two trade places in time, as
// transactions do that begin and end at the same time.
func someEntries(started time.Time) []ledger.Entry {
	var entries []ledger.Entry
	for n := range 60 {
		at := started.Add(time.Duration(n) * time.Hour)
		if n%7 == 3 {
			at = at.Add(-time.Second)
		}
		customer, code := bursar.ID{byte(1 + n%3)}, []bursar.CurrencyCode{"BTC", "ETH"}[n/3%2]
		id := bursar.ID{5, byte(n)}
		w := bursar.Withdrawal{ID: id, AccountID: customer, Currency: code, Amount: bursar.Units(5), Fee: bursar.Units(2)}
		switch {
		case n < 12 || n%4 == 0:
			entries = append(entries, ledger.DepositCredited(bursar.Deposit{
				ID:        id,
				AccountID: customer,
				Currency:  code,
				Amount:    bursar.Units(1000),
				Fee:       bursar.Units(uint64(n % 2)),
			}, at))
		case n%4 == 1:
			entries = append(entries, ledger.WithdrawalHeld(w, at),
				ledger.InternalTransfer(w, bursar.ID{byte(1 + (n+1)%3)}, bursar.Units(1), at.Add(-time.Second)))
		default:
			entries = append(entries, ledger.WithdrawalHeld(w, at), ledger.WithdrawalSettled(w, 0, at))
		}
	}
	return entries
}

func countPostings(entries []ledger.Entry) (n int) {
	for _, e := range entries {
		n += len(e.Postings)
	}
	return n
}

func matches(q store.LineQuery, l store.Line) bool {
	touches := len(q.Accounts) == 0 || slices.Contains(q.Accounts, l.Debit) || slices.Contains(q.Accounts, l.Credit)
	return touches && (q.Asset == "" || q.Asset == l.Asset) && (q.Kind == "" || q.Kind == l.Kind) &&
		!l.At.Before(q.Since) && (q.Until.IsZero() || l.At.Before(q.Until))
}

// readLines reads all lines from the newest in pages.
func readLines(t *testing.T, db *store.DB, q store.LineQuery, size int) (all []store.Line) {
	t.Helper()
	page := store.Page{Limit: size}
	for {
		var lines []store.Line
		do(t, db, func(tx *store.Tx) (err error) {
			lines, err = tx.Statements().List(ctx, q, page)
			return err
		})
		all = append(all, lines...)
		if len(lines) < size {
			return all
		}
		page.Before = lines[len(lines)-1].Number()
	}
}

// selectLines reads all lines in pages that look at few lines of each account.
func selectLines(t *testing.T, db *store.DB, q store.LineQuery, size int, down bool) (all []store.Line) {
	t.Helper()
	page := store.Page{Limit: size, Looks: 5}
	for {
		var lines []store.Line
		var next int64
		do(t, db, func(tx *store.Tx) (err error) {
			if down {
				lines, next, err = tx.Statements().Select(ctx, q, page)
			} else {
				lines, next, err = tx.Statements().SelectAfter(ctx, q, page)
			}
			return err
		})
		all = append(all, lines...)
		switch {
		case next > 0:
			page.Before = next
		case len(lines) == size:
			page.Before = lines[len(lines)-1].Number()
		default:
			return all
		}
	}
}

// readLinesUp reads all lines from the oldest in pages.
func readLinesUp(t *testing.T, db *store.DB, q store.LineQuery, size int) (all []store.Line) {
	t.Helper()
	for after := int64(0); ; {
		var lines []store.Line
		do(t, db, func(tx *store.Tx) (err error) {
			lines, err = tx.Statements().After(ctx, q, after, size)
			return err
		})
		all = append(all, lines...)
		if len(lines) < size {
			return all
		}
		after = lines[len(lines)-1].Number()
	}
}

func reversed(lines []store.Line) []store.Line {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return lines
}

// transfers holds that a deposit of a transfer within the service is found by the withdrawal that made it, by its
// owner only.
func transfers(t *testing.T, db *store.DB) {
	one, two := newAccount(t, db, 1), newAccount(t, db, 2)
	w := newWallets(t, db, one, "BTC", 1)[0]
	chains := map[bursar.ID]bursar.ChainID{}
	for n := range byte(3) {
		from := bursar.ID{7, n}
		chains[from] = "bitcoin"
		d := bursar.Deposit{
			ID:        bursar.ID{8, n},
			Purpose:   bursar.ForWallet,
			AccountID: one,
			WalletID:  w.ID,
			Currency:  "BTC",
			Chain:     "bitcoin",
			TxID:      bursar.TransferHash(from),
			Address:   w.Address,
			Amount:    bursar.Units(1),
		}
		do(t, db, func(tx *store.Tx) error {
			return tx.Deposits().InsertInternal(ctx, store.NewDeposit{Deposit: d, Wallet: w.Number})
		})
	}
	chains[bursar.ID{7, 99}], chains[bursar.ID{7, 2}] = "bitcoin", "ethereum"
	for account, want := range map[bursar.ID]string{
		one: fmt.Sprint(map[bursar.ID]bursar.ID{{7, 0}: {8, 0}, {7, 1}: {8, 1}}),
		two: "map[]",
	} {
		do(t, db, func(tx *store.Tx) error {
			found, err := tx.Deposits().OfTransfers(ctx, account, chains)
			if fmt.Sprint(found) != want {
				t.Errorf("found are %v, want %s", found, want)
			}
			return err
		})
	}
}
