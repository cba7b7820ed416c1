package rate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
)

// Limits of one request.
const (
	askWithin = 10 * time.Second
	maxAnswer = 1 << 20 // bytes
)

// FeedConfig is the source of a Feed and where the rates are in its responses.
type FeedConfig struct {
	URL      string                         // answers GET with JSON; it may contain a key, and no error quotes it
	File     string                         // of JSON, in place of URL; its rates are of its last modification
	Pointers map[bursar.CurrencyCode]string // JSON pointer (RFC 6901) to each rate: "/bitcoin/usdt"
	Every    time.Duration                  // interval between requests
	MaxAge   time.Duration                  // how long a rate is valid after its request
	Now      func() time.Time
	Log      *slog.Logger
}

// Feed provides the rates of an HTTP source. It is safe for concurrent use.
type Feed struct {
	FeedConfig
	client *http.Client

	mu    sync.Mutex
	known map[bursar.CurrencyCode]answered
}

// answered is a rate and the time of its request.
type answered struct {
	rate bursar.Rate
	at   time.Time
}

// NewFeed returns a Feed without any rate until it first asks.
func NewFeed(c FeedConfig) *Feed {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           1,
	}
	return &Feed{FeedConfig: c, known: map[bursar.CurrencyCode]answered{},
		client: &http.Client{Transport: transport, Timeout: askWithin,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Rate returns the last rate received for a currency, the zero Rate where that is too old or there is none.
func (f *Feed) Rate(code bursar.CurrencyCode) bursar.Rate {
	if code == bursar.USDT {
		return bursar.Par()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.known[code]
	if f.Now().Sub(last.at) > f.MaxAge {
		return bursar.Rate{}
	}
	return last.rate
}

// Ages returns how long ago each rate was requested, for currencies that ever had one.
func (f *Feed) Ages() map[bursar.CurrencyCode]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	ages := map[bursar.CurrencyCode]time.Duration{}
	for code, last := range f.known {
		ages[code] = f.Now().Sub(last.at)
	}
	return ages
}

// Run asks at once and then at every interval until ctx ends. After a failure it asks again at the next interval.
func (f *Feed) Run(ctx context.Context) error {
	defer f.client.CloseIdleConnections()
	ticker := time.NewTicker(f.Every)
	defer ticker.Stop()
	for {
		missing, err := f.Ask(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			f.Log.Warn("rates could not be fetched", "error", err)
		case len(missing) > 0:
			f.Log.Warn("rates are missing in the response", "currencies", missing)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// Ask asks the source once. It keeps the rates in the response, and returns the currencies that it lacks: their last
// rates stay until they are too old. A response without any of them is an error. Without currencies it sends no
// request.
func (f *Feed) Ask(ctx context.Context) (missing []bursar.CurrencyCode, err error) {
	if len(f.Pointers) == 0 {
		return nil, nil // no currency is in use
	}
	document, at, err := f.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch rates: %w", err)
	}
	found := map[bursar.CurrencyCode]answered{}
	for code, pointer := range f.Pointers {
		if r, ok := rateAt(document, pointer); ok {
			found[code] = answered{r, at}
		} else {
			missing = append(missing, code)
		}
	}
	slices.Sort(missing)
	if len(found) == 0 {
		return missing, errors.New("fetch rates: the response has none of them")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for code, a := range found {
		f.known[code] = a
	}
	return missing, nil
}

// read returns what the source says, and of which time that is.
func (f *Feed) read(ctx context.Context) (document any, at time.Time, err error) {
	if f.File == "" {
		at = f.Now() // of the request: the response may have waited
		document, err = f.get(ctx)
		return document, at, err
	}
	file, err := os.Open(f.File)
	if err != nil {
		return nil, at, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, at, err
	}
	if about.Size() > maxAnswer {
		return nil, at, fmt.Errorf("the file has more than %d bytes", maxAnswer)
	}
	body, err := io.ReadAll(io.LimitReader(file, maxAnswer))
	if err != nil {
		return nil, at, err
	}
	document, err = parse(body)
	return document, about.ModTime(), err
}

func (f *Feed) get(ctx context.Context) (any, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, errors.New("the URL of the rate source cannot be parsed")
	}
	r.Header.Set("Accept", "application/json")
	response, err := f.client.Do(r)
	if err != nil {
		return nil, netpolicy.WithoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the source answered HTTP %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, netpolicy.WithoutURL(err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the response has more than %d bytes", maxAnswer)
	}
	return parse(body)
}
