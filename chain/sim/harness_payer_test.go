package sim_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/sim"
)

const million = 1_000_000_000_000 // above any fee in these tests

// harness pays from the hot address of a chain in memory.
type harness struct {
	t *testing.T
	*sim.Chain
	keys  chaintest.Keys
	hot   chain.Source
	watch *chaintest.Watch
}

func newHarness(t *testing.T, config sim.Config) *harness {
	t.Helper()
	c := sim.New(config)
	w := &harness{t: t, Chain: c, keys: chaintest.Keys{Curve: c.Capabilities().Curve}}
	ref := chain.Hot(c.Capabilities().Family)
	address, err := c.Address(w.keys.Public(ref), 0)
	if err != nil {
		t.Fatal(err)
	}
	w.hot = chain.Source{Key: ref, Base: address.Base}
	w.watch = chaintest.NewWatch(address.Base)
	t.Cleanup(func() {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// fund gives the hot address UTXOs in one block.
func (w *harness) fund(amounts ...uint64) {
	w.t.Helper()
	for _, amount := range amounts {
		w.Pay(pay(w.hot.Base, amount))
	}
	w.Mine(1)
}

func pay(base string, amount uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(amount)}
}

// blocks returns the whole chain.
func (w *harness) blocks() []chain.Block {
	w.t.Helper()
	blocks, err := w.After(w.t.Context(), w.Genesis(), 100_000, w.watch)
	if err != nil {
		w.t.Fatal(err)
	}
	return blocks
}

// UTXOs returns what the hot address holds, by the chain's own blocks.
func (w *harness) utxos() []chain.UTXO {
	w.t.Helper()
	var utxos []chain.UTXO
	for _, block := range w.blocks() {
		for _, transfer := range block.Transfers {
			utxos = append(utxos, chain.UTXO{Outpoint: transfer.UTXO, Source: w.hot, Amount: transfer.Amount})
		}
	}
	return utxos
}

func (w *harness) order(payments ...chain.Payment) chain.TxRequest {
	w.t.Helper()
	order := chain.TxRequest{Kind: chain.KindWithdrawal, Payments: payments, MaxFee: bursar.Units(million / 10)}
	if w.Capabilities().Model == chain.UTXOModel {
		order.Change, order.UTXOs = w.hot, w.utxos()
	} else {
		order.From = w.hot
	}
	return order
}

// built drafts and signs.
func (w *harness) built(request chain.TxRequest) (chain.UnsignedTx, chain.SignedTx) {
	w.t.Helper()
	unsigned, err := w.Build(w.t.Context(), request)
	if err != nil {
		w.t.Fatal(err)
	}
	contents, err := w.Inspect(unsigned.Bytes)
	if err != nil {
		w.t.Fatal(err)
	}
	var signatures [][]byte
	for _, input := range contents.Inputs {
		signatures = append(signatures, w.keys.Sign(input.Source.Key, input.Digest))
	}
	tx, err := w.Assemble(unsigned, signatures)
	if err != nil {
		w.t.Fatal(err)
	}
	w.watch.AddSent(tx.TxID)
	return unsigned, tx
}

// sent drafts, signs and broadcasts.
func (w *harness) sent(request chain.TxRequest) (chain.UnsignedTx, chain.SignedTx) {
	w.t.Helper()
	unsigned, tx := w.built(request)
	if err := w.Broadcast(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
	return unsigned, tx
}

// has reports whether the chain holds a transaction.
func (w *harness) has(txID string) bool {
	w.t.Helper()
	_, err := w.Find(w.t.Context(), txID)
	return err == nil
}

// onBoth runs a test on a chain of either kind.
func onBoth(t *testing.T, config sim.Config, test func(t *testing.T, w *harness)) {
	t.Helper()
	for _, spending := range []chain.Model{chain.UTXOModel, chain.AccountModel} {
		t.Run(string(spending), func(t *testing.T) {
			t.Parallel()
			of := config
			of.Spending = spending
			test(t, newHarness(t, of))
		})
	}
}
