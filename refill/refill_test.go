package refill_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// fakeChain is a chain whose transactions are texts: "0" to "9" with as many signatures.
type fakeChain struct {
	pays     chain.Payment
	sent     []string
	refusal  error
	onBroad  func()
	combined error
	next     string // what a transaction that is built would use up
	capped   error  // why nothing can offer more than what it replaces
	built    string // what is built; empty: "0"
	txID     string // of what is signed; empty: "id"
	replaces string // what the last one that was built is to replace
	ends     time.Time
	last     uint64 // the last block of what is read
	newest   uint64
}

func (f *fakeChain) Head(context.Context) (chain.Head, error) {
	return chain.Head{Latest: chain.BlockRef{Height: f.newest}}, nil
}

func (f *fakeChain) CheckCold(bursar.ColdWallet) error { return nil }

func (f *fakeChain) Address(chain.PublicKey, uint32) (bursar.Address, error) {
	return bursar.Address{}, nil
}

func (f *fakeChain) ReadCold(_ bursar.ColdWallet, data []byte) (chain.ColdTx, error) {
	if len(data) != 1 {
		return chain.ColdTx{}, errors.New("unreadable")
	}
	uses := "coin:0"
	if data[0] == '9' {
		uses = f.next
	}
	return chain.ColdTx{Payments: []chain.Payment{f.pays}, Fee: bursar.Units(1), Weight: 1,
		Reservations: []string{uses}, Ends: f.ends, Last: f.last, Spacing: [2]time.Duration{time.Second, time.Second}}, nil
}

func (f *fakeChain) SignCold(_ bursar.ColdWallet, data []byte, _ []chain.ColdSignature) ([]byte, error) {
	return data, nil
}

func (f *fakeChain) CombineCold(_ bursar.ColdWallet, one, _ []byte) ([]byte, error) {
	return one, f.combined
}

func (f *fakeChain) FinishCold(_ bursar.ColdWallet, data []byte) (chain.SignedTx, error) {
	if data[0] < '2' {
		return chain.SignedTx{}, chain.ErrColdIncomplete
	}
	return chain.SignedTx{TxID: cmp.Or(f.txID, "id"), Raw: data}, nil
}

func (f *fakeChain) BuildCold(_ context.Context, r chain.ColdRequest) ([]byte, error) {
	f.pays, f.replaces = r.Payment, string(r.Replaces)
	if f.capped != nil && len(r.Replaces) > 0 {
		return nil, f.capped
	}
	if f.next != "" {
		return []byte("9"), nil
	}
	return []byte(cmp.Or(f.built, "0")), nil
}

func (f *fakeChain) Broadcast(_ context.Context, tx chain.SignedTx) error {
	if f.onBroad != nil {
		f.onBroad()
	}
	f.sent = append(f.sent, tx.TxID+string(tx.Raw))
	return f.refusal
}

var vault = bursar.ColdWallet{Chain: "bitcoin", Name: "vault", Kind: bursar.ColdDescriptor, Addresses: []string{"cold"},
	Descriptor: "d"}

func newService(db *store.DB) (*refill.Service, *fakeChain) {
	f := &fakeChain{}
	btc := bursar.Currency{Code: "BTC", Chain: "bitcoin", Decimals: 8, Places: 8}
	return &refill.Service{DB: db, IDs: bursar.NewIDs(db.Now, nil), Chain: f, Own: ceremony.Own{Instance: "hot",
		Network: "regtest", Kinds: []bursar.ColdKind{bursar.ColdDescriptor}, Rules: f, Home: "home",
		MaxFee: bursar.Units(10), Native: btc, Asset: btc}}, f
}

func begin(t *testing.T, s *refill.Service) ceremony.Bundle {
	t.Helper()
	b, err := s.Begin(t.Context(), refill.Request{Wallet: vault, Amount: "0.5", Actor: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func state(t *testing.T, s *refill.Service, id bursar.ID) store.Refill {
	t.Helper()
	r, err := refill.Get(t.Context(), s.DB, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is sent is recorded before: a broadcast whose answer is lost is repeated with the same bytes, whatever other
// signatures a second copy has.
func TestARefillIsRecordedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		b := begin(t, s)
		if r := state(t, s, b.ID); r.Status != store.RefillOpen || r.Bundle != b.Text() || r.Actor != "ann" {
			t.Errorf("got %+v, want the open refill with its bundle", r)
		}
		if _, err := s.Broadcast(t.Context(), b); !errors.Is(err, chain.ErrColdIncomplete) {
			t.Errorf("without signatures: got %v, want ErrColdIncomplete", err)
		}
		b.Bytes = []byte("2")
		f.refusal, f.onBroad = errors.New("no answer"), func() {
			if r := state(t, s, b.ID); r.Status != store.RefillSent || string(r.Raw) != "2" || r.TxID != "id" {
				t.Errorf("while it is sent: got %+v, want the bytes recorded", r)
			}
		}
		if _, err := s.Broadcast(t.Context(), b); !errors.Is(err, f.refusal) {
			t.Errorf("got %v, want the node's error", err)
		}
		f.refusal, b.Bytes = nil, []byte("3")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if len(f.sent) != 2 || f.sent[0] != "id2" || f.sent[1] != "id2" {
			t.Errorf("sent was %v, want the first bytes twice", f.sent)
		}
		if _, err := s.Abandon(t.Context(), b.ID, "late"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a sent one is abandoned: got %v, want ErrNotFound", err)
		}
		f.next = "coin:1"
		begin(t, s)
	})
}

// A refill that a node may have is sent again, whatever is configured of fees meanwhile.
func TestASentRefillIsNotEvaluatedByOtherFees(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		b := begin(t, s)
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		s.Own.MaxFee = bursar.Units(1)
		if _, err := s.Broadcast(t.Context(), b); err != nil || len(f.sent) != 2 {
			t.Errorf("with a lower max_fee: got %v and %v sent, want it sent twice", err, f.sent)
		}
	})
}

