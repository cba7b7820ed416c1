package bitcoindtest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// shadow is a wallet whose UTXOs are all in the extension blocks.
const shadow = "shadow"

// extended is the height from which regtest has extension blocks. The block at that height must contain the first
// peg-in.
const extended = 432

func litecoind() software {
	return software{
		name: "litecoind", override: "BURSAR_LITECOIND", places: []string{"/usr/lib/litecoin/litecoind"},
		// A stop waits until kept-alive connections time out.
		options: []string{"-rpcservertimeout=3"}, matured: extended - 1, confirmations: 24,
		prepare: fundExtension, copied: true,
	}
}

// Litecoin is a litecoind whose chain has extension blocks (MWEB) that contain UTXOs of the outsider.
type Litecoin struct {
	*Node
	shadow *rpc.Client
}

// StartLitecoin runs a litecoind until the end of the test.
func StartLitecoin(t testing.TB) *Litecoin {
	t.Helper()
	return extend(t, start(t, litecoind()))
}

func extend(t testing.TB, n *Node) *Litecoin {
	t.Helper()
	shadow, err := n.clientOf(shadow)
	if err != nil {
		t.Fatal(err)
	}
	return &Litecoin{n, shadow}
}

// fundExtension begins the extension blocks with UTXOs of the outsider.
func fundExtension(t testing.TB, n *Node) {
	t.Helper()
	n.fund(t)
	n.createWallet(t, shadow)
	extend(t, n).PegIn(t, bursar.Units(10e8))
	n.Mine(t, 1)
}

// PegIn sends UTXOs of the outsider into the extension, and returns the transaction.
func (n *Litecoin) PegIn(t testing.TB, amount bursar.Amount) string {
	t.Helper()
	var address string
	n.call(t, n.shadow, &address, "getnewaddress", "", "mweb")
	return n.sendFrom(t, n.wallet, address, amount)
}

// PegOut pays an address from the extension. It returns the unconfirmed transaction, of which a block contains only the
// payment: as an output of the block's last transaction.
func (n *Litecoin) PegOut(t testing.TB, address string, amount bursar.Amount) string {
	t.Helper()
	return n.sendFrom(t, n.shadow, address, amount)
}

// Resend makes the node accept a peg-out again that it forgot in a reorg.
func (n *Litecoin) Resend(t testing.TB, id string) {
	t.Helper()
	n.relay(t, n.shadow, id)
}

// HogEx returns the last transaction of the newest block.
func (n *Litecoin) HogEx(t testing.TB) string {
	t.Helper()
	var best string
	var block struct {
		Txs []string `json:"tx"`
	}
	n.Call(t, &best, "getbestblockhash")
	n.Call(t, &block, "getblock", best, 1)
	return block.Txs[len(block.Txs)-1]
}

// sendFrom makes a payment with a wallet that does not broadcast, and gives the transaction to the node.
func (n *Litecoin) sendFrom(t testing.TB, from *rpc.Client, address string, amount bursar.Amount) string {
	t.Helper()
	var id string
	n.call(t, from, &id, "sendtoaddress", address, amount.Decimal(8, 8))
	n.relay(t, from, id)
	return id
}

func (n *Litecoin) relay(t testing.TB, from *rpc.Client, id string) {
	t.Helper()
	var made struct {
		Hex string `json:"hex"`
	}
	n.call(t, from, &made, "gettransaction", id)
	n.Call(t, nil, "sendrawtransaction", made.Hex)
}
