package outgoing_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func weather(t *testing.T, seed uint64, url string, config sim.Config) *chaos {
	s := newChaos(t, seed, url, config)
	for range 250 {
		s.act()
	}
	s.calm()
	if err := s.evaluate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// outcome names every withdrawal with its end, and the newest block.
func (s *chaos) outcome() string {
	list, err := s.Withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 1000})
	s.Must(err)
	head, err := s.Chain.Head(ctx)
	s.Must(err)
	text := fmt.Sprintln(head.Latest)
	for _, w := range list {
		text += fmt.Sprintln(w.ID, w.Status, w.TxID, w.Amount)
	}
	return text
}

// A seed gives the same chaos run each time, whatever else the machine does: a failing run can be repeated.
func TestAChaosRunIsTheSameEachTime(t *testing.T) {
	searches(t)
	t.Parallel()
	config := sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3}
	outcomes := make([]string, 4)
	t.Run("storms", func(t *testing.T) {
		for i := range outcomes {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				outcomes[i] = weather(t, 7003, storetest.Reused(t), config).outcome()
			})
		}
	})
	for i, other := range outcomes[1:] {
		if other != outcomes[0] || other == "" {
			t.Errorf("chaos run %d ends with %s, the first one with %s", i+1, other, outcomes[0])
		}
	}
}

// Whatever faults happen at once, the books end equal to the chain, and every withdrawal is paid exactly once or
// refunded.
func TestChaos(t *testing.T) {
	searches(t)
	from, seeds := 0, 6
	if n, err := strconv.Atoi(os.Getenv("BURSAR_STORMS")); err == nil { // for a longer search by hand
		from, seeds = n, n+100
	}
	for name, config := range map[string]sim.Config{
		"coins": {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3, MaxPayments: 4},
		"nonce": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3},
		"expiring": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3, Expiry: 6,
			BumpAfter: 1 << 40},
	} {
		for seed := from; seed < seeds; seed++ {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				weather(t, uint64(seed), storetest.Reused(t), config)
			})
		}
		t.Run(name+"/postgres", func(t *testing.T) {
			t.Parallel()
			weather(t, 1, storetest.Postgres(t), config)
		})
	}
}
