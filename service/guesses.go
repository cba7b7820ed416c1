package service

import (
	"container/list"
	"context"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bursar/bursar/store"
)

// How many wrong passwords of the admin address are answered at once, and how many after that. Those of an address, and
// those of all addresses.
const (
	guessBurst, guessEvery       = 10, 10 * time.Second
	allGuessesBurst, guessesPace = 100, time.Second
	maxGuessers                  = 4096 // addresses, with about 300 bytes each
)

// alarmGuesses is open since somebody tried more passwords than are answered.
const alarmGuesses = "admin_password"

// guesses counts wrong passwords and slows down who tries them. An address with none is never slowed, and neither is
// this machine, where tunnels of all operators end. It is safe for concurrent use.
type guesses struct {
	mu      sync.Mutex
	count   int64
	all     *rate.Limiter
	by      map[netip.Prefix]*list.Element
	order   *list.List // of *guesser, the latest guess first
	alarmed time.Time
}

type guesser struct {
	from   netip.Prefix
	tokens *rate.Limiter
}

func newGuesses() *guesses {
	return &guesses{
		all:   rate.NewLimiter(rate.Every(guessesPace), allGuessesBurst),
		by:    map[netip.Prefix]*list.Element{},
		order: list.New(),
	}
}

// origin returns the network that is one guesser: an address of IPv4, the 64 bits of IPv6 that are given to one
// customer.
func origin(remote string) (from netip.Prefix, here bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}, false
	}
	addr := at.Addr().Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	from, err = addr.Prefix(bits)
	return from, err == nil && addr.IsLoopback()
}

// wait returns for how long a password of an address is not looked at: 0 if it may be right for all that is known.
func (g *guesses) wait(remote string, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	from, here := origin(remote)
	known := g.by[from]
	if known == nil || here {
		return 0
	}
	return max(missing(known.Value.(*guesser).tokens, now), missing(g.all, now))
}

// missing returns the time until there is a token.
func missing(tokens *rate.Limiter, now time.Time) time.Duration {
	if lacks := 1 - tokens.TokensAt(now); lacks > 0 {
		return time.Duration(math.Ceil(lacks / float64(tokens.Limit()) * float64(time.Second)))
	}
	return 0
}

// wrong counts a wrong password. It reports whether that is the one after which the address, or everybody who guessed,
// has to wait and an alarm is due: at most once a minute.
func (g *guesses) wrong(remote string, now time.Time) (alarm bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	from, _ := origin(remote)
	tokens := g.of(from)
	tokens.AllowN(now, 1)
	g.all.AllowN(now, 1)
	if missing(tokens, now) == 0 && missing(g.all, now) == 0 || now.Sub(g.alarmed) < time.Minute {
		return false
	}
	g.alarmed = now
	return true
}

// of returns the tokens of an address. The address that guessed longest ago is forgotten for a new one.
func (g *guesses) of(from netip.Prefix) *rate.Limiter {
	if found := g.by[from]; found != nil {
		g.order.MoveToFront(found)
		return found.Value.(*guesser).tokens
	}
	if g.order.Len() >= maxGuessers {
		oldest := g.order.Remove(g.order.Back()).(*guesser)
		delete(g.by, oldest.from)
	}
	made := &guesser{from, rate.NewLimiter(rate.Every(guessEvery), guessBurst)}
	g.by[from] = g.order.PushFront(made)
	return made.tokens
}

// counted returns how many wrong passwords there were since the start.
func (g *guesses) counted() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}

// slowed answers a request whose password is not looked at.
func slowed(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	http.Error(w, "too many wrong passwords from this address: wait", http.StatusTooManyRequests)
}

// noteGuesses raises the alarm. What the request is about is not kept from its answer by a database that does not
// answer.
func (s *Service) noteGuesses(ctx context.Context, remote string) {
	from, _ := origin(remote)
	s.log.Warn("wrong passwords of the admin address", "from", from.String(), "count", s.guesses.counted())
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx,
			store.Alarm{Kind: alarmGuesses, Message: "somebody tries passwords of the admin address, " +
				"last from " + from.String() + ": find out who reaches it, and close this alarm"})
	})
	if err != nil {
		s.log.Error("the alarm of wrong passwords was not recorded", "error", err)
	}
}
