package tron_test

import (
	"encoding/hex"
	"errors"
	"math/big"
	"os/exec"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	adapter "github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/sandbox/nodes/tron"
)

// customer uses the adapter with one hot wallet key.
type customer struct {
	t     *testing.T
	chain *adapter.Chain
	node  *tron.Node
	hot   chain.Source
	keys  chaintest.Keys
	watch *chaintest.Watch
	start chain.BlockRef
}

func newCustomer(t *testing.T) *customer {
	t.Helper()
	c, node := open(t, tron.Config{})
	keys := chaintest.Keys{Curve: chain.Secp256k1}
	key := chain.Hot(chain.FamilyTron)
	address, err := c.Address(keys.Public(key), 0)
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &customer{t, c, node, chain.Source{Key: key, Base: address.Base}, keys, chaintest.NewWatch(address.Base),
		head.Latest}
}

// fund gives the hot wallet TRX and tokens.
func (c *customer) fund(sun, units int64) {
	c.t.Helper()
	pay(c.t)(c.node.Pay(c.hot.Base, sun))
	pay(c.t)(c.node.PayToken(c.node.Token(), c.hot.Base, big.NewInt(units)))
	mine(c.t, c.node, 1)
}

// build signs a token payment to an address.
func (c *customer) build(to string, units uint64) (chain.UnsignedTx, chain.SignedTx) {
	c.t.Helper()
	payment := chain.Payment{Address: bursar.Address{Base: to}, Contract: c.node.Token(), Amount: bursar.Units(units)}
	unsigned, err := c.chain.Build(c.t.Context(), chain.TxRequest{
		Kind: chain.KindWithdrawal, Payments: []chain.Payment{payment}, From: c.hot, MaxFee: bursar.Units(1e9),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	contents, err := c.chain.Inspect(unsigned.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	tx, err := c.chain.Assemble(unsigned, [][]byte{c.keys.Sign(c.hot.Key, contents.Inputs[0].Digest)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.watch.AddSent(tx.TxID)
	return unsigned, tx
}

func (c *customer) read() (transfers []chain.Transfer, included []chain.Inclusion) {
	c.t.Helper()
	for last := c.start; ; {
		blocks, err := c.chain.After(c.t.Context(), last, 100, c.watch)
		if err != nil {
			c.t.Fatal(err)
		}
		if len(blocks) == 0 {
			return transfers, included
		}
		for _, b := range blocks {
			last = b.Ref
			transfers, included = append(transfers, b.Transfers...), append(included, b.Included...)
		}
	}
}

// TestFailedTokenPayment freezes the receiver between build and block: the fee is spent, the tokens are not.
func TestFailedTokenPayment(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.fund(100_000_000, 500)
	to := c.node.NewAddress()
	unsigned, tx := c.build(to, 200)
	before, err := c.node.Balance(c.hot.Base, "")
	if err != nil {
		t.Fatal(err)
	}
	pay(t)(c.node.FreezeToken(to))
	if err := c.chain.Broadcast(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	mine(t, c.node, 1)
	_, included := c.read()
	if len(included) != 1 || !included[0].Failed || included[0].Fee.IsZero() || unsigned.Fee.Less(included[0].Fee) {
		t.Fatalf("included %+v, built %s", included, unsigned.Fee)
	}
	after, err := c.node.Balance(c.hot.Base, "")
	if err != nil || new(big.Int).Sub(before, after).Cmp(included[0].Fee.Big()) != 0 {
		t.Fatalf("%v became %v, the fee was %s, %v, want 0", before, after, included[0].Fee, err)
	}
	if left, err := c.node.Balance(c.hot.Base, c.node.Token()); err != nil || left.Int64() != 500 {
		t.Fatalf("%v tokens are left, %v, want 500", left, err)
	}
	if _, err := c.chain.Quote(t.Context(),
		chain.Payment{Address: bursar.Address{Base: to}, Contract: c.node.Token(), Amount: bursar.Units(1)}); err == nil {
		t.Fatal("a payment to a frozen address was quoted, want an error")
	}
}

// TestWhatContractsDeliver checks that failed and rejected steps deliver nothing, and that the event's value counts
// for a token that keeps a fee.
func TestWhatContractsDeliver(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	pay(t)(c.node.PayFailed(c.hot.Base, 1_000_000))
	pay(t)(c.node.PayReverted(c.hot.Base, 2_000_000))
	internal := pay(t)(c.node.PayInternal([]tron.Output{{Address: c.node.NewAddress(), Sun: 3},
		{Address: c.hot.Base, Sun: 4_000_000}}))
	pay(t)(c.node.SetTokenFee(100))
	token := pay(t)(c.node.PayToken(c.node.Token(), c.hot.Base, big.NewInt(1_000)))
	mine(t, c.node, 1)
	got, _ := c.read()
	want := []chain.Transfer{
		{TxID: internal, Output: 2, Address: bursar.Address{Base: c.hot.Base}, Amount: bursar.Units(4_000_000)},
		{TxID: token, Address: bursar.Address{Base: c.hot.Base}, Contract: c.node.Token(), Amount: bursar.Units(990)},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

// TestSeveralTokensInOneTransaction checks that each Transfer event is a transfer of its own, also two to one
// address.
func TestSeveralTokensInOneTransaction(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	id := pay(t)(c.node.PayTokenMany([]tron.Output{{Address: c.hot.Base, Sun: 7}, {Address: c.node.NewAddress(), Sun: 8},
		{Address: c.hot.Base, Sun: 9}}))
	mine(t, c.node, 1)
	got, _ := c.read()
	if len(got) != 2 || got[0].Amount != bursar.Units(7) || got[1].Amount != bursar.Units(9) ||
		got[0].Output == got[1].Output {
		t.Fatalf("got %+v", got)
	}
	for _, transfer := range got {
		if transfer.TxID != id || transfer.Contract != c.node.Token() || transfer.Address.Base != c.hot.Base {
			t.Errorf("got %+v", transfer)
		}
	}
	for _, outputs := range [][]tron.Output{nil, make([]tron.Output, 301), {{Address: "nowhere", Sun: 1}},
		{{Address: c.hot.Base}}} {
		if _, err := c.node.PayTokenMany(outputs); err == nil {
			t.Errorf("%d payments are made, want an error", len(outputs))
		}
	}
}

// TestHoldingsOfOlderBlocks checks that the balance at each block on the way is what the node reported at that block.
func TestHoldingsOfOlderBlocks(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	type moment struct {
		at          chain.BlockRef
		trx, tokens *big.Int
	}
	var moments []moment
	note := func() {
		mine(t, c.node, 1)
		head, err := c.chain.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		trx, err1 := c.node.Balance(c.hot.Base, "")
		tokens, err2 := c.node.Balance(c.hot.Base, c.node.Token())
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		moments = append(moments, moment{head.Latest, trx, tokens})
	}
	c.fund(100_000_000, 500)
	note()
	_, tx := c.build(c.node.NewAddress(), 200)
	if err := c.chain.Broadcast(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	note()
	pay(t)(c.node.PayInternal([]tron.Output{{Address: c.hot.Base, Sun: 7}}))
	note()
	note()
	for _, m := range moments {
		trx, err1 := c.chain.Holdings(t.Context(), []string{c.hot.Base}, "", m.at)
		tokens, err2 := c.chain.Holdings(t.Context(), []string{c.hot.Base}, c.node.Token(), m.at)
		if err1 != nil || err2 != nil || trx[0].Big().Cmp(m.trx) != 0 || tokens[0].Big().Cmp(m.tokens) != 0 {
			t.Fatalf("at %d: %v (%v) and %v (%v), want %v and %v", m.at.Height, trx, err1, tokens, err2, m.trx, m.tokens)
		}
	}
}

func payTokens(t testing.TB, c *customer, to string, units int64) {
	t.Helper()
	pay(t)(c.node.PayToken(c.node.Token(), to, big.NewInt(units)))
}

func hexOf(raw []byte) string { return hex.EncodeToString(raw) }

// stderrOf is the standard error of a program that failed.
func stderrOf(err error) []byte {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return nil
}
