package api_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

type owned struct{ Available, Held string }

// statementPage is a page of a statement as a client reads it.
type statementPage struct {
	Currencies []struct {
		Currency         string
		Opening, Closing owned
		Archived         *owned
	}
	Entries []struct {
		Currency, Available, Held, Ref string
		CreatedAt                      time.Time
	}
	ArchivedBefore *time.Time
	NextCursor     string
}

// whole reads a statement in pages of a size.
func (b *books) whole(account, query string, size int) (all statementPage) {
	b.Helper()
	for cursor := ""; ; {
		r := b.request([]string{fmt.Sprintf("GET /api/v1/account/statement?limit=%d&%s%s", size, query, cursor),
			"@" + account})
		response, body := b.send(r)
		b.always(r, response, body)
		var answer struct{ Response statementPage }
		if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != 200 {
			b.Fatalf("%s: %d: %v: %s, want 200", query, response.StatusCode, err, body)
		}
		page := answer.Response
		if cursor == "" {
			all.Currencies, all.ArchivedBefore = page.Currencies, page.ArchivedBefore
		} else if len(page.Currencies) > 0 {
			b.Fatalf("a later page has %d currencies, want none", len(page.Currencies))
		}
		all.Entries = append(all.Entries, page.Entries...)
		if page.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// adds requires opening, archived and entries to be closing, and returns opening and closing by currency.
func (b *books) adds(what string, s statementPage) (opening, closing map[string]owned) {
	b.Helper()
	sums := map[string]*big.Rat{}
	opening, closing = map[string]owned{}, map[string]owned{}
	put := func(code string, o owned) {
		add(b.TB, sums, code+" available", o.Available)
		add(b.TB, sums, code+" held", o.Held)
	}
	for _, c := range s.Currencies {
		opening[c.Currency], closing[c.Currency] = c.Opening, c.Closing
		put(c.Currency, c.Opening)
		if c.Archived != nil {
			put(c.Currency, *c.Archived)
		}
	}
	for _, e := range s.Entries {
		put(e.Currency, owned{e.Available, e.Held})
	}
	for code, c := range closing {
		for name, text := range map[string]string{" available": c.Available, " held": c.Held} {
			want, _ := new(big.Rat).SetString(text)
			if got := sums[code+name]; got.Cmp(want) != 0 {
				b.Fatalf("%s: opening and entries of %s%s come to %s, want %s", what, code, name, got.FloatString(18), text)
			}
		}
	}
	return opening, closing
}

func (b *books) fold() {
	b.Helper()
	for more := true; more; {
		b.do(func(tx *store.Tx) (err error) {
			more, err = tx.MonthSums().Fold(b.Context())
			return err
		})
	}
}

func between(from, to time.Time) string {
	return "from=" + url.QueryEscape(from.Format(time.RFC3339)) + "&to=" + url.QueryEscape(to.Format(time.RFC3339))
}

// Statements of any periods continue each other exactly, whatever is summed by month already and whatever is in
// archives: the closing balances of one are the opening balances of the next, and the last one's are those of the
// account.
func TestStatementsContinueEachOther(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		b := &books{script: newScript(t, storetest.AsOwner(url)), random: rand.New(rand.NewPCG(7, 2))}
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for month := range 4 {
			for range 40 {
				b.act()
			}
			if month != 2 {
				b.fold()
			}
			b.clock.Advance(time.Duration(20+b.random.IntN(15)) * 24 * time.Hour)
		}
		var before map[string]string
		for _, archive := range []bool{false, true} {
			if archive {
				b.fold()
				b.archiveSome(70)
			}
			got := map[string]string{}
			for _, account := range []string{"mine", "other"} {
				got[account] = fmt.Sprint(b.chain(account, began, began.AddDate(1, 0, 0), archive))
				now := b.whole(account, between(b.clock.Now().Add(time.Hour), b.clock.Now().Add(2*time.Hour)), 1000)
				b.balances(account, now)
			}
			if before != nil && fmt.Sprint(got) != fmt.Sprint(before) {
				t.Errorf("with archives the balances at the ends of months are\n%v, want\n%v", got, before)
			}
			before = got
		}
	})
}

// chain reads statements of months and of odd periods behind each other, and returns the balances at the months' ends.
func (b *books) chain(account string, from, to time.Time, archived bool) (ends []map[string]owned) {
	b.Helper()
	var last map[string]owned
	entries, gone := 0, 0
	for at := from; at.Before(to); {
		next := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if middle := at.Add(time.Duration(b.random.IntN(600)) * time.Hour); middle.Before(next) && !archived {
			next = middle
		}
		s := b.whole(account, between(at, next), 1+b.random.IntN(60))
		opening, closing := b.adds(fmt.Sprintf("%s %s", account, at.Format(time.RFC3339)), s)
		for code, o := range opening {
			if want, had := last[code]; had && o != want {
				b.Fatalf("%s %s begins with %v %s, want %v", account, at.Format(time.RFC3339), o, code, want)
			}
		}
		if entries += len(s.Entries); s.ArchivedBefore != nil {
			gone++
		}
		if next.Day() == 1 && next.Hour() == 0 {
			ends = append(ends, closing)
		}
		last, at = closing, next
	}
	if entries < 20 || archived != (gone > 0) {
		b.Fatalf("%s has %d entries and %d statements with archived ones, want more (archived: %v)", account, entries, gone,
			archived)
	}
	return ends
}

// balances compares closing balances with those of the account.
func (b *books) balances(account string, s statementPage) {
	b.Helper()
	_, body := b.send(b.request([]string{"GET /api/v1/account", "@" + account}))
	var answer struct {
		Response struct {
			Account struct{ Balance, Held map[string]string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		b.Fatal(err)
	}
	for _, c := range s.Currencies {
		currency, err := b.registry.Get("USDT")
		if c.Currency != "USDT" || err != nil {
			continue // the account shows other currencies with fewer decimals
		}
		if got, want := c.Closing.Available, answer.Response.Account.Balance["USDT"]; got[:4] != want[:4] {
			b.Fatalf("%s closes with %s %s, want %s", account, got, currency.Code, want)
		}
	}
}
