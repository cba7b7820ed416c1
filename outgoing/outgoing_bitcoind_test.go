package outgoing_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/service/follower"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// bitcoindHarness is the follower and the sender on a real bitcoind, driven step by step.
type bitcoindHarness struct {
	*harness
	node  *bitcoindtest.Node
	chain *bitcoin.Chain
}

// newBitcoindHarness starts a bitcoind (Bitcoin Core 29.5 in the tests' installation) and everything that works on it,
// on SQLite.
func newBitcoindHarness(t *testing.T) *bitcoindHarness {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	over := bursartest.Over(t, storetest.Open(t, storetest.SQLite(t)))
	b := &bitcoindHarness{harness: &harness{&bursartest.OneChain{Database: over}},
		node: bitcoindtest.Start(t)}
	network, err := bitcoin.Bitcoin("regtest")
	b.Must(err)
	node := rpc.Config{URLs: []string{b.node.URL}, MinPause: time.Millisecond}
	b.chain, err = bitcoin.New(bitcoin.Config{ID: bursar.Bitcoin, Network: network, Node: node, Confirmations: 3})
	b.Must(err)
	t.Cleanup(b.chain.Close)
	b.Currency = bursar.Currency{Code: "BTC", Chain: bursar.Bitcoin, Decimals: 8, Places: 8,
		Minimum: bursar.Units(1000), WithdrawalMinimum: bursar.Units(1000)}
	b.Registry, err = bursar.NewRegistry([]bursar.Currency{b.Currency})
	b.Must(err)
	b.Keys, err = bursartest.ZeroKeys()
	b.Must(err)
	b.open()
	return b
}

func (b *bitcoindHarness) open() {
	b.T.Helper()
	capabilities, maxFee := b.chain.Capabilities(), bursar.Units(10_000_000)
	public, err := b.Keys.Public(chain.Hot(capabilities.Family))
	b.Must(err)
	address, err := b.chain.Address(public, 0)
	b.Must(err)
	b.Hot = chain.Source{Key: chain.Hot(capabilities.Family), Base: address.Base}
	b.Signer, err = signer.New(b.Keys.Keys, map[bursar.ChainID]signer.Bounds{
		capabilities.ID: {Capabilities: capabilities, Signable: b.chain, MaxFee: maxFee}})
	b.Must(err)
	for i := range byte(2) {
		id := bursar.ID{0: 1, 15: i}
		b.Accounts = append(b.Accounts, id)
		b.AddAccount(bursar.Account{ID: id})
	}
	b.Lease = b.AcquireLease(capabilities.ID, "bank")
	log := slog.New(slog.DiscardHandler)
	b.Follower = follower.Follow(follower.Following{DB: b.DB, Chain: b.chain, Registry: b.Registry, IDs: b.IDs,
		Log: log,
		Hot: b.Hot.Base, OperatorAddress: b.Hot.Base})
	b.Sender = outgoing.NewSender(outgoing.Config{DB: b.DB, Chain: b.chain, Signer: b.Signer,
		Registry: b.Registry, IDs: b.IDs, Log: log,
		Hot: b.Hot, MaxFee: maxFee, ConsolidateAbove: 1000})
	b.Wallets = wallet.NewService(b.DB, b.Keys, map[bursar.ChainID]wallet.Chain{capabilities.ID: b.chain}, b.Registry,
		b.IDs, netpolicy.Receivers{})
	b.Withdrawals = withdrawal.NewService(withdrawal.Config{DB: b.DB,
		Hot:    map[bursar.ChainID]string{capabilities.ID: b.Hot.Base},
		Chains: map[bursar.ChainID]withdrawal.Chain{capabilities.ID: b.chain}, Registry: b.Registry, IDs: b.IDs,
		Log:   log,
		Leave: outgoing.EndCancelled})
	b.round()
}

// round lets the follower catch up and the sender take a step.
func (b *bitcoindHarness) round() {
	b.T.Helper()
	b.CatchUp()
	b.Must(b.Sender.Step(ctx, b.Lease))
}

// mine mines blocks one by one, with a round after each.
func (b *bitcoindHarness) mine(blocks int) {
	b.T.Helper()
	for range blocks {
		b.node.Mine(b.T, 1)
		b.round()
	}
}

// paid makes the node pay amounts to a new wallet of an account, each in an output of its own, and returns the
// transactions.
func (b *bitcoindHarness) paid(account int, amounts ...uint64) []string {
	b.T.Helper()
	w := b.WalletOf(account, "BTC")
	b.round()
	var payments []chain.Payment
	for _, amount := range amounts {
		payments = append(payments, chain.Payment{Address: w.Address, Amount: bursar.Units(amount)})
	}
	return b.node.Pay(b.T, payments...)
}

// ordered requests a withdrawal of an account.
func (b *bitcoindHarness) ordered(account int, amount, to string) bursar.Withdrawal {
	b.T.Helper()
	w, err := b.Withdrawals.Request(ctx, withdrawal.Request{Account: b.Accounts[account], Currency: "BTC", Amount: amount,
		Address: to})
	b.Must(err)
	return w
}

// inputs returns the outputs that a transaction of the node's mempool or chain spends.
func (b *bitcoindHarness) inputs(txID string) (list []outpoint) {
	b.T.Helper()
	var tx struct {
		Inputs []outpoint `json:"vin"`
	}
	b.node.Call(b.T, &tx, "getrawtransaction", txID, true)
	return tx.Inputs
}

