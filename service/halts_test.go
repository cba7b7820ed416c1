package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// haltHarness is a signer that reports when it receives different halts than before.
type haltHarness struct {
	*signer.Signer
	received chan signer.Halts
}

func (l haltHarness) SendHalts(ctx context.Context, h signer.Halts) (int64, error) {
	known, err := l.Signer.SendHalts(ctx, h)
	l.received <- h
	return known, err
}

// hear waits until the signer has received the wanted halts, from any replica.
func (l haltHarness) hear(wanted func(signer.Halts) bool) {
	for !wanted(<-l.received) {
	}
}

func (d *harness) listen(awaits bool) haltHarness {
	d.t.Helper()
	signs, is := d.server.Signer.(*signer.Signer)
	if !is {
		d.t.Fatal("the harness listens already")
	}
	if awaits {
		signs.AwaitHalts()
	}
	l := haltHarness{signs, make(chan signer.Halts)}
	d.server.Signer = l
	return l
}

// Two replicas and a remote signer: a halt through one replica is refused by the signer, whichever replica is left to
// send it, and a restarted signer signs nothing before it has the halts.
func TestEveryReplicaSendsTheHaltsToTheSigner(t *testing.T) {
	t.Parallel()
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})
	d := newHarness(t, node)
	l := d.listen(true)
	stopSigner := d.open()
	url := storetest.SQLite(t)
	first, stopFirst := d.replica(url, node)
	second, _ := d.replica(url, node)
	refusal := func() signer.Reason {
		_, err := l.Sign(ctx, bursar.Bitcoin, chain.TxRequest{ID: bursar.ID{1}}, chain.UnsignedTx{})
		var refused *signer.RefusalError
		if !errors.As(err, &refused) {
			t.Fatalf("nothing was signed: %v", err)
		}
		return refused.Reason
	}
	everybody := func(h signer.Halts) bool { return h.All != "" }
	nobody := func(h signer.Halts) bool { return h.All == "" }
	do := func(s *service.Service, f func(tx *store.Tx) error) {
		t.Helper()
		if err := s.DB.Do(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	l.hear(nobody)
	if got := refusal(); got == signer.ReasonHalted {
		t.Error("nothing halted it")
	}
	started := time.Now()
	do(first, func(tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "a drill",
			Actor: "ann"})
	})
	l.hear(everybody)
	if got := refusal(); got != signer.ReasonHalted {
		t.Errorf("refused because %s, want %v", got, signer.ReasonHalted)
	}
	t.Logf("the signer refuses %v after the halt", time.Since(started).Round(time.Millisecond))
	drain := l.drain()
	stopFirst()
	drain()
	do(second, func(tx *store.Tx) error {
		_, err := tx.Halts().Lift(ctx, store.HaltAll, store.HaltByOperator, "")
		return err
	})
	l.hear(nobody)
	do(second, func(tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "again",
			Actor: "ann"})
	})
	l.hear(everybody)
	drain = l.drain()
	stopSigner()
	drain()
	again := newHarness(t, node)
	again.at = d.at
	l = again.listen(true)
	if got := refusal(); got != signer.ReasonHalted {
		t.Errorf("a signer without halts refuses because %s, want %v", got, signer.ReasonHalted)
	}
	defer again.open()()
	l.hear(everybody)
	if got := refusal(); got != signer.ReasonHalted {
		t.Errorf("a restarted signer refuses because %s, want %v", got, signer.ReasonHalted)
	}
	l.drain()
}

// drain receives halts until the returned function is called, so that no replica that ends is blocked.
func (l haltHarness) drain() (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-l.received:
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// replica runs a replica without the seed.
func (d *harness) replica(url string, node *sim.Chain) (*service.Service, func()) {
	d.t.Helper()
	keys, err := signer.FromKeyExport(d.server.KeyExport)
	if err != nil {
		d.t.Fatal(err)
	}
	client, err := remote.Dial(d.at)
	if err != nil {
		d.t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		d.t.Fatal(err)
	}
	db := open(d.t, url)
	s, err := service.New(service.Parts{DB: db, Keys: keys, Signer: client, Registry: registry,
		Pace:   10 * time.Millisecond,
		Holder: bursar.NewIDs(db.Now, nil).Next().String(),
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		d.t.Fatal(err)
	}
	return s, run(d.t, s)
}

// A recovering chain asks the signer for what it signed before, and is not halted for that; any other halt applies.
func TestTheSignerSignsAgainWhileAChainRecovers(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.SQLite(t))
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.HaltKind{store.HaltByRecovery, store.HaltByOperator} {
		err := db.Do(ctx, func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(bursar.Bitcoin), Kind: kind, Reason: "a test"})
		})
		if err != nil {
			t.Fatal(err)
		}
		h, err := service.Halted(ctx, db, registry)
		if err != nil || (h.Chains[bursar.Bitcoin] != "") != (kind == store.HaltByOperator) {
			t.Errorf("after a halt of kind %s the signer is sent %+v, %v", kind, h, err)
		}
	}
}
