package api_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func (b *books) archiveSome(most int) {
	b.Helper()
	b.do(func(tx *store.Tx) error {
		links, err := tx.Links().After(b.Context(), 0, most)
		if err != nil {
			return err
		}
		n, why, err := tx.Checkpoints().Archivable(b.Context(), links)
		if err != nil || n < 20 {
			return fmt.Errorf("%d links may be archived (%s), %w; want most", n, why, err)
		}
		last := links[n-1]
		if err := tx.Audits().Set(b.Context(), store.Audit{Link: last.Number, Hash: last.Hash}); err != nil {
			return err
		}
		return tx.Checkpoints().Advance(b.Context(), links[:n], "a file")
	})
}

// Postings that are not in the sums of their month are not archived: nobody could say what a month ended with.
func TestWhatIsNotSummedIsNotArchived(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		b := &books{script: newScript(t, storetest.AsOwner(url)), random: rand.New(rand.NewPCG(7, 2))}
		for range 30 {
			b.act()
		}
		b.do(func(tx *store.Tx) error { // begins, and finds nothing that is old enough
			_, err := tx.MonthSums().Fold(t.Context())
			return err
		})
		for _, want := range []bool{false, true} {
			b.do(func(tx *store.Tx) error {
				links, err := tx.Links().After(t.Context(), 0, 20)
				if err != nil {
					return err
				}
				n, why, err := tx.Checkpoints().Archivable(t.Context(), links)
				if (n > 0) != want {
					t.Errorf("%d links may be archived (%s), want some: %v", n, why, want)
				}
				return err
			})
			b.clock.Advance(5 * time.Hour)
			b.fold()
		}
	})
}

// Where books were archived before months were summed, balances are known from then on, whether or not the summing has
// started, and nothing is said about the time before.
func TestStatementsBehindOldArchives(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		b := &books{script: newScript(t, storetest.AsOwner(url)), random: rand.New(rand.NewPCG(4, 4))}
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 80 {
			b.act()
		}
		b.archiveSome(60)
		middle := b.clock.Now().Add(time.Second).Truncate(time.Second).Add(time.Second)
		b.clock.Advance(40 * 24 * time.Hour)
		for range 40 {
			b.act()
		}
		next, end := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), b.clock.Now().Add(24*time.Hour)
		var first string
		for _, folded := range []bool{false, true} {
			if folded {
				b.clock.Advance(3 * time.Hour)
				b.fold()
			}
			response, body := b.send(b.request([]string{"GET /api/v1/account/statement?" + between(began, end), "@mine"}))
			if response.StatusCode != 400 {
				t.Errorf("from before what is known (summed: %v): %d %s, want 400", folded, response.StatusCode, body)
			}
			_, atNext := b.adds("till the month's end", b.whole("mine", between(middle, next), 50))
			opening, closing := b.adds("from then on", b.whole("mine", between(next, end), 50))
			if got := fmt.Sprint(opening, closing); fmt.Sprint(opening) != fmt.Sprint(atNext) || folded && got != first {
				t.Errorf("summed %v: got %s, want %v and %s", folded, got, atNext, first)
			} else {
				first = got
			}
			b.balances("mine", b.whole("mine", between(end, end.Add(time.Hour)), 50))
		}
	})
}

// The pages of a statement as CSV are one file, and say what the JSON says.
func TestAStatementAsCSV(t *testing.T) {
	t.Parallel()
	b := &books{script: newScript(t, storetest.SQLite(t)), random: rand.New(rand.NewPCG(1, 2))}
	for range 60 {
		b.act()
	}
	period := between(b.clock.Now().Add(-20*time.Minute), b.clock.Now().Add(time.Hour))
	whole := b.whole("mine", period, 1000)
	var text strings.Builder
	for cursor := ""; ; {
		r := b.request([]string{"GET /api/v1/account/statement?format=csv&limit=7&" + period + cursor, "@mine"})
		response, body := b.send(r)
		b.always(r, response, body)
		text.Write(body)
		next := response.Header.Get("Bursar-Next-Cursor")
		if next == "" {
			break
		}
		cursor = "&cursor=" + next
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		t.Fatal(err, text.String())
	}
	n := len(whole.Currencies)
	if len(rows) != 1+2*n+len(whole.Entries) || rows[0][0] != "time" || n == 0 || len(whole.Entries) < 8 {
		t.Fatalf("%d rows of %d currencies and %d entries:\n%s, want %v of them and %q and not 0 and at least 8",
			len(rows), n, len(whole.Entries), text.String(), 1+2*n+len(whole.Entries), "time")
	}
	for i, c := range whole.Currencies {
		opening, closing := rows[1+i], rows[len(rows)-n+i]
		got := []string{opening[1], opening[5], opening[6], closing[1], closing[5], closing[6]}
		want := []string{"opening", c.Opening.Available, c.Opening.Held, "closing", c.Closing.Available, c.Closing.Held}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", c.Currency, got, want)
		}
	}
	for i, e := range whole.Entries {
		row := rows[1+n+i]
		if got := []string{row[3], row[5], row[6], row[9]}; !slices.Equal(got, []string{e.Currency, e.Available, e.Held,
			e.Ref}) {
			t.Errorf("entry %d is %q, want %v", i, got, e)
		}
	}
}
