package pay

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// maxChoices is how often one client's network may choose a currency within a minute, which takes an address or locks
// a rate.
const maxChoices = 20

// Each choice is counted in one place of each row. Two networks seldom share both places, and anyone who would stop all
// others has to fill most places of a row: with some 600,000 choices a minute, from however many networks.
const (
	choiceRows   = 2
	choicePlaces = 1 << 15
)

// choices counts what payers choose. A charge bounds by itself how many addresses it takes; this bounds how many
// charges one client can do that with. What it takes does not grow with the number of networks: a table of them could
// be filled by somebody who has many.
type choices struct {
	mu    sync.Mutex
	since time.Time
	seed  maphash.Seed // nobody can predict which networks share a place
	rows  [choiceRows][choicePlaces]uint8
}

func newChoices() *choices { return &choices{seed: maphash.MakeSeed()} }

// may counts a choice and reports whether it is allowed. Everything is forgotten once a minute.
func (c *choices) may(client netip.Prefix, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.since) >= time.Minute {
		c.since = now
		c.rows = [choiceRows][choicePlaces]uint8{}
	}
	hash := maphash.Comparable(c.seed, client)
	allowed := false
	for i := range c.rows {
		place := &c.rows[i][hash>>(32*i)%choicePlaces]
		if *place < maxChoices { // in the other row it may be shared
			*place++
			allowed = true
		}
	}
	return allowed
}
