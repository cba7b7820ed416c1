package deposit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
)

// says is an endpoint's report about a payment, and its delay.
type says struct {
	host   string
	after  time.Duration
	denies bool
}

const (
	second = time.Second
	never  = time.Hour

	reports, denies = false, true
)

// slow is a chain whose endpoints answer after a while.
type slow struct {
	chain.Chain
	endpoints []says
	block     chain.Block
}

func (c slow) Endpoints() (list []chain.Endpoint) {
	for i, e := range c.endpoints {
		list = append(list, chain.Endpoint{Name: fmt.Sprint(i), Host: e.host})
	}
	return list
}

func (c slow) HeadOn(context.Context, string) (chain.Head, error) { return chain.Head{}, sim.ErrNode }

func (c slow) BlockOn(ctx context.Context, name string, _ uint64, _ chain.Watch) (chain.Block, error) {
	var at int
	if _, err := fmt.Sscan(name, &at); err != nil {
		return chain.Block{}, err
	}
	answer := time.NewTimer(c.endpoints[at].after)
	defer answer.Stop()
	select {
	case <-ctx.Done():
		return chain.Block{}, ctx.Err()
	case <-answer.C:
	}
	if c.endpoints[at].denies {
		return chain.Block{Ref: c.block.Ref}, nil
	}
	return c.block, nil
}

// Reports are awaited until enough hosts report a deposit, and for one second more; while one denies it, until the last
// has answered; and never for longer than 20 seconds. An endpoint that hangs delays nothing, and a slow one is not
// skipped.
func TestHowLongEndpointsAreHeard(t *testing.T) {
	registry, err := bursar.NewRegistry([]bursar.Currency{
		{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8,
			CreditQuorum: bursar.CreditQuorum{Endpoints: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	d := bursar.Deposit{ID: bursar.ID{15: 1}, Currency: "COIN", Chain: bursar.Ethereum, TxID: "tx",
		Address: bursar.Address{Base: "wallet"},
		Amount:  bursar.Units(5000), Height: 7, BlockHash: "seven"}
	block := chain.Block{Ref: chain.BlockRef{Height: 7, Hash: "seven"},
		Transfers: []chain.Transfer{{TxID: "tx", Address: d.Address, Amount: d.Amount}}}
	for name, c := range map[string]struct {
		endpoints []says
		want      string
		took      time.Duration
	}{
		"all report at once": {[]says{{"one", 0, reports}, {"two", 0, reports}}, "agreed", 0},
		"two hang, and enough report": {
			[]says{{"one", 0, reports}, {"two", 0, reports}, {"three", never, reports}, {"four", never, reports}},
			"agreed", second},
		"the second host is slow": {[]says{{"one", 0, reports}, {"two", 15 * second, reports}}, "agreed", 15 * second},
		"one host is no two": {
			[]says{{"one", 0, reports}, {"one", 0, reports}, {"two", 15 * second, reports}},
			"agreed", 15 * second},
		"one more within the second": {
			[]says{{"one", 0, reports}, {"two", 0, reports}, {"three", second / 2, reports}, {"four", never, reports}},
			"agreed", second},
		"a denial within the second": {
			[]says{{"one", 0, reports}, {"two", 0, reports}, {"three", second / 2, denies}, {"four", never, reports}},
			"open", second},
		"a denial before enough report": {
			[]says{{"one", 0, denies}, {"two", second, reports}, {"three", second, reports},
				{"four", 15 * second, reports}},
			"open", 15 * second},
		"every one denies": {[]says{{"one", 0, denies}, {"two", 15 * second, denies}}, "refuted", 15 * second},
		"one that hangs does not deny": {
			[]says{{"one", 0, denies}, {"two", 0, denies}, {"three", never, reports}},
			"open", 20 * second},
		"no endpoint answers": {[]says{{"one", never, reports}, {"two", never, reports}}, "open", 20 * second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &deposit.Quorum{DB: new(store.DB).As(time.Now, store.Hooks{}),
					Chain:    slow{endpoints: c.endpoints, block: block},
					Registry: registry, Log: slog.New(slog.DiscardHandler)}
				started := time.Now()
				got := o.Hear(t.Context(), block.Ref, d)
				if took := time.Since(started); got != c.want || took != c.took {
					t.Errorf("after %s it is %s, want %s after %s", took, got, c.want, c.took)
				}
			})
		})
	}
}

// Where an adapter cannot ask single endpoints, or no currency needs two, no endpoint is asked, and nothing is looked
// up for it.
func TestNoEndpointIsAskedWhereNoSecondOpinionIsNeeded(t *testing.T) {
	able := sim.New(sim.Config{ID: bursar.Ethereum})
	for name, c := range map[string]struct {
		chain  chain.Chain
		quorum int
	}{
		"the adapter cannot":     {struct{ chain.Chain }{able}, 2},
		"no currency wants to":   {able, 0},
		"one endpoint is enough": {able, 1},
	} {
		t.Run(name, func(t *testing.T) {
			registry, err := bursar.NewRegistry([]bursar.Currency{
				{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8,
					CreditQuorum: bursar.CreditQuorum{Endpoints: c.quorum}}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				log := slog.New(slog.DiscardHandler)
				o := &deposit.Quorum{Chain: c.chain, Registry: registry, Log: log} // and no database
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- o.Run(ctx, store.Lease{}) }()
				synctest.Wait()
				if len(ended) > 0 {
					t.Fatalf("it ends by itself with %v, want none", <-ended)
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("it ends with %v, want %v", err, context.Canceled)
				}
			})
		})
	}
}
