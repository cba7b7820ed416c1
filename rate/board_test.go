package rate_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/rate"
)

var (
	euro    = bursar.Unit{Code: "EUR", Fiat: true}
	inEuros = rate.Pair{Currency: "BTC", Unit: "EUR"}
)

// known is a source that can be changed.
type known struct {
	rate string
	at   time.Time
}

func (k *known) Last(p rate.Pair) (bursar.Rate, time.Time, bool) {
	r, err := bursar.ParseRate(k.rate)
	return r, k.at, err == nil && p == inEuros
}

func board(at *clocktest.Clock, sources ...rate.Source) *rate.Board {
	b := &rate.Board{Age: 10 * time.Minute, Spread: 10_000, Now: at.Now}
	for i, s := range sources {
		b.Sources = append(b.Sources, rate.Named{Name: string(rune('a' + i)), Pairs: []rate.Pair{inEuros}, Source: s})
	}
	return b
}

// A rate in fiat counts where two sources agree on it, and is the lowest of theirs.
func TestARateNeedsTwoSourcesThatAgree(t *testing.T) {
	t.Parallel()
	at := clocktest.New()
	for name, c := range map[string]struct {
		rates []string
		ages  []time.Duration
		want  string
		from  string
	}{
		"none":                 {nil, nil, "", ""},
		"one":                  {[]string{"60000"}, []time.Duration{0}, "", ""},
		"two":                  {[]string{"60000", "60100"}, []time.Duration{0, 0}, "60000", "a"},
		"the other way":        {[]string{"60100", "60000"}, []time.Duration{0, 0}, "60000", "b"},
		"one unknown":          {[]string{"60000", ""}, []time.Duration{0, 0}, "", ""},
		"one too old":          {[]string{"60000", "60000"}, []time.Duration{0, 10*time.Minute + 1}, "", ""},
		"as old as allowed":    {[]string{"60000", "60000"}, []time.Duration{0, 10 * time.Minute}, "60000", "a"},
		"of the future":        {[]string{"60000", "60000"}, []time.Duration{0, -time.Minute - 1}, "", ""},
		"as far as allowed":    {[]string{"99", "100"}, []time.Duration{0, 0}, "99", "a"},
		"too far apart":        {[]string{"98.9999", "100"}, []time.Duration{0, 0}, "", ""},
		"three, one far":       {[]string{"100", "100", "50"}, []time.Duration{0, 0, 0}, "", ""},
		"three, one far, old":  {[]string{"100", "99.5", "50"}, []time.Duration{0, 0, time.Hour}, "99.5", "b"},
		"three that all agree": {[]string{"100", "99.5", "99.7"}, []time.Duration{0, 0, 0}, "99.5", "b"},
	} {
		var sources []rate.Source
		for i, r := range c.rates {
			sources = append(sources, &known{r, at.Now().Add(-c.ages[i])})
		}
		b := board(at, sources...)
		q := b.Price("BTC", euro)
		if q.Rate.String() != c.want || q.Source != c.from {
			t.Errorf("%s: got %q of %q, want %q of %q", name, q.Rate, q.Source, c.want, c.from)
		}
		if all := b.All(); (len(all) == 1) != (c.want != "") {
			t.Errorf("%s: got the list %+v, want the rate %q alone", name, all, c.want)
		}
		if got, want := b.Covers("BTC", euro), len(c.rates) > 1; got != want || b.Covers("ETH", euro) {
			t.Errorf("%s: got covered %v, want %v", name, got, want)
		}
	}
}

// A file's rates are of its last modification; fixed ones are of now.
func TestRatesOfAFile(t *testing.T) {
	t.Parallel()
	at := clocktest.New()
	path := filepath.Join(t.TempDir(), "prices.json")
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at.Now().Add(-age), at.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	file := rate.NewPolled(rate.FeedConfig{File: path, Every: time.Minute, MaxAge: 10 * time.Minute, Now: at.Now,
		Log: slog.New(slog.DiscardHandler)}, map[rate.Pair]string{inEuros: "/btc/0"})
	rates := map[rate.Pair]bursar.Rate{}
	rates[inEuros], _ = bursar.ParseRate("60000")
	b := board(at, file, rate.Fixed{Rates: rates, Now: at.Now})
	if _, err := file.Ask(t.Context()); !errors.Is(err, os.ErrNotExist) || b.Price("BTC", euro).Rate.IsKnown() {
		t.Errorf("a file that is missing: %v, want that and no rate", err)
	}
	write(`{"btc":[59900.5]}`, 4*time.Minute)
	if _, err := file.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q := b.Price("BTC", euro); q.Rate.String() != "59900.5" || !q.RateAt.Equal(at.Now().Add(-4*time.Minute)) {
		t.Errorf("got %s of %s, want 59900.5 of four minutes ago", q.Rate, q.RateAt)
	}
	write(`{"btc":["x"]}`, 0)
	if _, err := file.Ask(t.Context()); err == nil || b.Price("BTC", euro).Rate.String() != "59900.5" {
		t.Errorf("a file without its rate: %v, want an error and the last rate", err)
	}
	at.Advance(6*time.Minute + 1)
	if q := b.Price("BTC", euro); q.Rate.IsKnown() {
		t.Errorf("got %s, want no rate of a file that is older than allowed", q.Rate)
	}
}

// A board runs until it is ended, whether or not its sources have to be asked.
func TestABoardRunsUntilItIsEnded(t *testing.T) {

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- board(clocktest.New(), &known{}).Run(ctx) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("it ended with %v, want it to run", err)
		default:
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want it to be cancelled", err)
		}
	})
}

// Two feeds of one origin are one source: what is wrong at it is wrong in both.
func TestFeedsOfOneOriginAreOneSource(t *testing.T) {
	t.Parallel()
	at := clocktest.New()
	b := board(at, &known{"60000", at.Now()}, &known{"60000", at.Now()}, &known{"60000", at.Now()})
	b.Sources[0].Origin, b.Sources[1].Origin = "host a", "host a"
	if q := b.Price("BTC", euro); !q.Rate.IsKnown() || !b.Covers("BTC", euro) {
		t.Errorf("of two origins the rate is %v, want 60000", q.Rate)
	}
	b.Sources = b.Sources[:2]
	if q := b.Price("BTC", euro); q.Rate.IsKnown() || b.Covers("BTC", euro) {
		t.Errorf("of one origin the rate is %v, want none", q.Rate)
	}
}
