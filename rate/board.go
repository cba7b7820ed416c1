package rate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar"
)

// LeastSources is how many feeds must know a rate in fiat before it counts: one alone may be wrong.
const LeastSources = 2

// ahead is how far the time of a rate may be ahead of the clock.
const ahead = time.Minute

// Pair names what a whole unit of a currency is worth in a fiat currency.
type Pair struct{ Currency, Unit bursar.CurrencyCode }

// key is the pair as a Feed knows it.
func (p Pair) key() bursar.CurrencyCode { return p.Currency + "/" + p.Unit }

// Source knows the rates of some pairs, from memory.
type Source interface {
	// Last returns the last rate of a pair and its time; false where the source has none.
	Last(p Pair) (bursar.Rate, time.Time, bool)
}

// Named is a source as the operator named it, with the pairs that it has.
type Named struct {
	Name   string
	Origin string // where it has its rates from; empty: of its own. Sources of one origin count as one
	Pairs  []Pair
	Source Source
}

// origin distinguishes sources that can differ.
func (n Named) origin() string {
	if n.Origin != "" {
		return "of " + n.Origin
	}
	return "named " + n.Name
}

// Board provides rates in fiat from several sources. A pair counts where at least two of them know a rate that is not
// too old, and where these differ by no more than the spread; then it is the lowest of them, so that a payment is never
// counted for more than any source says. Nothing is guessed: otherwise there is no rate. It answers from memory and is
// safe for concurrent use.
type Board struct {
	Sources []Named
	Age     time.Duration // how old a rate may be
	Spread  uint32        // by how much the lowest may be below the highest, in millionths
	Now     func() time.Time
}

// Price returns the rate of a currency in a unit; the zero Quote where none counts now.
func (b *Board) Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote {
	var low, high bursar.Quote
	fresh := map[string]bool{}
	for _, s := range b.Sources {
		r, at, known := s.Source.Last(Pair{code, unit.Code})
		now := b.Now()
		if !known || !r.IsKnown() || now.Sub(at) > b.Age || at.Sub(now) > ahead {
			continue
		}
		fresh[s.origin()] = true
		q := bursar.Quote{Rate: r, Source: s.Name, RateAt: at}
		if !low.Rate.IsKnown() || r.Cmp(low.Rate) < 0 {
			low = q
		}
		if !high.Rate.IsKnown() || r.Cmp(high.Rate) > 0 {
			high = q
		}
	}
	if len(fresh) < LeastSources || !low.Rate.Within(b.Spread, high.Rate) {
		return bursar.Quote{}
	}
	return low
}

// Covers reports whether enough sources have a pair that its rate could count.
func (b *Board) Covers(code bursar.CurrencyCode, unit bursar.Unit) bool {
	origins := map[string]bool{}
	for _, s := range b.Sources {
		if slices.Contains(s.Pairs, Pair{code, unit.Code}) {
			origins[s.origin()] = true
		}
	}
	return len(origins) >= LeastSources
}

// MaxAge returns how old a rate may be.
func (b *Board) MaxAge() time.Duration { return b.Age }

// All returns the rates that count now, by currency and unit.
func (b *Board) All() (list []bursar.PairRate) {
	seen := map[Pair]bool{}
	for _, s := range b.Sources {
		for _, p := range s.Pairs {
			q := b.Price(p.Currency, bursar.Unit{Code: p.Unit, Fiat: true})
			if seen[p] || !q.Rate.IsKnown() {
				continue
			}
			seen[p] = true
			list = append(list,
				bursar.PairRate{Currency: p.Currency, Unit: p.Unit, Rate: q.Rate, Source: q.Source, At: q.RateAt})
		}
	}
	slices.SortFunc(list, func(x, y bursar.PairRate) int {
		return slices.Compare([]bursar.CurrencyCode{x.Currency, x.Unit}, []bursar.CurrencyCode{y.Currency, y.Unit})
	})
	return list
}

// Ask asks each source that has to be asked once, and returns why some could not be read, by their names.
func (b *Board) Ask(ctx context.Context) map[string]error {
	failed := map[string]error{}
	for _, s := range b.Sources {
		polled, asks := s.Source.(Polled)
		if !asks {
			continue
		}
		if _, err := polled.Ask(ctx); err != nil {
			failed[s.Name] = err
		}
	}
	return failed
}

// Missing returns the pairs for which no rate counts now, in their order.
func (b *Board) Missing() (missing []Pair) {
	for _, s := range b.Sources {
		for _, p := range s.Pairs {
			known := b.Price(p.Currency, bursar.Unit{Code: p.Unit, Fiat: true}).Rate.IsKnown()
			if !known && !slices.Contains(missing, p) {
				missing = append(missing, p)
			}
		}
	}
	slices.SortFunc(missing, func(x, y Pair) int {
		return slices.Compare([]bursar.CurrencyCode{x.Currency, x.Unit}, []bursar.CurrencyCode{y.Currency, y.Unit})
	})
	return missing
}

// Run keeps the sources up to date until ctx ends.
func (b *Board) Run(ctx context.Context) error {
	group, asking := errgroup.WithContext(ctx)
	for _, s := range b.Sources {
		polled, asks := s.Source.(interface {
			Run(ctx context.Context) error
		})
		if asks {
			group.Go(func() error { return polled.Run(asking) })
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("keep rates up to date: %w", err)
	}
	<-ctx.Done() // nothing has to be asked
	return ctx.Err()
}

// Fixed are rates that the operator guarantees: they are always current.
type Fixed struct {
	Rates map[Pair]bursar.Rate
	Now   func() time.Time
}

// Last returns the rate of a pair.
func (f Fixed) Last(p Pair) (bursar.Rate, time.Time, bool) {
	r, known := f.Rates[p]
	return r, f.Now(), known
}

// Polled is an HTTP source or a file of rates in fiat.
type Polled struct{ *Feed }

// NewPolled returns a source that asks for the rates at pointers. The configuration's URL may be empty, with File in
// its place.
func NewPolled(c FeedConfig, pointers map[Pair]string) Polled {
	c.Pointers = make(map[bursar.CurrencyCode]string, len(pointers))
	for p, pointer := range pointers {
		c.Pointers[p.key()] = pointer
	}
	return Polled{NewFeed(c)}
}

// Last returns the last rate received for a pair and the time of it, however old it is.
func (p Polled) Last(pair Pair) (bursar.Rate, time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.known[pair.key()]
	return last.rate, last.at, known
}
