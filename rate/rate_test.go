package rate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/rate"
)

func TestStatic(t *testing.T) {
	btc, err := bursar.ParseRate("65000.5")
	if err != nil {
		t.Fatal(err)
	}
	s := rate.Static{"BTC": btc}
	if s.Rate("BTC") != btc || s.Rate("ETH").IsKnown() || s.Rate("USDT").String() != "1" ||
		rate.Static(nil).Rate("BTC").IsKnown() {
		t.Errorf("rates are %s, %s, %s", s.Rate("BTC"), s.Rate("ETH"), s.Rate("USDT"))
	}
}

// source is an HTTP server whose answer can be changed.
type source struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter)
}

func newSource(t *testing.T) *source {
	s := &source{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *source) answers(f func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *source) says(text string) {
	s.answers(func(w http.ResponseWriter) { io.WriteString(w, text) })
}

func feed(url string, c *clocktest.Clock, pointers map[bursar.CurrencyCode]string) *rate.Feed {
	return rate.NewFeed(rate.FeedConfig{URL: url, Pointers: pointers, Every: time.Minute, MaxAge: 10 * time.Minute,
		Now: c.Now, Log: slog.New(slog.DiscardHandler)})
}

func TestAFeedReadsTheRatesAtItsPointers(t *testing.T) {
	s := newSource(t)
	for name, c := range map[string]struct {
		answer, pointer, want string
	}{
		"a text":                             {`{"BTC":"65000.50"}`, "/BTC", "65000.5"},
		"a number":                           {`{"BTC":65000.123456789012345678}`, "/BTC", "65000.123456789012345678"},
		"nested":                             {`{"bitcoin":{"usdt":65000}}`, "/bitcoin/usdt", "65000"},
		"in a list":                          {`[{"symbol":"X"},{"price":"1.5"}]`, "/1/price", "1.5"},
		"escaped names":                      {`{"a/b":{"~":7}}`, "/a~1b/~0", "7"},
		"with an exponent":                   {`{"BTC":8.56e-06}`, "/BTC", "0.00000856"},
		"more than 18 places":                {`{"BTC":0.1234567890123456789}`, "/BTC", "0.123456789012345678"},
		"another's":                          {`{"ETH":1}`, "/BTC", ""},
		"zero":                               {`{"BTC":0}`, "/BTC", ""},
		"below zero":                         {`{"BTC":-5}`, "/BTC", ""},
		"a word":                             {`{"BTC":"NaN"}`, "/BTC", ""},
		"null":                               {`{"BTC":null}`, "/BTC", ""},
		"true":                               {`{"BTC":true}`, "/BTC", ""},
		"an object":                          {`{"BTC":{"usd":1}}`, "/BTC", ""},
		"beyond a number":                    {`{"BTC":5}`, "/BTC/usd", ""},
		"outside of a list":                  {`[1]`, "/1", ""},
		"a list's index with a leading zero": {`[1,2]`, "/01", ""},
		"a giant exponent":                   {`{"BTC":1e999999999}`, "/BTC", ""},
		"a long row of digits":               {`{"BTC":` + strings.Repeat("9", 5000) + `}`, "/BTC", ""},
		"HTML":                               {`<html>`, "/BTC", ""},
		"half":                               {`{"BTC":5`, "/BTC", ""},
		"two documents":                      {`{"BTC":5}{"BTC":6}`, "/BTC", ""},
		"nothing":                            {``, "/BTC", ""},
		"too much":                           {`{"BTC":5,"x":"` + strings.Repeat("x", 1<<20) + `"}`, "/BTC", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.says(c.answer)
			f := feed(s.URL, clocktest.New(), map[bursar.CurrencyCode]string{"BTC": c.pointer})
			_, err := f.Ask(t.Context())
			if got := f.Rate("BTC"); got.String() != c.want || (err == nil) != (c.want != "") {
				t.Errorf("the rate is %q, %v", got, err)
			}
		})
	}
}

