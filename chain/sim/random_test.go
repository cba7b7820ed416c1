package sim_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// TestRandomHistory does at random whatever can be done to a chain, and proves its books after each step.
func TestRandomHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		onBoth(t, sim.Config{Seed: seed, Confirmations: 4, Expiry: seed % 3 * 20}, func(t *testing.T, w *harness) {
			random := rand.New(rand.NewPCG(seed, 1))
			w.fund(million, million, million, million)
			for step := range 300 {
				w.disturb(random)
				if err := w.Check(); err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
			}
			w.wantHistory()
		})
	}
}

func (w *harness) disturb(random *rand.Rand) {
	w.t.Helper()
	amount := 1000 + random.Uint64N(1_000_000)
	switch random.IntN(10) {
	case 0, 1, 2:
		w.Mine(1 + random.IntN(3))
	case 3, 4:
		w.Pay(pay(w.hot.Base, amount), pay(w.Named("x"), amount), pay(w.hot.Base, 2*amount))
	case 5:
		w.SetRate(1 + random.Uint64N(30))
	case 6:
		depth := 1 + random.IntN(6)
		if last := w.Mine(1); last.Height > uint64(depth)+1 {
			w.Reorg(depth, w.someTx(random))
		}
	case 7:
		if !w.Balance(w.hot.Base, "").Less(bursar.Units(million)) {
			w.ExternalSpend(w.hot.Base, pay(w.Named("thief"), amount))
		}
	default:
		w.trySpend(amount)
	}
}

// trySpend pays if it can; a chain that changes meanwhile may refuse.
func (w *harness) trySpend(amount uint64) {
	w.t.Helper()
	order := w.order(pay(w.Named(fmt.Sprint("payee ", amount%7)), amount))
	order.UTXOs = order.UTXOs[min(len(order.UTXOs), int(amount%5)):] // the first may be spent
	if _, err := w.Build(w.t.Context(), order); err != nil {
		return
	}
	_, tx := w.built(order)
	_ = w.Broadcast(w.t.Context(), tx) // the books hold either way
}

func (w *harness) someTx(random *rand.Rand) string {
	w.t.Helper()
	var ids []string
	for _, block := range w.blocks() {
		for _, transfer := range block.Transfers {
			ids = append(ids, transfer.TxID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1-random.IntN(min(len(ids), 10))]
}

// wantHistory reads the whole chain and compares what it says with the balance of the hot address.
func (w *harness) wantHistory() {
	w.t.Helper()
	seen := map[string]bool{}
	for _, block := range w.blocks() {
		for _, transfer := range block.Transfers {
			identity := fmt.Sprint(transfer.TxID, transfer.Output)
			if seen[identity] {
				w.t.Fatalf("transfer %s is there twice", identity)
			}
			seen[identity] = true
		}
	}
	head, err := w.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	held, err := w.Holdings(w.t.Context(), []string{w.hot.Base}, "", head.Latest)
	if err != nil || held[0] != w.Balance(w.hot.Base, "") {
		w.t.Fatalf("holdings %v (%v), balance %s", held, err, w.Balance(w.hot.Base, ""))
	}
	w.wantPastHoldings()
}

// wantPastHoldings takes holdings at a block and compares them after more blocks.
func (w *harness) wantPastHoldings() {
	w.t.Helper()
	at := w.Mine(1)
	before := w.Balance(w.hot.Base, "")
	w.fund(million)
	w.trySpend(5000)
	w.Mine(3)
	held, err := w.Holdings(w.t.Context(), []string{w.hot.Base}, "", at)
	if err != nil || held[0] != before {
		w.t.Fatalf("holdings at %d are %v (%v), were %s", at.Height, held, err, before)
	}
}

// TestConcurrentUse is for the race detector: readers and writers at once, and sound books in the end.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{Confirmations: 3}, func(t *testing.T, w *harness) {
		w.fund(million, million)
		var group sync.WaitGroup
		for worker := range uint64(4) {
			group.Go(func() {
				for i := range 50 {
					w.Pay(pay(w.hot.Base, million+worker))
					w.Mine(1)
					if i%10 == 9 {
						w.Reorg(2)
					}
					order := chain.TxRequest{
						Kind: chain.KindWithdrawal, Payments: []chain.Payment{pay(w.Named("x"), 1000)},
						MaxFee: bursar.Units(million), From: w.hot, Change: w.hot,
					}
					_, _ = w.Build(t.Context(), order) // by UTXOs it needs UTXOs: an error is as good here
					if _, err := w.After(t.Context(), w.Genesis(), 10, w.watch); err != nil {
						t.Errorf("after the first block: %v", err)
					}
				}
			})
		}
		group.Wait()
	})
}

func FuzzInspect(f *testing.F) {
	c := sim.New(sim.Config{})
	f.Add([]byte(`{"chain":"sim","inputs":[{"claim":"a:0","source":{},"amount":"500"}],"payments":[],"fee":"1","weight":1}`))
	f.Add([]byte(`{"chain":"sim","payments":[{"address":{"Base":"x"},"amount":"1"}],"fee":"1","weight":31}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		contents, err := c.Inspect(raw)
		if err == nil && (len(contents.Payments) == 0 || len(contents.Inputs) == 0) {
			t.Fatalf("a transaction of nothing: %+v", contents)
		}
	})
}

func FuzzParseAddress(f *testing.F) {
	c := sim.New(sim.Config{SharedAddress: true})
	f.Add(c.Named("x"))
	f.Add(c.Named("x") + ":7")
	f.Fuzz(func(t *testing.T, text string) {
		address, err := c.ParseAddress(text)
		if err != nil {
			return
		}
		if again, err := c.ParseAddress(address.String()); err != nil || again != address {
			t.Fatalf("%q is %v, which parses to %v (%v)", text, address, again, err)
		}
	})
}

func BenchmarkBlocks(b *testing.B) {
	c := sim.New(sim.Config{})
	payment := pay(c.Named("x"), 1000)
	for b.Loop() {
		for range 10 {
			c.Pay(payment)
		}
		c.Mine(1)
	}
}
