package service_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/verdict"
	"github.com/bursar/bursar/wallet"
)

// lists is a screening service that wants everything reviewed first, and passes everything once it is made to.
type lists struct {
	key    ed25519.PrivateKey
	passes atomic.Bool
}

func (l *lists) Ask(_ context.Context, request string) (screening.Reply, error) {
	q, err := verdict.ParseRequest(request)
	said := verdict.Review
	if l.passes.Load() {
		said = verdict.Pass
	}
	text := verdict.Answer{Instance: q.Instance, Subject: q.Subject, Request: approval.HashOf(request), Verdict: said,
		List: "1", Created: q.Created, Expires: q.Created.Add(time.Hour)}.Text()
	return screening.Reply{Text: text,
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(l.key, []byte(text)))}, err
}

// A running service asks about deposits before it credits them, shows what waits, and goes on after a decision.
func TestAServiceScreens(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	l := &lists{key: key}
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, Holder: "a", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1)}},
		Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0",
		Screening: &service.Screening{Service: l, Key: ed25519.PublicKey(key[ed25519.SeedSize:])}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	ctx := t.Context()
	eventually(t, "the database is known to be screened", func() bool {
		noted := ""
		_ = s.DB.View(ctx, func(tx *store.Tx) (err error) { // asked again if it fails
			noted, err = tx.Settings().Screened(ctx)
			return err
		})
		return noted == base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:])
	})
	without, err := service.New(service.Parts{DB: s.DB, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
		Holder: "b", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1)}}, Listen: "127.0.0.1:0",
		AdminListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := without.Run(ctx); err == nil || !strings.Contains(err.Error(), "payments of this database are screened") {
		t.Errorf("a replica without screening ends with %v, want it refused", err)
	}
	issued, err := s.Accounts.Create(ctx, "shop", true)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Wallets.Create(ctx, wallet.New{Account: issued.AccountID, Currency: native.Code,
		Webhook: "https://receiver.example/hook"})
	if err != nil {
		t.Fatal(err)
	}
	status := func() (d bursar.Deposit) {
		err := s.DB.View(ctx, func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, w.AccountID, w.ID, store.Page{Limit: 1})
			if len(list) == 1 {
				d = list[0]
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	eventually(t, "the chain is followed", func() bool {
		return strings.Contains(get(t, s.Address("admin")+"/metrics"), `bursar_chain_latest_height{chain="bitcoin"}`)
	})
	node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(100_000)})
	node.Mine(4)
	eventually(t, "the deposit waits for an operator", func() bool {
		return strings.Contains(get(t, s.Address("admin")+"/metrics"),
			`bursar_screening_waiting{chain="bitcoin",reason="review"} 1`)
	})
	d := status()
	if d.Status != bursar.DepositPending {
		t.Fatalf("the deposit is %s, want pending", d.Status)
	}
	_, err = s.Screenings.Decide(ctx, screening.Decision{Subject: d.ID, Release: true, Actor: "ann", Reason: "case 17"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is credited", func() bool { return status().Status == bursar.DepositConfirmed })
	l.passes.Store(true)
	node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(200_000)})
	node.Mine(4)
	eventually(t, "the next one is credited by itself", func() bool {
		d := status()
		return d.Amount == bursar.Units(200_000) && d.Status == bursar.DepositConfirmed
	})
}