type outpoint struct {
	TxID string `json:"txid"`
	Vout int    `json:"vout"`
}

// balanced compares the books with what the node reports.
func (b *bitcoindHarness) balanced() {
	b.T.Helper()
	lines, err := (&reconcile.Reconciler{DB: b.DB, Chain: b.chain, Registry: b.Registry, Hot: b.Hot.Base}).Run(ctx)
	b.Must(err)
	for _, l := range lines {
		if !l.Balanced() {
			b.T.Errorf("the books and the node differ: %+v", l)
		}
	}
}

// A payer undoes a deposit by a reorg and spends its UTXOs again, after the deposit was used in somebody else's
// withdrawal. Once a real node has made the second transaction final, the withdrawal's transaction is proven never to
// be included and another one pays it, once.
func TestADepositThatIsSpentAgainOnARealNode(t *testing.T) {
	b := newBitcoindHarness(t)
	small := make([]uint64, 20)
	for i := range small {
		small[i] = 10_000_000
	}
	b.paid(1, small...)
	b.mine(4)
	large := b.paid(0, 500_000_000)[0]
	funds := b.inputs(large)
	b.mine(4)
	to := b.node.Outsider(t)
	w := b.ordered(1, "1.9", to)
	b.round()
	first := b.Now(w)
	if first.TxID == "" {
		t.Fatalf("nothing was sent: %+v", first)
	}
	over := false
	for _, in := range b.inputs(first.TxID) {
		over = over || in.TxID == large
	}
	if !over {
		t.Fatalf("the withdrawal does not spend the deposit: %v", b.inputs(first.TxID))
	}
	b.node.Reorg(t, 4, large)
	b.round()
	b.mine(4)
	if got := b.Now(w); got.OutgoingID != first.OutgoingID {
		t.Fatalf("it was given up for a deposit that may be included again: %+v", got)
	}
	b.spendAgain(funds)
	b.mine(2)
	if got := b.Now(w); got.OutgoingID != first.OutgoingID {
		t.Fatalf("it was given up before the second spend was final: %+v, want %v", got, first.OutgoingID)
	}
	b.mine(8)
	got := b.Now(w)
	if got.Status != bursar.WithdrawalConfirmed || got.OutgoingID == first.OutgoingID || got.TxID == first.TxID {
		t.Errorf("it is %+v, first paid by %s", got, first.TxID)
	}
	if held := b.node.Balance(t, to); held != w.Amount {
		t.Errorf("the receiver holds %s, want %s", held, w.Amount)
	}
	b.balanced()
}

func (b *bitcoindHarness) utxos() (n int) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		n, err = tx.UTXOs().Count(ctx, bursar.Bitcoin, 1<<40, 1<<20)
		return err
	})
	return n
}

// spendAgain makes the node's wallet send the value of some outputs to somebody else.
func (b *bitcoindHarness) spendAgain(funds []outpoint) {
	b.T.Helper()
	var bare string
	var signed struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	var sum bursar.Amount
	for _, in := range funds {
		var source struct {
			Outputs []struct {
				Value jsontext.Value `json:"value"`
			} `json:"vout"`
		}
		b.node.Call(b.T, &source, "getrawtransaction", in.TxID, true)
		value, err := bursar.ParseDecimal(string(source.Outputs[in.Vout].Value), 8)
		b.Must(err)
		sum, err = sum.Add(value)
		b.Must(err)
	}
	left := jsontext.Value(sum.SubOrZero(bursar.Units(100_000)).Decimal(8, 8))
	b.node.Call(b.T, &bare, "createrawtransaction", funds, []any{map[string]any{b.node.Outsider(b.T): left}})
	b.node.CallWallet(b.T, &signed, "signrawtransactionwithwallet", bare)
	if !signed.Complete {
		b.T.Fatal("the second spend is not signed")
	}
	b.node.Call(b.T, nil, "sendrawtransaction", signed.Hex, 0)
}

// Many small deposits are consolidated by a transaction that a real node confirms, and a withdrawal is paid from the
// result.
func TestAConsolidationOnARealNode(t *testing.T) {
	b := newBitcoindHarness(t)
	b.Sender.ConsolidateAbove = 20
	small := make([]uint64, 40)
	for i := range small {
		small[i] = 1_000_000
	}
	b.paid(1, small...)
	b.mine(1)
	if n := b.utxos(); n != 40 {
		t.Fatalf("%d UTXOs, want 40", n)
	}
	b.mine(8)
	if n := b.utxos(); n != 1 {
		t.Errorf("%d UTXOs are left of 40, want 1", n)
	}
	home := b.node.Balance(t, b.Hot.Base)
	if home.Less(bursar.Units(39_900_000)) || bursar.Units(40_000_000).Less(home) {
		t.Errorf("the node finds %s at the hot wallet", home)
	}
	b.balanced()
	to := b.node.Outsider(t)
	w := b.ordered(1, "0.3", to)
	b.mine(5)
	if got := b.Now(w); got.Status != bursar.WithdrawalConfirmed {
		t.Errorf("the withdrawal is %s: %s, want %s", got.Status, got.Error, bursar.WithdrawalConfirmed)
	}
	if held := b.node.Balance(t, to); held != w.Amount {
		t.Errorf("the receiver holds %s, want %s", held, w.Amount)
	}
	b.balanced()
}
