package service_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

// A service that is ended while it starts has not failed.
func TestAnEndDuringTheStartIsNoFault(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Chains: []service.ChainPart{{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"}),
			MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ended); err != nil {
		t.Errorf("the service ended with %v, want no error", err)
	}
}
