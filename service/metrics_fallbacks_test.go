package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

// fallible is a chain whose adapter has read blocks by a second method.
type fallible struct{ *sim.Chain }

func (fallible) Counters() map[string]uint64 { return map[string]uint64{"untraced_blocks": 3} }

func TestFallbacksAreInTheMetrics(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	node := fallible{sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})}
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.SQLite(t)), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, Holder: "a",
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1)}}, Listen: "127.0.0.1:0",
		AdminListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	if metrics := get(t, s.Address("admin")+
		"/metrics"); !strings.Contains(metrics, `bursar_chain_fallbacks_total{chain="bitcoin",kind="untraced_blocks"} 3`) {
		t.Errorf("the metrics are\n%s", metrics)
	}
}
