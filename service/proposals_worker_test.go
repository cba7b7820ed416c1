package service_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A replica that serves no console looks after what was approved: what cannot be done in time any more ends there.
func TestAReplicaWithoutAConsoleEndsProposals(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Holder: "a",
		Console: config.Console{URL: "https://console.example"},
		Chains: []service.ChainPart{{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
			MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	p := store.Proposal{ID: s.IDs.Next(), Verb: "resume.all", Object: "all", Token: s.IDs.Next(), Hash: []byte{1},
		PersonID: bursar.ID{1}, CreatedAt: db.Now().Add(-2 * time.Hour), ExpiresAt: db.Now().Add(-time.Hour)}
	err = db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Proposals().Insert(ctx, p); err != nil {
			return err
		}
		return tx.Proposals().SetStatus(ctx, p.ID, store.ProposalApproved, "")
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	eventually(t, "the proposal ends", func() bool {
		now, err := s.Proposals.Get(ctx, p.ID)
		return err == nil && now.Status == store.ProposalVoid
	})
}