func TestAWalletHasOneOpenRefill(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		b := begin(t, s)
		if _, err := s.Begin(t.Context(), refill.Request{Wallet: vault, Amount: "1"}); !errors.Is(err, store.ErrRefillOpen) {
			t.Errorf("a second one: got %v, want ErrRefillOpen", err)
		}
		tx, err := s.Abandon(t.Context(), b.ID, "a device is lost")
		if err != nil || len(tx.Reservations) != 1 || tx.Reservations[0] != "coin:0" {
			t.Errorf("abandoned: got %v, %v, want what revokes it", tx, err)
		}
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); !errors.Is(err, refill.ErrAbandoned) || len(f.sent) > 0 {
			t.Errorf("an abandoned one: got %v and %v sent, want ErrAbandoned", err, f.sent)
		}
		begin(t, s)
	})
}

// One that uses up the nonce or the outputs of a refill that nodes have would replace it unseen, or wait forever.
func TestARefillUsesNothingOfOneThatWaits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		b := begin(t, s)
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		again := refill.Request{Wallet: vault, Amount: "1"}
		want := "`bursar cold revoke " + b.ID.String() + "`"
		if _, err := s.Begin(t.Context(), again); !errors.Is(err, refill.ErrNotFinal) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("the same outputs: got %v, want ErrNotFinal with %s", err, want)
		}
		other := again
		other.Wallet.Name = "second"
		if _, err := s.Begin(t.Context(), other); err != nil {
			t.Errorf("another wallet: got %v, want a refill", err)
		}
		become(t, s, arrives(t, s, "id"), bursar.DepositConfirmed)
		if _, err := s.Begin(t.Context(), again); err != nil {
			t.Errorf("after it is final: got %v, want a refill", err)
		}
		if f.replaces != "" {
			t.Errorf("a refill that revokes none is to replace %q, want nothing", f.replaces)
		}
	})
}

// Anyone who carries the bundle changes it on the way back.
func TestAnotherBundleIsNotBroadcast(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		b := begin(t, s)
		b.Bytes = []byte("2")
		var refusal *signer.RefusalError
		for name, a := range map[string]struct {
			change func(b *ceremony.Bundle)
			want   error
		}{
			"an unknown refill":   {func(b *ceremony.Bundle) { b.ID = bursar.ID{1} }, refill.ErrOther},
			"a later end":         {func(b *ceremony.Bundle) { b.Expires = b.Expires.Add(time.Hour) }, refill.ErrOther},
			"another amount":      {func(b *ceremony.Bundle) { b.Payment.Amount = bursar.Units(1) }, refill.ErrOther},
			"a higher fee":        {func(b *ceremony.Bundle) { b.MaxFee = bursar.Units(99) }, refill.ErrOther},
			"another instance":    {func(b *ceremony.Bundle) { b.Instance = "other" }, refill.ErrOther},
			"another wallet":      {func(b *ceremony.Bundle) { b.Wallet.Addresses = []string{"mine"} }, refill.ErrOther},
			"another transaction": {func(*ceremony.Bundle) { f.combined = errors.New("another") }, refill.ErrOther},
		} {
			other := b
			a.change(&other)
			if _, err := s.Broadcast(t.Context(), other); !errors.Is(err, a.want) {
				t.Errorf("%s: got %v, want %v", name, err, a.want)
			}
			f.combined = nil
		}
		f.pays.Address.Base = "thief" // what the bytes say
		if _, err := s.Broadcast(t.Context(), b); !errors.As(err, &refusal) || refusal.Reason != signer.ReasonExternal {
			t.Errorf("bytes that pay somebody else: got %v, want the reason %s", err, signer.ReasonExternal)
		}
		if len(f.sent) > 0 || state(t, s, b.ID).Status != store.RefillOpen {
			t.Errorf("sent was %v, want nothing", f.sent)
		}
	})
}

// Where a block ends a transaction, its bundle says which one was the newest.
func TestABundleSaysAtWhichBlockItWasMade(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		f.newest = 1000
		if b := begin(t, s); b.Height != 0 || strings.Contains(b.Text(), "height") {
			t.Errorf("without a last block: got the height %d, want none", b.Height)
		} else if _, err := s.Abandon(t.Context(), b.ID, "a test"); err != nil {
			t.Fatal(err)
		}
		f.last = 1600
		b := begin(t, s)
		read, err := ceremony.Read(b.Text())
		if err != nil || read.Height != 1000 {
			t.Errorf("got the height %d, %v, want 1000", read.Height, err)
		}
		tx, err := s.Own.Evaluate(b, db.Now())
		if text := s.Own.Describe(b, tx); err != nil || !strings.Contains(text, "1600, which is 600 after block 1000") {
			t.Errorf("got %s, %v, want how far the last block is", text, err)
		}
		for height, want := range map[uint64]error{0: ceremony.ErrLasting, 1600: ceremony.ErrExpired, 1599: nil} {
			b.Height = height
			if _, err := s.Own.Evaluate(b, db.Now()); !errors.Is(err, want) {
				t.Errorf("made at %d: got %v, want %v", height, err, want)
			}
		}
		f.last, b.Height = 1_000_000, 1000
		if _, err := s.Own.Evaluate(b, db.Now()); !errors.Is(err, ceremony.ErrLasting) {
			t.Errorf("a last block of another week: got %v, want %v", err, ceremony.ErrLasting)
		}
	})
}