func TestAFeedKeepsTheLastRateUntilItIsTooOld(t *testing.T) {
	s := newSource(t)
	at := clocktest.New()
	f := feed(s.URL, at, map[bursar.CurrencyCode]string{"BTC": "/BTC", "ETH": "/ETH"})
	if missing, err := feed("http://127.0.0.1:1", at, nil).Ask(t.Context()); err != nil || missing != nil {
		t.Errorf("without currencies it asks: %v, %v", missing, err)
	}
	if f.Rate("BTC").IsKnown() || f.Rate("USDT").String() != "1" || len(f.Ages()) != 0 {
		t.Error("a feed that never asked knows something")
	}
	s.says(`{"BTC":"65000","ETH":"3000"}`)
	if missing, err := f.Ask(t.Context()); err != nil || len(missing) != 0 {
		t.Fatal(missing, err)
	}
	at.Advance(6 * time.Minute)
	s.says(`{"BTC":"66000"}`)
	if missing, err := f.Ask(t.Context()); err != nil || !slices.Equal(missing, []bursar.CurrencyCode{"ETH"}) {
		t.Fatal(missing, err)
	}
	if f.Rate("BTC").String() != "66000" || f.Rate("ETH").String() != "3000" || f.Ages()["ETH"] != 6*time.Minute {
		t.Errorf("rates are %s and %s, want %q and %q and %v", f.Rate("BTC"), f.Rate("ETH"), "66000", "3000", 6*time.Minute)
	}
	for name, answer := range map[string]func(w http.ResponseWriter){
		"an error":   func(w http.ResponseWriter) { http.Error(w, `{"BTC":"1"}`, http.StatusInternalServerError) },
		"a redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(http.StatusFound) },
		"no answer":  func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"no rates":   func(w http.ResponseWriter) { io.WriteString(w, `{}`) },
	} {
		s.answers(answer)
		if _, err := f.Ask(t.Context()); err == nil || strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v, want an error and no %v", name, err, s.URL)
		}
	}
	at.Advance(4 * time.Minute)
	if f.Rate("BTC").String() != "66000" || f.Rate("ETH").String() != "3000" {
		t.Errorf("a rate of ten minutes is too old, want %q and %q", "66000", "3000")
	}
	at.Advance(time.Nanosecond)
	if f.Rate("BTC").String() != "66000" || f.Rate("ETH").IsKnown() {
		t.Error("a rate of more than ten minutes counts")
	}
}

// through answers instead of the network.
type through func(r *http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAFeedThatRunsAsksAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		f := rate.NewFeed(rate.FeedConfig{URL: "https://rates.example/?key=hunter2",
			Pointers: map[bursar.CurrencyCode]string{"BTC": "/BTC"}, Every: time.Minute,
			MaxAge: 3 * time.Minute, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		f.SetTransport(through(func(r *http.Request) (*http.Response, error) {
			n := asked.Add(1)
			if n > 2 {
				return nil, errors.New("the source is away")
			}
			return &http.Response{StatusCode: http.StatusOK,
				Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"BTC":%d}`, n)))}, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		for minute, want := range []string{"1", "2", "2", "2", "2",
			""} { // the second answer came after a minute and counts for three
			synctest.Wait()
			if got := f.Rate("BTC").String(); got != want || asked.Load() != int64(minute+1) {
				t.Errorf("after %d minutes the rate is %q, asked %d times, want %v and %v", minute, got, asked.Load(), want,
					int64(minute+1))
			}
			<-time.After(time.Minute)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v, want %v", err, context.Canceled)
		}
	})
}

func TestNoErrorQuotesTheURL(t *testing.T) {
	f := feed("https://rates.example/?key=hunter2", clocktest.New(), map[bursar.CurrencyCode]string{"BTC": "/BTC"})
	f.SetTransport(through(func(r *http.Request) (*http.Response, error) { return nil, errors.New("refused") }))
	if _, err := f.Ask(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	f = feed("https://rates.example/\x7f?key=hunter2", clocktest.New(), map[bursar.CurrencyCode]string{"BTC": "/BTC"})
	if _, err := f.Ask(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func FuzzRateOf(f *testing.F) {
	for _, seed := range []string{"1", "65000.5", "8.56e-06", "1.5E+3", "0", "-1", "1e40", "1e-40", ".5", "5.", "1xe-40"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := rate.RateOf(text)
		if !ok {
			return
		}
		exact, read := new(big.Rat).SetString(text)
		got, written := new(big.Rat).SetString(r.String())
		if !read || !written {
			t.Fatalf("%q is read as %q", text, r)
		}
		off := exact.Sub(exact, got)
		if limit := big.NewRat(1, 1_000_000_000_000_000_000); off.Sign() < 0 || off.Cmp(limit) >= 0 {
			t.Fatalf("%q is read as %q, which is off by %s, want at least 0 and less than 0", text, r, off)
		}
	})
}
