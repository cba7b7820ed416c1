package bitcoin_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/chaintest"
)

var keys = chaintest.Keys{Curve: chain.Secp256k1}

// nodeHarness is an adapter on a real node with a watched key and its UTXOs.
type nodeHarness struct {
	t     *testing.T
	node  *bitcoindtest.Node
	chain *bitcoin.Chain
	hot   chain.Source
	watch *chaintest.Watch
	start chain.BlockRef
}

func newTill(t *testing.T) *nodeHarness {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	node := bitcoindtest.Start(t)
	return tillOn(t, node, open(t, node))
}

func tillOn(t *testing.T, node *bitcoindtest.Node, c *bitcoin.Chain) *nodeHarness {
	t.Helper()
	key := chain.Hot(c.Capabilities().Family)
	address, err := c.Address(keys.Public(key), 0)
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hot := chain.Source{Key: key, Base: address.Base}
	return &nodeHarness{t: t, node: node, chain: c, hot: hot, watch: chaintest.NewWatch(hot.Base), start: head.Latest}
}

// utxos returns the transfers since the start, as UTXOs.
func (b *nodeHarness) utxos() []chain.UTXO {
	b.t.Helper()
	blocks, err := b.chain.After(b.t.Context(), b.start, 500, b.watch)
	if err != nil {
		b.t.Fatal(err)
	}
	var utxos []chain.UTXO
	for _, block := range blocks {
		for _, transfer := range block.Transfers {
			utxos = append(utxos, chain.UTXO{Outpoint: transfer.UTXO, Source: b.hot, Amount: transfer.Amount})
		}
	}
	return utxos
}

func (b *nodeHarness) order(amount uint64, utxos ...chain.UTXO) chain.TxRequest {
	b.t.Helper()
	return chain.TxRequest{
		Kind: chain.KindWithdrawal, Change: b.hot, MaxFee: bursar.Units(1_000_000), UTXOs: utxos,
		Payments: []chain.Payment{{Address: bursar.Address{Base: b.node.Outsider(b.t)}, Amount: bursar.Units(amount)}},
	}
}

func (b *nodeHarness) sign(request chain.TxRequest) (chain.UnsignedTx, chain.SignedTx) {
	b.t.Helper()
	built, err := b.chain.Build(b.t.Context(), request)
	if err != nil {
		b.t.Fatal(err)
	}
	return built, b.assemble(built)
}

func (b *nodeHarness) assemble(built chain.UnsignedTx) chain.SignedTx {
	b.t.Helper()
	contents, err := b.chain.Inspect(built.Bytes)
	if err != nil {
		b.t.Fatal(err)
	}
	var signatures [][]byte
	for _, in := range contents.Inputs {
		signatures = append(signatures, keys.Sign(in.Source.Key, in.Digest))
	}
	tx, err := b.chain.Assemble(built, signatures)
	if err != nil {
		b.t.Fatal(err)
	}
	b.watch.AddSent(tx.TxID)
	return tx
}

func (b *nodeHarness) broadcast(tx chain.SignedTx) {
	b.t.Helper()
	if err := b.chain.Broadcast(b.t.Context(), tx); err != nil {
		b.t.Fatal(err)
	}
}

func (b *nodeHarness) pay(amounts ...uint64) []chain.UTXO {
	b.t.Helper()
	for _, amount := range amounts {
		b.node.Pay(b.t, chain.Payment{Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(amount)})
	}
	b.node.Mine(b.t, 1)
	return b.utxos()
}

// TestNodeEvaluatesBadTransactions sends invalid transactions to a real node, and checks how the adapter interprets the
// refusals.
func TestNodeEvaluatesBadTransactions(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(1_000_000)
	lied := utxos[0]
	lied.Amount = bursar.Units(2_000_000) // the digest commits to the amount, so the signature is invalid
	_, tx := b.sign(b.order(50_000, lied))
	if err := b.chain.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) {
		t.Errorf("a signature over a wrong amount: %v, want %v", err, chain.ErrRejected)
	}
	absent := utxos[0]
	absent.Outpoint = "00000000000000000000000000000000000000000000000000000000000000aa:0"
	_, tx = b.sign(b.order(50_000, absent))
	if err := b.chain.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) ||
		errors.Is(err, chain.ErrUnderpriced) {
		t.Errorf("a UTXO that does not exist: %v", err)
	}

	first, tx := b.sign(b.order(50_000, utxos...))
	b.broadcast(tx)
	b.broadcast(tx)
	second, rival := b.sign(b.order(60_000, utxos...))
	if first.Fee != second.Fee {
		t.Fatalf("fees are %s and %s", first.Fee, second.Fee)
	}
	if err := b.chain.Broadcast(t.Context(), rival); !errors.Is(err, chain.ErrUnderpriced) {
		t.Errorf("a conflicting transaction with the same fee: %v, want %v", err, chain.ErrUnderpriced)
	}
	b.node.Mine(t, 1)
	b.broadcast(tx)
	if err := b.chain.Broadcast(t.Context(), rival); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Errorf("a conflicting transaction after the other was mined: %v", err)
	}
}

