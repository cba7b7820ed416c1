package bitcoin_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// taproot is a regtest address that litecoind's wallet cannot make, of the key in BIP 350's test vectors.
const taproot = "rltc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqsyzyjh"

// TestLitecoinConformance runs the suite on a chain all of whose blocks have extensions.
func TestLitecoinConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real litecoind")
	}
	t.Parallel()
	chaintest.Run(t, offlineLitecoin(t), func(t *testing.T) chaintest.Harness {
		node := bitcoindtest.StartLitecoin(t)
		return chaintest.Harness{
			Chain: openLitecoin(t, node.URL), Node: litecoinRefusing{node}, Unit: bursar.Units(10_000_000),
		}
	})
}

// offlineLitecoin is the harness without a node.
func offlineLitecoin(t *testing.T) chaintest.Harness {
	return chaintest.Harness{Chain: openLitecoin(t, noNode), Node: litecoinRefusing{}}
}

func openLitecoin(t *testing.T, url string) *bitcoin.Chain {
	t.Helper()
	network, err := bitcoin.Litecoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	c, err := bitcoin.New(bitcoin.Config{
		ID: bursar.Litecoin, Network: network, Node: rpc.Config{URLs: []string{url}, MinPause: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// litecoinRefusing uses Litecoin Core's dust limit, which is ten times Bitcoin Core's.
type litecoinRefusing struct{ *bitcoindtest.Litecoin }

func (n litecoinRefusing) Refusals(t testing.TB) []chaintest.Refusal {
	t.Helper()
	return []chaintest.Refusal{
		tooLittle(n.AddressOf(t, "bech32"), 2940), tooLittle(taproot, 3300),
		tooLittle(n.AddressOf(t, "p2sh-segwit"), 5400), tooLittle(n.AddressOf(t, "legacy"), 5460),
	}
}

type litecoinHarness struct {
	*nodeHarness
	node *bitcoindtest.Litecoin
}

func newLitecoinHarness(t *testing.T) litecoinHarness {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real litecoind")
	}
	t.Parallel()
	node := bitcoindtest.StartLitecoin(t)
	return litecoinHarness{tillOn(t, node.Node, openLitecoin(t, node.URL)), node}
}

// TestDustIsLitecoinCores checks that the node relays the adapter's minimum payment, and refuses one unit less.
func TestDustIsLitecoinCores(t *testing.T) {
	b := newLitecoinHarness(t)
	utxos := b.pay(10_000_000)
	for _, refusal := range (litecoinRefusing{b.node}).Refusals(t) {
		request := b.order(1, utxos...)
		request.Payments[0] = refusal.Payment
		var refused *chain.RefusedError
		if _, err := b.chain.Build(t.Context(), request); !errors.As(err, &refused) || !refused.Below {
			t.Fatalf("%s to %s: %v", refusal.Payment.Amount, refusal.Payment.Address, err)
		}
		request.Payments[0].Amount = more(t, refusal.Payment.Amount)
		_, tx := b.sign(request)
		b.broadcast(tx)
		b.node.Mine(t, 1)
		utxos = tx.Change
		utxos[0].Unconfirmed = false
	}
}

func more(t *testing.T, amount bursar.Amount) bursar.Amount {
	t.Helper()
	sum, err := amount.Add(bursar.Units(1))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestPegOutIsCreditedOnce moves value into the extension and pays two of our addresses out of it, once next to a usual
// payment. Nothing else in those blocks is ours, and the received UTXOs can be spent.
func TestPegOutIsCreditedOnce(t *testing.T) {
	b := newLitecoinHarness(t)
	second := b.watchAnother(7)
	b.node.PegIn(t, bursar.Units(3e8))
	b.node.Mine(t, 1)
	b.wantTransfers() // a peg-in is not a deposit, nor is the extension's balance that it increases

	waiting := b.node.PegOut(t, b.hot.Base, bursar.Units(1.5e8))
	if _, err := b.chain.Find(t.Context(), waiting); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("a pending peg-out is found in a block: %v, want %v", err, chain.ErrNoBlock)
	}
	b.wantTransfers()
	b.node.PegOut(t, second, bursar.Units(2.5e8))
	plain := b.node.Pay(t, chain.Payment{Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(4e8)})[0]
	b.node.Mine(t, 1)
	hogEx := b.node.HogEx(t)
	found := b.wantTransfers(
		chain.Transfer{TxID: plain, Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(4e8)},
		chain.Transfer{TxID: hogEx, Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(1.5e8)},
		chain.Transfer{TxID: hogEx, Address: bursar.Address{Base: second}, Amount: bursar.Units(2.5e8)},
	)
	found = append(found, b.spend(found[1]))
	b.node.Mine(t, 30)
	b.wantTransfers(found...) // the balance repeats in every block, its payments do not
}

// TestPegOutComesBackAfterReorg reorgs out the block of a peg-out. The payment returns in another transaction, since
// each block has its own HogEx; the adapter reads what the node has at any time.
func TestPegOutComesBackAfterReorg(t *testing.T) {
	b := newLitecoinHarness(t)
	waiting := b.node.PegOut(t, b.hot.Base, bursar.Units(1.5e8))
	b.node.Mine(t, 1)
	first := chain.Transfer{TxID: b.node.HogEx(t), Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(1.5e8)}
	b.wantTransfers(first)
	b.node.Reorg(t, 1, waiting)
	b.wantTransfers()
	if _, err := b.chain.Find(t.Context(), first.TxID); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("the HogEx of a reorged-out block is found: %v, want %v", err, chain.ErrNoBlock)
	}
	b.node.Resend(t, waiting)
	b.node.Mine(t, 1)
	again := first
	again.TxID = b.node.HogEx(t)
	b.wantTransfers(again)
	if got := b.node.Balance(t, b.hot.Base); again.TxID == first.TxID || got != first.Amount {
		t.Fatalf("the node reports %s in %s", got, again.TxID)
	}
}

// TestLitecoinNodeEvaluates sends transactions that a node without replacement must refuse. Only those that can never
// be valid are rejected.
func TestLitecoinNodeEvaluates(t *testing.T) {
	b := newLitecoinHarness(t)
	utxos := b.pay(10_000_000)
	lied := utxos[0]
	lied.Amount = bursar.Units(20_000_000)
	_, tx := b.sign(b.order(50_000, lied))
	if err := b.chain.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) {
		t.Errorf("a signature over a wrong amount: %v, want %v", err, chain.ErrRejected)
	}
	request := b.order(50_000, utxos...)
	first, tx := b.sign(request)
	b.broadcast(tx)
	b.broadcast(tx)
	request.Replaces = &first
	bumped, rival := b.sign(request)
	if !first.Fee.Less(bumped.Fee) {
		t.Fatalf("a fee of %s replaces %s, want a higher one", bumped.Fee, first.Fee)
	}
	err := b.chain.Broadcast(t.Context(), rival)
	if err == nil || errors.Is(err, chain.ErrRejected) || errors.Is(err, chain.ErrUnderpriced) ||
		!strings.Contains(err.Error(), "txn-mempool-conflict") {
		t.Errorf("a replacement: %v", err)
	}
	b.node.Mine(t, 1)
	b.broadcast(tx)
	if _, err := b.chain.Find(t.Context(), tx.TxID); err != nil {
		t.Error(err)
	}
}

// watchAnother watches a second address of ours.
func (b litecoinHarness) watchAnother(index uint32) string {
	b.t.Helper()
	ref := chain.KeyRef{Family: b.hot.Key.Family, Branch: chain.DepositBranch, Index: index}
	address, err := b.chain.Address(keys.Public(ref), 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.watch = chaintest.NewWatch(b.hot.Base, address.Base)
	return address.Base
}

// wantTransfers compares all transfers since the start, in any order within the block, by their identity.
func (b litecoinHarness) wantTransfers(want ...chain.Transfer) []chain.Transfer {
	b.t.Helper()
	blocks, err := b.chain.After(b.t.Context(), b.start, 500, b.watch)
	if err != nil {
		b.t.Fatal(err)
	}
	var got []chain.Transfer
	for _, block := range blocks {
		got = append(got, block.Transfers...)
	}
	for i, w := range want {
		for _, g := range got {
			if g.TxID == w.TxID && g.Address == w.Address && g.Amount == w.Amount {
				want[i] = g
			}
		}
		if want[i].UTXO == "" {
			b.t.Fatalf("%+v is missing in %+v", w, got)
		}
		if want[i].TxID == b.node.HogEx(b.t) && want[i].Output == 0 {
			b.t.Fatalf("the balance of the extension is credited: %+v", want[i])
		}
	}
	if len(got) != len(want) {
		b.t.Fatalf("transfers are %+v, want %+v", got, want)
	}
	return want
}

// spend pays an outsider from a peg-out and returns the change: the node accepts the transaction from the height on
// that the transfer names, and not a block earlier. Its fee is known although it spends an output of a HogEx.
func (b litecoinHarness) spend(pegOut chain.Transfer) chain.Transfer {
	b.t.Helper()
	head, err := b.chain.Head(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	built, tx := b.sign(b.order(1e8, chain.UTXO{Outpoint: pegOut.UTXO, Source: b.hot, Amount: pegOut.Amount}))
	for height := head.Latest.Height; height < pegOut.CountsFrom; height++ {
		if err := b.chain.Broadcast(b.t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
			b.t.Fatalf("at height %d, before %d: %v", height, pegOut.CountsFrom, err)
		}
		b.node.Mine(b.t, 1)
	}
	b.broadcast(tx)
	b.node.Mine(b.t, 1)
	blocks, err := b.chain.After(b.t.Context(), head.Latest, 500, b.watch)
	if err != nil {
		b.t.Fatal(err)
	}
	included := blocks[len(blocks)-1].Included
	if want := (chain.Inclusion{TxID: tx.TxID, Fee: built.Fee}); len(included) != 1 ||
		!reflect.DeepEqual(included[0], want) {
		b.t.Fatalf("included is %+v, want %+v", included, want)
	}
	return chain.Transfer{TxID: tx.TxID, Address: bursar.Address{Base: b.hot.Base}, Amount: tx.Change[0].Amount}
}
