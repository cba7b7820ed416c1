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

// says is what an endpoint says of a payment, and after how long.
type says struct {
	host   string
	after  time.Duration
	denies bool
}

const never = time.Hour

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

// Endpoints are heard until enough hosts report a deposit, and for a second more; while one denies it, until the last has answered;
// and never for longer than 20 seconds. One that hangs keeps nothing up, and one that is slow is not passed over.
func TestHowLongEndpointsAreHeard(t *testing.T) {
	registry, err := bursar.NewRegistry([]bursar.Currency{
		{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8, CreditQuorum: bursar.CreditQuorum{Endpoints: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	d := bursar.Deposit{ID: bursar.ID{15: 1}, Currency: "COIN", Chain: bursar.Ethereum, TxID: "tx", Address: bursar.Address{Base: "wallet"},
		Amount: bursar.Units(5000), Height: 7, BlockHash: "seven"}
	block := chain.Block{Ref: chain.BlockRef{Height: 7, Hash: "seven"}, Transfers: []chain.Transfer{{TxID: "tx", Address: d.Address, Amount: d.Amount}}}
	for name, c := range map[string]struct {
		endpoints []says
		want      string
		took      time.Duration
	}{
		"all report at once":               {[]says{{"one", 0, false}, {"two", 0, false}}, "agreed", 0},
		"two hang, and enough report":      {[]says{{"one", 0, false}, {"two", 0, false}, {"three", never, false}, {"four", never, false}}, "agreed", time.Second},
		"the second host is slow":          {[]says{{"one", 0, false}, {"two", 15 * time.Second, false}}, "agreed", 15 * time.Second},
		"one host is no two":               {[]says{{"one", 0, false}, {"one", 0, false}, {"two", 15 * time.Second, false}}, "agreed", 15 * time.Second},
		"one more within the second":       {[]says{{"one", 0, false}, {"two", 0, false}, {"three", 900 * time.Millisecond, false}, {"four", never, false}}, "agreed", time.Second},
		"a denial within the second":       {[]says{{"one", 0, false}, {"two", 0, false}, {"three", 900 * time.Millisecond, true}, {"four", never, false}}, "open", time.Second},
		"a denial before enough report":    {[]says{{"one", 0, true}, {"two", time.Second, false}, {"three", time.Second, false}, {"four", 15 * time.Second, false}}, "open", 15 * time.Second},
		"every one denies, the last later": {[]says{{"one", 0, true}, {"two", 15 * time.Second, true}}, "refuted", 15 * time.Second},
		"all but one deny, which hangs":    {[]says{{"one", 0, true}, {"two", 0, true}, {"three", never, false}}, "open", 20 * time.Second},
		"nobody answers":                   {[]says{{"one", never, false}, {"two", never, false}}, "open", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &deposit.Opinions{DB: new(store.DB).As(time.Now, store.Conduct{}), Chain: slow{endpoints: c.endpoints, block: block},
					Registry: registry, Log: slog.New(slog.DiscardHandler)}
				begun := time.Now()
				got := o.Hear(t.Context(), block.Ref, d)
				if took := time.Since(begun); got != c.want || took != c.took {
					t.Errorf("after %s it is %s, want %s after %s", took, got, c.want, c.took)
				}
			})
		})
	}
}

// Where an adapter cannot ask single endpoints, or no currency wants to hear two, nobody is asked, and nothing is looked up for it.
func TestNobodyIsAskedWhereNobodyHasTo(t *testing.T) {
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
				{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8, CreditQuorum: bursar.CreditQuorum{Endpoints: c.quorum}}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				o := &deposit.Opinions{Chain: c.chain, Registry: registry, Log: slog.New(slog.DiscardHandler)} // and no database
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- o.Run(ctx, store.Lease{}) }()
				synctest.Wait()
				if len(ended) > 0 {
					t.Fatalf("it ends by itself with %v", <-ended)
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
}