// TestMinedAndSpentIsSent mines a transaction that leaves no unspent output.
func TestMinedAndSpentIsSent(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(1_000_000)
	request := b.order(1, utxos...)
	request.Payments[0] = chain.Payment{Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(900_000)}
	_, parent := b.sign(request)
	b.broadcast(parent)
	b.node.Mine(t, 1)
	_, child := b.sign(b.order(800_000, parent.Change...))
	b.broadcast(child)
	b.node.Mine(t, 1)
	b.broadcast(parent)
}

func TestCoinbaseOfOurs(t *testing.T) {
	b := newTill(t)
	b.node.MineTo(t, 1, b.hot.Base)
	blocks, err := b.chain.After(t.Context(), b.start, 10, b.watch)
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
		t.Fatalf("blocks are %+v (%v), want 1 of them", blocks, err)
	}
	transfer := blocks[0].Transfers[0]
	if transfer.CountsFrom != b.start.Height+100 {
		t.Fatalf("block %d counts from %d, want %v", b.start.Height+1, transfer.CountsFrom, b.start.Height+100)
	}
	// One block before that height the node refuses to spend it, at that height it accepts it.
	_, tx := b.sign(b.order(1_000_000, chain.UTXO{Outpoint: transfer.UTXO, Source: b.hot, Amount: transfer.Amount}))
	b.node.Mine(t, 98)
	if err := b.chain.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Fatalf("with 99 confirmations: %v", err)
	}
	b.node.Mine(t, 1)
	if head, err := b.chain.Head(t.Context()); err != nil || head.Latest.Height != transfer.CountsFrom {
		t.Fatalf("head is %+v (%v), want %v", head, err, transfer.CountsFrom)
	}
	b.broadcast(tx)
}

func TestHoldingsOfThePast(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(1_000_000, 300_000)
	past, err := b.chain.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, tx := b.sign(b.order(900_000, utxos...))
	b.broadcast(tx)
	b.node.Mine(t, 4)
	b.pay(70_000)
	balances, err := b.chain.Holdings(t.Context(), []string{b.hot.Base}, "", past.Latest)
	if err != nil || balances[0] != bursar.Units(1_300_000) {
		t.Fatalf("the balance was %v (%v), want 1300000", balances, err)
	}
	b.node.Reorg(t, 7)
	if balances, err := b.chain.Holdings(t.Context(), []string{b.hot.Base}, "",
		past.Latest); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("at a reorged-out block the balance was %v (%v), want %v", balances, err, chain.ErrOffChain)
	}
}

// TestEveryPayableKind pays an address of each type, and reads the payments back from the node's own addresses.
func TestEveryPayableKind(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(10_000_000)
	request := b.order(1_000_000, utxos...)
	for _, kind := range []string{"legacy", "p2sh-segwit", "bech32m"} {
		request.Payments = append(request.Payments, chain.Payment{
			Address: bursar.Address{Base: b.node.AddressOf(t, kind)}, Amount: bursar.Units(1_000_000),
		})
	}
	_, tx := b.sign(request)
	b.broadcast(tx)
	b.node.Mine(t, 1)
	for _, payment := range request.Payments {
		if got := b.node.Balance(t, payment.Address.Base); got != payment.Amount {
			t.Errorf("%s has %s, want %v", payment.Address, got, payment.Amount)
		}
	}
}

// TestMinedLookAlikes mines scripts that resemble ours, which another wallet might consider its own, next to the real
// one.
func TestMinedLookAlikes(t *testing.T) {
	b := newTill(t)
	key := keys.Public(b.hot.Key)
	right, err := hex.DecodeString(b.node.Script(t, b.hot.Base))
	if err != nil {
		t.Fatal(err)
	}
	hash := right[2:]
	id := b.node.MineOutputs(t,
		wire.NewTxOut(50_000, slices.Concat([]byte{33}, key, []byte{0xac})),                    // P2PK
		wire.NewTxOut(50_000, slices.Concat([]byte{0x51, 33}, key, []byte{0x51, 0xae})),        // 1-of-1 multisig
		wire.NewTxOut(50_000, slices.Concat([]byte{0x76, 0xa9, 20}, hash, []byte{0x88, 0xac})), // P2PKH
		wire.NewTxOut(50_000, slices.Concat([]byte{0x60, 20}, hash)),                           // witness version 16
		wire.NewTxOut(50_000, slices.Concat([]byte{0x51, 20}, hash)),                           // witness version 1
		wire.NewTxOut(50_000, slices.Concat([]byte{0, 0x4c, 20}, hash)),                        // another push
		wire.NewTxOut(0, slices.Concat([]byte{0x6a, 20}, hash)), wire.NewTxOut(60_000, right),  // data, and ours
	)
	utxos := b.utxos()
	if len(utxos) != 1 || utxos[0].Outpoint != id+":7" || utxos[0].Amount != bursar.Units(60_000) {
		t.Fatalf("UTXOs are %+v, want output 7 of %s", utxos, id)
	}
}
