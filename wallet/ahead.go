package wallet

import (
	"fmt"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/panics"
)

// aheadBy is how many addresses of a currency are derived before they are requested.
const aheadBy = 512

// ahead derives the addresses of the next indexes outside the transactions that need them, so that a transaction which
// holds the database's lock finds them ready. An address that is derived and never used costs nothing but time.
type ahead struct {
	derive func(code bursar.CurrencyCode, index uint32) (bursar.Address, error)
	// several derives n addresses at consecutive indexes, in less time than n single derivations; nil: the keys cannot do
	// it.
	several func(code bursar.CurrencyCode, from uint32, n int) ([]bursar.Address, error)

	mu     sync.Mutex
	ready  map[bursar.CurrencyCode]map[uint32]bursar.Address
	filled map[bursar.CurrencyCode]uint32 // the first index not yet derived
	busy   map[bursar.CurrencyCode]bool
}

func newAhead(derive func(bursar.CurrencyCode, uint32) (bursar.Address, error)) *ahead {
	return &ahead{
		derive: derive,
		ready:  map[bursar.CurrencyCode]map[uint32]bursar.Address{},
		filled: map[bursar.CurrencyCode]uint32{},
		busy:   map[bursar.CurrencyCode]bool{},
	}
}

// get returns the address at an index, derived before or now, and starts the derivation of the following ones.
func (a *ahead) get(code bursar.CurrencyCode, index uint32) (bursar.Address, error) {
	address, found := a.take(code, index)
	if found {
		return address, nil
	}
	return a.derive(code, index)
}

func (a *ahead) take(code bursar.CurrencyCode, index uint32) (bursar.Address, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	address, found := a.ready[code][index]
	delete(a.ready[code], index)
	if !a.busy[code] && a.filled[code] < index+aheadBy/2 {
		a.busy[code] = true
		go a.fill(code, index+1)
	}
	return address, found
}

// fill derives up to aheadBy addresses, starting at an index. It forgets indexes that other replicas or other
// currencies of the family took.
func (a *ahead) fill(code bursar.CurrencyCode, from uint32) {
	a.mu.Lock()
	start := max(from, a.filled[code])
	for index := range a.ready[code] {
		if index < from {
			delete(a.ready[code], index)
		}
	}
	a.mu.Unlock()
	fresh := a.from(code, start, from+aheadBy)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready[code] == nil {
		a.ready[code] = map[uint32]bursar.Address{}
	}
	for i, address := range fresh {
		a.ready[code][start+uint32(i)] = address
	}
	a.filled[code], a.busy[code] = max(start+uint32(len(fresh)), a.filled[code]), false
}

// from derives the addresses from an index up to another one, together where that can be done. It stops before an
// address that cannot be derived: the caller that needs that one gets the error.
func (a *ahead) from(code bursar.CurrencyCode, start, end uint32) (list []bursar.Address) {
	if start >= end {
		return nil
	}
	if a.several != nil {
		if list, err := a.severalGuarded(code, start, int(end-start)); err == nil {
			return list
		}
	}
	for index := start; index < end; index++ {
		address, err := a.guarded(code, index)
		if err != nil {
			break
		}
		list = append(list, address)
	}
	return list
}

// severalGuarded is to several what guarded is to derive. Fewer addresses than were asked for are an error.
func (a *ahead) severalGuarded(code bursar.CurrencyCode, from uint32, n int) (list []bursar.Address, err error) {
	err = panics.Catch("deriving addresses", func() (err error) {
		if list, err = a.several(code, from, n); err == nil && len(list) != n {
			err = fmt.Errorf("%d addresses were derived, want %d", len(list), n)
		}
		return err
	})
	return list, err
}

// guarded turns a panic into an error: the goroutine that derives ahead is not below any request's recover.
func (a *ahead) guarded(code bursar.CurrencyCode, index uint32) (address bursar.Address, err error) {
	err = panics.Catch("deriving an address", func() (err error) {
		address, err = a.derive(code, index)
		return err
	})
	return address, err
}
