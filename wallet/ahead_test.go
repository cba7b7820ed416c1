package wallet

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bursar/bursar"
)

// deriver derives addresses that name their index, and counts.
type deriver struct {
	mu    sync.Mutex
	calls map[uint32]int
	fails func(index uint32) error
}

func (d *deriver) derive(code bursar.CurrencyCode, index uint32) (bursar.Address, error) {
	d.mu.Lock()
	d.calls[index]++
	d.mu.Unlock()
	if d.fails != nil {
		if err := d.fails(index); err != nil {
			return bursar.Address{}, err
		}
	}
	return bursar.Address{Base: fmt.Sprintf("%s/%d", code, index)}, nil
}

func (d *deriver) count(index uint32) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[index]
}

// An address belongs to its index and its currency, whether it was derived ahead or not, in any order of requests; an
// address that was derived ahead is not derived again.
func TestAnAddressIsThatOfItsIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deriver{calls: map[uint32]int{}}
		a := newAhead(d.derive)
		for i, index := range []uint32{3, 4, 900, 5, 901, 1200, 2000, 7, 6} {
			for _, code := range []bursar.CurrencyCode{"COIN", "TOKEN"} {
				got, err := a.get(code, index)
				if want := fmt.Sprintf("%s/%d", code, index); err != nil || got.Base != want {
					t.Errorf("%d: %q, %v, want %q", i, got.Base, err, want)
				}
			}
			synctest.Wait()
		}
	})
}

// After the first address the next ones are ready: a transaction that holds the database's lock derives none.
func TestTheNextAddressesAreReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deriver{calls: map[uint32]int{}}
		a := newAhead(d.derive)
		for index := range uint32(2000) {
			before := d.count(index)
			if _, err := a.get("COIN", index); err != nil {
				t.Fatal(err)
			}
			if index > 0 && (before != 1 || d.count(index) != 1) {
				t.Fatalf("address %d was derived %d times before it was asked for, and %d in all", index, before, d.count(index))
			}
			synctest.Wait()
		}
		if n := len(d.calls); n < 2000 || n > 2000+aheadBy {
			t.Errorf("%d addresses were derived, want at least 2000 and at most %v", n, 2000+aheadBy)
		}
	})
}

// Indexes that others took are forgotten, so that memory is bounded by the addresses derived ahead.
func TestIndexesThatOthersTookAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deriver{calls: map[uint32]int{}}
		a := newAhead(d.derive)
		for index := uint32(0); index < 5000; index += 250 {
			if _, err := a.get("COIN", index); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := len(a.ready["COIN"]); n > 2*aheadBy {
				t.Fatalf("%d addresses are kept, want at most %v", n, 2*aheadBy)
			}
		}
		for index := range a.ready["COIN"] {
			if index < 4500 {
				t.Fatalf("address %d is kept, want at least 4500", index)
			}
		}
	})
}

// An index that cannot be derived, or whose derivation panics, affects only the request for that index.
func TestAnIndexThatCannotBeDerived(t *testing.T) {
	for name, fails := range map[string]func(){"an error": func() {}, "a panic": func() { panic("curve") }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := errors.New("no such key")
				ahead := true
				d := &deriver{calls: map[uint32]int{}}
				d.fails = func(index uint32) error {
					if index != 5 {
						return nil
					}
					if ahead {
						fails()
					}
					return bad
				}
				a := newAhead(d.derive)
				for index := range uint32(5) {
					if _, err := a.get("COIN", index); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				ahead = false
				if _, err := a.get("COIN", 5); !errors.Is(err, bad) {
					t.Errorf("index 5 gives %v, want %v", err, bad)
				}
				synctest.Wait()
				for index := uint32(6); index < 9; index++ {
					if got, err := a.get("COIN", index); err != nil || got.Base != fmt.Sprintf("COIN/%d", index) {
						t.Errorf("index %d gives %q, %v, want %v", index, got.Base, err, fmt.Sprintf("COIN/%d", index))
					}
					synctest.Wait()
				}
				if d.count(8) != 1 {
					t.Errorf("address 8 was derived %d times, want 1", d.count(8))
				}
			})
		})
	}
}

// A panic of the goroutine that derives ahead becomes an error.
func TestAPanicAheadIsAnError(t *testing.T) {
	a := newAhead(func(bursar.CurrencyCode, uint32) (bursar.Address, error) { panic("curve") })
	if _, err := a.guarded("COIN", 1); err == nil || !strings.Contains(err.Error(), "curve") {
		t.Errorf("it gave %v, want an error and %q in it", err, "curve")
	}
}

// Addresses that are derived together are those that are derived alone; where that fails in any way, each is derived
// alone.
func TestAddressesAreDerivedTogetherWhereThatWorks(t *testing.T) {
	together := func(code bursar.CurrencyCode, from uint32, n int) (list []bursar.Address, err error) {
		for i := range n {
			list = append(list, bursar.Address{Base: fmt.Sprintf("%s/%d", code, from+uint32(i))})
		}
		return list, nil
	}
	for name, c := range map[string]struct {
		several func(bursar.CurrencyCode, uint32, int) ([]bursar.Address, error)
		alone   int // how many are derived alone
	}{
		"together": {together, 1},
		"an error": {func(bursar.CurrencyCode, uint32, int) ([]bursar.Address, error) {
			return nil, errors.New("they do not add up")
		}, 1 + aheadBy},
		"a panic": {func(bursar.CurrencyCode, uint32, int) ([]bursar.Address, error) { panic("curve") }, 1 + aheadBy},
		"too few": {func(code bursar.CurrencyCode, from uint32, n int) ([]bursar.Address, error) {
			return together(code, from, n-1)
		}, 1 + aheadBy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deriver{calls: map[uint32]int{}}
				a := newAhead(d.derive)
				a.several = c.several
				for index := range uint32(aheadBy / 2) {
					got, err := a.get("COIN", index)
					if want := fmt.Sprintf("COIN/%d", index); err != nil || got.Base != want {
						t.Errorf("index %d gives %q, %v, want %q", index, got.Base, err, want)
					}
					synctest.Wait()
				}
				if len(d.calls) != c.alone {
					t.Errorf("%d addresses were derived alone, want %d", len(d.calls), c.alone)
				}
			})
		})
	}
}
