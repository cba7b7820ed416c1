package api_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// books posts random business events of two accounts, as the service does.
type books struct {
	*script
	random  *rand.Rand
	credits []bursar.Deposit
	held    []bursar.Withdrawal

	archived int // the sums of archived lines that the last statement had
}

func (b *books) someone() bursar.ID { return b.id([]string{"mine", "other"}[b.random.IntN(2)]) }

func (b *books) code() bursar.CurrencyCode {
	return []bursar.CurrencyCode{"BTC", "ETH", "USDT"}[b.random.IntN(3)]
}

// post reports whether the entry could be posted; the books refuse what a balance does not cover.
func (b *books) post(e ledger.Entry) bool {
	b.Helper()
	var errs []error
	b.do(func(tx *store.Tx) (err error) {
		errs, err = tx.Ledger().PostEach(b.Context(), []ledger.Entry{e})
		return err
	})
	return errs[0] == nil
}

func (b *books) act() {
	b.Helper()
	b.clock.Advance(time.Duration(b.random.IntN(90)) * time.Second)
	now := b.clock.Now()
	switch n := b.random.IntN(10); {
	case n < 3:
		d := bursar.Deposit{ID: b.ids.Next(), Purpose: bursar.ForWallet, AccountID: b.someone(), Currency: b.code(),
			Amount: bursar.Units(b.random.Uint64N(1 << 40))}
		d.Fee = bursar.Fee{Millionths: b.random.Uint32N(1_000_001),
			Fixed: bursar.Units(b.random.Uint64N(1 << 20))}.Within(d.Amount)
		b.post(ledger.DepositCredited(d, now))
		b.credits = append(b.credits, d)
	case n == 3 && len(b.credits) > 0:
		i := b.random.IntN(len(b.credits))
		b.post(ledger.DepositReversed(b.credits[i], now))
		if b.credits[i].Reversals++; b.random.IntN(2) == 0 {
			b.post(ledger.DepositCredited(b.credits[i], now))
		} else {
			b.credits = append(b.credits[:i], b.credits[i+1:]...)
		}
	case n == 4:
		d := bursar.Deposit{ID: b.ids.Next(), AccountID: b.someone(), Currency: b.code(),
			Amount: bursar.Units(1 + b.random.Uint64N(1<<30))}
		b.post(ledger.UnattributedAssigned(d, now))
	case n < 7:
		w := bursar.Withdrawal{ID: b.ids.Next(), AccountID: b.someone(), Currency: b.code(),
			Amount: bursar.Units(1 + b.random.Uint64N(1<<38)), Fee: bursar.Units(b.random.Uint64N(3))}
		if to := b.someone(); to != w.AccountID && b.random.IntN(2) == 0 {
			b.post(ledger.DirectTransfer(w, to, bursar.Fee{Millionths: 10_000}.Within(w.Amount), now))
		} else if b.post(ledger.WithdrawalHeld(w, now)) {
			b.held = append(b.held, w)
		}
	case len(b.held) > 0:
		w := b.held[0]
		b.held = b.held[1:]
		b.post([]ledger.Entry{ledger.WithdrawalSettled(w, 0, now), ledger.WithdrawalRefunded(w, 0, now),
			ledger.InternalTransfer(w, b.someone(), bursar.Fee{Millionths: 10_000}.Within(w.Amount), now)}[b.random.IntN(3)])
	}
}

