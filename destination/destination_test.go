package destination_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// paper is a chain with real addresses and free payments.
type paper struct {
	chain.Addresses
	capabilities chain.Capabilities
}

func (p paper) Capabilities() chain.Capabilities { return p.capabilities }
func (p paper) Quote(context.Context, chain.Payment) (bursar.Amount, error) {
	return bursar.Amount{}, nil
}

// replica is one process: its lists and its withdrawals.
type replica struct {
	db    *store.DB
	lists *destination.Service
	pays  *withdrawal.Service
}

// harness is two replicas on one database under one clock.
type harness struct {
	*testing.T
	replica
	other replica
	ids   *bursar.IDs
	clock *clocktest.Clock
}

const hold = 24 * time.Hour

func each(t *testing.T, test func(s *harness)) {
	bursartest.EachURL(t, func(t *testing.T, url string) { test(newHarness(t, url)) })
}

func newHarness(t *testing.T, url string) *harness {
	s := &harness{T: t, clock: clocktest.At(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC))}
	s.ids = bursar.NewIDs(s.clock.Now, nil)
	s.replica, s.other = s.open(url), s.open(url)
	return s
}

func (s *harness) open(url string) replica {
	s.Helper()
	db := storetest.OpenAt(s, url, s.clock.Now)
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		s.Fatal(err)
	}
	lists, pays := map[bursar.ChainID]destination.Chain{}, map[bursar.ChainID]withdrawal.Chain{}
	for id, c := range papers(s.T) {
		lists[id], pays[id] = c, c
	}
	return replica{db: db,
		lists: &destination.Service{DB: db, Chains: lists, Registry: registry, IDs: s.ids, Hold: hold},
		pays: withdrawal.NewService(withdrawal.Config{DB: db, Chains: pays, Hot: map[bursar.ChainID]string{},
			Registry: registry, IDs: s.ids, Log: slog.New(slog.DiscardHandler)})}
}

// account makes an account that holds a thousand of every currency.
func (s *harness) account() bursar.ID {
	s.Helper()
	id := s.ids.Next()
	s.must(s.db.Do(s.Context(), func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(s.Context(),
			bursar.Account{ID: id, Name: "a shop", CreatedAt: tx.Now(), WebhookGeneration: 1}); err != nil {
			return err
		}
		for _, c := range bursar.Standard() {
			amount, err := bursar.ParseDecimal("1000", c.Decimals)
			if err != nil {
				return err
			}
			if err := tx.Ledger().Post(s.Context(),
				ledger.DepositCredited(bursar.Deposit{ID: s.ids.Next(), AccountID: id, Currency: c.Code, Amount: amount},
					tx.Now())); err != nil {
				return err
			}
		}
		return nil
	}))
	return id
}

func (s *harness) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *harness) add(n destination.New) bursar.Destination {
	s.Helper()
	d, _, err := s.lists.Add(s.Context(), n)
	s.must(err)
	return d
}

func (s *harness) order(r replica, account bursar.ID, currency bursar.CurrencyCode, address string) error {
	_, err := r.pays.Request(s.Context(), withdrawal.Request{Account: account, Currency: currency, Amount: "5",
		Address: address})
	return err
}

// paid requires a withdrawal of five to be accepted on either replica, or refused where because gives the reason; a
// refusal changes nothing.
func (s *harness) paid(account bursar.ID, currency bursar.CurrencyCode, address, because string) {
	s.Helper()
	for _, r := range []replica{s.replica, s.other} {
		before := s.held(account, currency)
		err := s.order(r, account, currency, address)
		var refusal *bursar.Error
		switch {
		case because == "" && err != nil:
			s.Errorf("%s to %s: %v", currency, address, err)
		case because == "":
			continue
		case !errors.As(err, &refusal) || refusal.Code != bursar.CodeDestinationRefused || refusal.Field != "address" ||
			!strings.Contains(refusal.Message, because):
			s.Errorf("%s to %s: %v, want it refused: %s", currency, address, err, because)
		case s.held(account, currency) != before:
			s.Errorf("a refused withdrawal of %s holds money", currency)
		}
	}
}

// held returns what is held for an account, and the number of its withdrawals.
func (s *harness) held(account bursar.ID, currency bursar.CurrencyCode) (sum string) {
	s.Helper()
	s.must(s.db.View(s.Context(), func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(s.Context(), ledger.Held(account), currency)
		if err != nil {
			return err
		}
		list, err := tx.Withdrawals().List(s.Context(), account, store.Page{Limit: 1000})
		sum = fmt.Sprint(b, len(list))
		return err
	}))
	return sum
}

const unlisted = "is not listed for"

