package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Neither a scrape of the metrics, nor the console, nor what the workers look up while nothing happens reads
// all of a table that grows.
func TestAScrapeReadsNoTableAsAWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		registry, err := bursar.NewRegistry([]bursar.Currency{native})
		if err != nil {
			t.Fatal(err)
		}
		plans := storetest.NewPlans(t, db)
		s, err := service.New(service.Parts{DB: plans.DB, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
			Holder: "a", Chains: []service.ChainPart{{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"}),
				MaxFee: bursar.Units(1)}}, AdminListen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		t.Run("running", func(t *testing.T) {
			run(t, s)
			eventually(t, "a scrape has everything", func() bool {
				return strings.Contains(get(t, s.Address("admin")+"/metrics"), "bursar_scrape_failed 0")
			})
			get(t, s.Address("admin")+"/")
			eventually(t, "every worker has looked for work", func() bool { return plans.Made() >= 30 })
		})
		plans.Name("the running service")
		plans.Leave("SELECT COALESCE((SELECT created_at FROM wallets", "made once, when a chain begins")
		plans.Check()
	})
}
