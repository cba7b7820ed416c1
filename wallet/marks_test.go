package wallet_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

var errShort = errors.New("not reserved")

// kept are marks that have some indexes of a family.
type kept struct {
	below   uint32 // indexes below it may be given out
	each    uint32 // how many a reservation adds
	asked   int
	given   []uint32
	refuses error
}

func (k *kept) Take(_ store.Identity, _ bursar.Family, first uint32, n int) (func(), error) {
	if first+uint32(n) > k.below {
		return nil, errShort
	}
	return func() { k.given = append(k.given, first) }, nil
}

func (k *kept) Reserve(context.Context, bursar.Family) error {
	k.asked++
	k.below += k.each
	return k.refuses
}

func newMarked(t *testing.T, k *kept) *counter {
	t.Parallel()
	c := newCounter(t, storetest.Open(t, storetest.Reused(t)), seedOf(t, 3))
	c.Marks = k
	c.open()
	return c
}

// An index that the marks do not contain is reserved before it is given out. Its use is recorded after the commit.
func TestNoIndexIsGivenOutThatIsNotReserved(t *testing.T) {
	k := &kept{each: 2}
	c := newMarked(t, k)
	for i := range 5 {
		w, err := c.create("ETH")
		if err != nil || w.Index != uint32(i) {
			t.Fatalf("wallet %d has index %d, %v", i, w.Index, err)
		}
		if len(k.given) != i+1 || k.given[i] != uint32(i) || k.below < uint32(i) {
			t.Errorf("noted is %v, reserved are those below %d", k.given, k.below)
		}
	}
	if k.asked != 3 {
		t.Errorf("it was reserved %d times, want 3", k.asked)
	}
}

// Where nothing can be reserved no wallet is made and no index is used, after a limited number of reservations.
func TestWithoutReservationsNoWalletIsMade(t *testing.T) {
	refusal := errors.New("the disk is full")
	for name, c := range map[string]struct {
		marks kept
		want  error
		asked int
	}{
		"the disk is full": {kept{refuses: refusal}, refusal, 1},
		"others take them": {kept{}, errShort, 5},
	} {
		t.Run(name, func(t *testing.T) {
			k := c.marks
			process := newMarked(t, &k)
			if _, err := process.create("ETH"); !errors.Is(err, c.want) || k.asked != c.asked || len(k.given) > 0 {
				t.Errorf("%v after %d reservations, given is %v, want %v and %v and none", err, k.asked, k.given, c.want, c.asked)
			}
			k.below, k.refuses = 100, nil
			if w, err := process.create("ETH"); err != nil || w.Index != 0 {
				t.Errorf("then the first index is %d, %v, want 0", w.Index, err)
			}
		})
	}
}

// An index whose wallet is not made is not recorded as given out.
func TestAWalletThatIsNotMadeUsesNoIndex(t *testing.T) {
	k := &kept{below: 100}
	c := newMarked(t, k)
	undone := errors.New("no")
	order := wallet.New{Account: c.account, Currency: "ETH", Webhook: "https://receiver.example",
		Done: func(context.Context, *store.Tx, bursar.Wallet) error { return undone }}
	if _, err := c.Create(ctx, order); !errors.Is(err, undone) || len(k.given) > 0 {
		t.Errorf("%v, noted is %v, want %v and none", err, k.given, undone)
	}
}
