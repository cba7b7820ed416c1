package account_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// shop is an account with money and a wallet, and another account's wallet.
type shop struct {
	account.Issued
	wallet, theirs bursar.Wallet
}

func newShop(s *harness) shop {
	s.Helper()
	d := bursartest.Over(s.T, s.db)
	one, other := s.create(true), s.create(true)
	d.Credit(one.AccountID, "BTC", 500)
	d.Credit(other.AccountID, "BTC", 7)
	add := func(of bursar.ID, base string) bursar.Wallet {
		return d.AddWallet(bursar.Wallet{AccountID: of, Currency: "BTC", Family: "bitcoin",
			Address: bursar.Address{Base: base}})
	}
	return shop{one, add(one.AccountID, "mine"), add(other.AccountID, "theirs")}
}

// reads authenticates with the shop's key, which must be valid, and returns what was read together with it.
func (s *harness) reads(of shop, ahead account.Ahead) account.Read {
	s.Helper()
	got, err := s.Authenticate(s.Context(), account.Credentials{Key: of.APIKey, Ahead: ahead})
	if err != nil || got.Account != of.AccountID {
		s.Fatalf("the key is %+v, %v", got, err)
	}
	return got.Read
}

// From the second request of a key on, what a request reads of its account comes together with the key.
func TestWhatARequestReadsComesWithItsKey(t *testing.T) {
	each(t, func(s *harness) {
		of := newShop(s)
		all := account.Ahead{Balances: true, Wallet: of.wallet.ID}
		if first := s.reads(of, all); first != (account.Read{}) {
			s.Errorf("the first request has %+v, though its account was not known", first)
		}
		got := s.reads(of, all)
		if got.Balances == nil || got.Balances.Available["BTC"].Credits != bursar.Units(500) || got.Wallet == nil ||
			got.Wallet.ID != of.wallet.ID || got.Wallet.Address.Base != "mine" {
			s.Fatalf("read is %+v, want 500 and the wallet", got)
		}
		bursartest.Over(s.T, s.db).Credit(of.AccountID, "BTC", 30)
		if got := s.reads(of, account.Ahead{Balances: true}); got.Wallet != nil ||
			got.Balances.Available["BTC"].Credits != bursar.Units(530) {
			s.Errorf("after a credit of 30 it is %+v, want 530 and no wallet", got.Balances)
		}
		if got := s.reads(of, account.Ahead{Wallet: of.theirs.ID}); got != (account.Read{}) {
			s.Errorf("another account's wallet is read: %+v", got.Wallet)
		}
		if got := s.reads(of, account.Ahead{}); got != (account.Read{}) {
			s.Errorf("nothing was asked for, and read is %+v", got)
		}
	})
}

// A request that is refused gets nothing of what was read ahead, whatever it is refused for.
func TestARefusedRequestGetsNothingThatWasReadAhead(t *testing.T) {
	each(t, func(s *harness) {
		of := newShop(s)
		ahead := account.Ahead{Balances: true, Wallet: of.wallet.ID}
		s.reads(of, ahead)
		refused := func(c account.Credentials, want bursar.ErrorCode) {
			s.Helper()
			c.Ahead = ahead
			got, err := s.Authenticate(s.Context(), c)
			if code(s.T, err) != want || got.Read != (account.Read{}) {
				s.Errorf("it gives %v and %+v, want %s and nothing", err, got.Read, want)
			}
		}
		refused(account.Credentials{Key: of.APIKey, Secret: of.APISecret + "x"}, bursar.CodeInvalidSecret)
		refused(account.Credentials{Key: of.APIKey[:len(of.APIKey)-1] + "x"}, bursar.CodeUnauthorized)
		if err := s.replica.Revoke(s.Context(), of.KeyID); err != nil {
			s.Fatal(err)
		}
		refused(account.Credentials{Key: of.APIKey}, bursar.CodeUnauthorized)
	})
}

// hooked is a harness whose service's database calls before.
func hooked(t *testing.T, url string, before func(at store.Point, what string) error) *harness {
	clock := clocktest.New()
	db := storetest.OpenAt(t, url, clock.Now)
	of := db.As(clock.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
		return before(at, what)
	}})
	return &harness{T: t, clock: clock, db: db, Service: account.NewService(of, bursar.NewIDs(clock.Now, nil))}
}

// Key, balances and wallet take one round trip to PostgreSQL: nothing is asked after the first answer, which a
// ReadTogether would refuse, and one look-up is made.
func TestAKeyAndWhatIsReadWithItTakeOneLookUp(t *testing.T) {
	bursartest.EachURL(t, func(t *testing.T, url string) {
		var lookUps atomic.Int64
		s := hooked(t, url, func(at store.Point, _ string) error {
			if at == store.Beginning {
				lookUps.Add(1)
			}
			return nil
		})
		of := newShop(s)
		all := account.Ahead{Balances: true, Wallet: of.wallet.ID}
		s.reads(of, all)
		before := lookUps.Load()
		if got := s.reads(of, all); got.Balances == nil || got.Wallet == nil {
			t.Fatalf("read is %+v, want both", got)
		}
		if n := lookUps.Load() - before; n != 1 {
			t.Errorf("%d look-ups were made, want 1", n)
		}
	})
}

// What is read ahead and cannot be read is no reason to refuse the key, and keeps out no other request.
func TestARowThatCannotBeReadKeepsNobodyOut(t *testing.T) {
	bursartest.EachURL(t, func(t *testing.T, url string) {
		var fails atomic.Bool
		s := hooked(t, url, func(at store.Point, what string) error {
			if at == store.Running && fails.Load() && strings.Contains(what, "FROM balances") {
				return errors.New("a balance is no number")
			}
			return nil
		})
		of := newShop(s)
		all := account.Ahead{Balances: true, Wallet: of.wallet.ID}
		s.reads(of, all)
		fails.Store(true)
		if got := s.reads(of, all); got != (account.Read{}) {
			t.Errorf("read is %+v, want nothing", got)
		}
		if got := s.reads(of, account.Ahead{Wallet: of.wallet.ID}); got.Wallet == nil {
			t.Error("a wallet is not read because balances cannot be")
		}
		s.reads(of, account.Ahead{})
	})
}

// A sum that takes long holds up no request that needs none.
func TestALongSumKeepsNobodyElseWaiting(t *testing.T) {
	bursartest.EachURL(t, func(t *testing.T, url string) {
		var slow atomic.Bool
		began, release := make(chan struct{}), make(chan struct{})
		s := hooked(t, url, func(at store.Point, what string) error {
			if at == store.Running && strings.Contains(what, "FROM balances") && slow.Swap(false) {
				close(began)
				<-release
			}
			return nil
		})
		of := newShop(s)
		s.reads(of, account.Ahead{Balances: true})
		slow.Store(true)
		over := make(chan error)
		go func() {
			_, err := s.Authenticate(t.Context(), account.Credentials{Key: of.APIKey, Ahead: account.Ahead{Balances: true}})
			over <- err
		}()
		select {
		case <-began:
		case err := <-over:
			t.Fatalf("no balance was read: %v", err)
		}
		if got := s.reads(of, account.Ahead{Wallet: of.wallet.ID}); got.Wallet == nil {
			t.Errorf("read is %+v, want the wallet", got)
		}
		s.reads(of, account.Ahead{})
		close(release)
		if err := <-over; err != nil {
			t.Errorf("the request that needs the sum gets %v", err)
		}
	})
}