// statement reads an account's whole statement, in pages of a size, and adds it up by currency.
func (b *books) statement(account, filter string, size int) (lines []string, available, held map[string]*big.Rat) {
	b.Helper()
	b.archived = 0
	available, held = map[string]*big.Rat{}, map[string]*big.Rat{}
	for cursor := ""; ; {
		r := b.request([]string{fmt.Sprintf("GET /api/v1/account/ledger?limit=%d%s%s", size, filter, cursor), "@" + account})
		response, body := b.send(r)
		b.always(r, response, body)
		var answer struct {
			Response struct {
				Ledger     []json.RawMessage
				Archived   []struct{ Currency, Available, Held string }
				NextCursor string
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != 200 ||
			len(answer.Response.Ledger) > size {
			b.Fatalf("%d: %v: %s, want 200 and at most %v", response.StatusCode, err, body, size)
		}
		for _, raw := range answer.Response.Ledger {
			var l struct{ Currency, Available, Held, Amount, Part string }
			if err := json.Unmarshal(raw, &l); err != nil {
				b.Fatal(err)
			}
			lines = append(lines, string(raw))
			add(b.TB, available, l.Currency, l.Available)
			add(b.TB, held, l.Currency, l.Held)
		}
		b.archived += len(answer.Response.Archived)
		for _, a := range answer.Response.Archived {
			add(b.TB, available, a.Currency, a.Available)
			add(b.TB, held, a.Currency, a.Held)
		}
		if answer.Response.NextCursor == "" {
			return lines, available, held
		}
		cursor = "&cursor=" + answer.Response.NextCursor
	}
}

func add(t testing.TB, sums map[string]*big.Rat, code, text string) {
	t.Helper()
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no amount", text)
	}
	if sums[code] == nil {
		sums[code] = new(big.Rat)
	}
	sums[code].Add(sums[code], value)
}

// The sums of all lines are the balances, exactly, after any history and with any page size; and a filter returns
// exactly the lines that match it.
func TestTheLinesOfAStatementAddUpToTheBalance(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		b := &books{script: newScript(t, url), random: rand.New(rand.NewPCG(5, 8))}
		for round := range 6 {
			for range 60 {
				b.act()
			}
			for _, account := range []string{"mine", "other"} {
				lines, available, held := b.statement(account, "", 1000)
				for _, code := range []bursar.CurrencyCode{"BTC", "ETH", "USDT"} {
					b.sums(account, code, ledger.Available(b.id(account)), available)
					b.sums(account, code, ledger.Held(b.id(account)), held)
				}
				paged, _, _ := b.statement(account, "", 1+b.random.IntN(40))
				if fmt.Sprint(paged) != fmt.Sprint(lines) || len(lines) < 20*(round+1) {
					t.Fatalf("%d lines at once are %d in pages, want %v and at least %v", len(lines), len(paged), fmt.Sprint(lines),
						20*(round+1))
				}
				parts := 0
				for _, code := range []string{"BTC", "ETH", "USDT"} {
					some, _, _ := b.statement(account, "&currency="+code, 100)
					parts += len(some)
				}
				middle := b.clock.Now().Add(-time.Duration(b.random.IntN(7200)) * time.Second).Format(time.RFC3339)
				before, _, _ := b.statement(account, "&until="+middle, 100)
				after, _, _ := b.statement(account, "&since="+middle, 100)
				if parts != len(lines) || fmt.Sprint(append(after, before...)) != fmt.Sprint(lines) {
					t.Fatalf("%d lines are %d by currency, %d and %d by time", len(lines), parts, len(before), len(after))
				}
			}
		}
	})
}

// sums compares the sum of a statement with the balance in the books.
func (b *books) sums(account string, code bursar.CurrencyCode, in ledger.Account, sums map[string]*big.Rat) {
	b.Helper()
	var balance ledger.Balance
	b.do(func(tx *store.Tx) (err error) {
		balance, err = tx.Ledger().Balance(b.Context(), in, code)
		return err
	})
	currency, err := b.registry.Get(code)
	if err != nil {
		b.Fatal(err)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(currency.Decimals)), nil)
	want := new(big.Rat).SetFrac(new(big.Int).Sub(balance.Credits.Big(), balance.Debits.Big()), scale)
	got := sums[string(code)]
	if got == nil {
		got = new(big.Rat)
	}
	if got.Cmp(want) != 0 {
		b.Fatalf("the lines of %s in %s add up to %s, the balance of %s is %s, want 0", account, code, got.FloatString(18),
			in,
			want.FloatString(18))
	}
}

// With old lines in an archive, those that are listed and the sums of the others are the balances, whatever the page's
// size; a list of what is younger reaches none.
func TestTheLinesAndWhatIsArchivedAddUpToTheBalance(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		b := &books{script: newScript(t, storetest.AsOwner(url)), random: rand.New(rand.NewPCG(3, 9))}
		began := b.clock.Now().Add(-time.Second)
		for range 150 {
			b.act()
		}
		archived := 0
		b.do(func(tx *store.Tx) error {
			links, err := tx.Links().After(t.Context(), 0, 60)
			if err != nil {
				return err
			}
			if archived, _, err = tx.Checkpoints().Archivable(t.Context(), links); err != nil || archived < 20 {
				return fmt.Errorf("%d links may be archived, %w; want most", archived, err)
			}
			last := links[archived-1]
			if err := tx.Audits().Set(t.Context(), store.Audit{Link: last.Number, Hash: last.Hash}); err != nil {
				return err
			}
			return tx.Checkpoints().Advance(t.Context(), links[:archived], "a file")
		})
		for _, account := range []string{"mine", "other"} {
			for _, size := range []int{7, 1000} {
				_, available, held := b.statement(account, "", size)
				for _, code := range []bursar.CurrencyCode{"BTC", "ETH", "USDT"} {
					b.sums(account, code, ledger.Available(b.id(account)), available)
					b.sums(account, code, ledger.Held(b.id(account)), held)
				}
			}
			_, available, _ := b.statement(account, "&currency=BTC", 100)
			b.sums(account, "BTC", ledger.Available(b.id(account)), available)
			lines, available, _ := b.statement(account, "&since="+b.clock.Now().Add(time.Hour).Format(time.RFC3339), 100)
			if len(lines) != 0 || len(available) != 0 {
				t.Errorf("a list of what is younger has %v and sums of archived lines %v, want none", lines, available)
			}
			for _, filter := range []string{"&until=" + began.Format(time.RFC3339), "&kind=deposit_reversed"} {
				if b.statement(account, filter, 100); b.archived != 0 {
					t.Errorf("a list with %s has %d sums of archived lines, want none", filter, b.archived)
				}
			}
		}
	})
}