func TestWithdrawalsGoToUsableDestinationsOnly(t *testing.T) {
	each(t, func(s *harness) {
		mine, theirs := s.account(), s.account()
		s.paid(mine, "ETH", ethA, "") // off by default
		usdc := s.add(destination.New{Account: mine, Currency: "USDC-MATIC", Address: ethA, Label: "exchange"})
		s.add(destination.New{Account: mine, Family: "evm", Address: ethB})
		s.paid(mine, "ETH", ethC, "")
		s.must(s.other.lists.Enable(s.Context(), mine)) // counts at once
		s.paid(mine, "ETH", ethC, unlisted)
		s.paid(mine, "ETH", ethA, unlisted)
		s.paid(mine, "USDC-MATIC", ethA, "can be paid from 2026-01-03T03:04:06Z on")
		s.paid(mine, "BNB", ethB, "can be paid from 2026-01-03T03:04:06Z on")
		s.paid(theirs, "ETH", ethC, "")
		s.clock.Advance(hold - time.Microsecond)
		s.paid(mine, "USDC-MATIC", ethA, "can be paid from")
		s.clock.Advance(time.Microsecond)
		s.paid(mine, "USDC-MATIC", ethA, "")
		s.paid(mine, "ETH", ethA, unlisted) // another currency at the same address
		s.paid(mine, "USDT-MATIC", ethA, unlisted)
		for _, currency := range []bursar.CurrencyCode{"ETH", "BNB", "MATIC", "USDT-MATIC", "USDC-MATIC"} {
			s.paid(mine, currency, ethB, "")
		}
		s.must(s.other.lists.Remove(s.Context(), mine, usdc.ID)) // counts at once
		s.paid(mine, "USDC-MATIC", ethA, unlisted)
		again := s.add(destination.New{Account: mine, Currency: "USDC-MATIC", Address: ethA}) // waits again
		s.paid(mine, "USDC-MATIC", ethA, "can be paid from 2026-01-04T03:04:06Z on")
		if again.UsableFrom != s.clock.Now().Add(hold) {
			s.Errorf("usable from %s", again.UsableFrom)
		}
	})
}

func TestSwitchingOffWaits(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.account()
		off := func() destination.Listed {
			s.Helper()
			_, err := s.other.lists.Disable(s.Context(), mine)
			s.must(err)
			l, err := s.lists.List(s.Context(), mine, store.Page{Limit: 10})
			s.must(err)
			return l
		}
		if l := off(); l.On || !l.Until.IsZero() {
			s.Errorf("a list that was never on is %+v", l)
		}
		s.must(s.lists.Enable(s.Context(), mine))
		end := s.clock.Now().Add(hold)
		if l := off(); !l.On || l.Until != end {
			s.Errorf("switched off it is %+v", l)
		}
		s.paid(mine, "ETH", ethA, unlisted)
		s.clock.Advance(hold / 2)
		if l := off(); !l.On || l.Until != end { // asking twice neither hastens nor delays it
			s.Errorf("switched off twice it is %+v", l)
		}
		s.must(s.lists.Enable(s.Context(), mine)) // calls it back
		s.clock.Advance(hold)
		s.paid(mine, "ETH", ethA, unlisted)
		off()
		s.clock.Advance(hold - time.Microsecond)
		s.paid(mine, "ETH", ethA, unlisted)
		s.clock.Advance(time.Microsecond)
		s.paid(mine, "ETH", ethA, "")
		if l := off(); l.On || !l.Until.IsZero() {
			s.Errorf("after the hold it is %+v", l)
		}
		s.paid(mine, "ETH", ethA, "")
		s.must(s.lists.Enable(s.Context(), mine))
		s.paid(mine, "ETH", ethA, unlisted)
	})
}

func TestAWaitingPeriodIsNeverShortened(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.account()
		s.must(s.lists.Enable(s.Context(), mine))
		n := destination.New{Account: mine, Currency: "ETH", Address: ethA, Label: "first"}
		first := s.add(n)
		s.clock.Advance(time.Hour)
		n.Address, n.Label = strings.ToLower(ethA), "second"
		hasty := *s.lists
		hasty.Hold = 0
		d, added, err := hasty.Add(s.Context(), n)
		if err != nil || added || d != first {
			s.Errorf("added again it is %+v, %v, %v; it was %+v", d, added, err, first)
		}
		s.paid(mine, "ETH", ethA, "can be paid from")
		n.Currency, n.Family = "", "evm" // for all currencies it is another one, with a hold of its own
		if d, added, err := s.lists.Add(s.Context(), n); err != nil || !added || d.UsableFrom != s.clock.Now().Add(hold) {
			s.Errorf("for the family it is %+v, %v, %v", d, added, err)
		}
		s.paid(mine, "ETH", ethA, "can be paid from 2026-01-03T03:04:06Z on") // the earlier of the two
		s.clock.Advance(hold - time.Hour)
		s.paid(mine, "ETH", ethA, "")
		s.paid(mine, "BNB", ethA, "can be paid from 2026-01-03T04:04:06Z on")
	})
}
