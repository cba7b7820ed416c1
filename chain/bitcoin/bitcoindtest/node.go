package bitcoindtest

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func (n *Node) call(t testing.TB, client *rpc.Client, out any, method string, params ...any) {
	t.Helper()
	if err := client.Call(t.Context(), method, params, out); err != nil {
		t.Fatalf("%s %s: %v", n.software.name, method, err)
	}
}

// Call calls the node itself.
func (n *Node) Call(t testing.TB, out any, method string, params ...any) {
	t.Helper()
	n.call(t, n.rpc, out, method, params...)
}

// CallWallet calls the wallet of an outsider who owns the UTXOs of all blocks.
func (n *Node) CallWallet(t testing.TB, out any, method string, params ...any) {
	t.Helper()
	n.call(t, n.wallet, out, method, params...)
}

func (n *Node) fund(t testing.TB) {
	t.Helper()
	n.createWallet(t, wallet)
	n.Mine(t, n.software.matured)
}

func (n *Node) createWallet(t testing.TB, name string) {
	t.Helper()
	const loadOnStartup = true
	n.Call(t, nil, "createwallet", name, false, false, "", false, n.software.descriptors, loadOnStartup)
}

// Mine adds blocks whose rewards go to a new address of the outsider, so that blocks with the same parent differ.
func (n *Node) Mine(t testing.TB, blocks int) {
	t.Helper()
	n.MineTo(t, blocks, n.Outsider(t))
}

// MineTo adds blocks whose rewards go to an address.
func (n *Node) MineTo(t testing.TB, blocks int, address string) {
	t.Helper()
	n.Call(t, nil, "generatetoaddress", blocks, address)
	n.Call(t, nil, "syncwithvalidationinterfacequeue")
}

// Finalize mines until a transaction in a block has the adapter's default number of confirmations.
func (n *Node) Finalize(t testing.TB) {
	t.Helper()
	n.Mine(t, n.software.confirmations)
}

// Outsider returns a new address of the node's own wallet.
func (n *Node) Outsider(t testing.TB) string {
	t.Helper()
	return n.AddressOf(t, "bech32")
}

// AddressOf returns a new address of one of the node's kinds: "legacy", "p2sh-segwit", "bech32" or bitcoind's
// "bech32m".
func (n *Node) AddressOf(t testing.TB, kind string) string {
	t.Helper()
	var address string
	n.call(t, n.wallet, &address, "getnewaddress", "", kind)
	return address
}

// Pay sends one transaction with an output for each payment.
func (n *Node) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	bare := wire.NewMsgTx(2)
	for _, payment := range payments {
		value, _ := payment.Amount.Uint64()
		script, err := hex.DecodeString(n.Script(t, payment.Address.Base))
		if err != nil || len(script) == 0 {
			t.Fatalf("%s has no script for %q (%v)", n.software.name, payment.Address.Base, err)
		}
		bare.AddTxOut(wire.NewTxOut(int64(value), script))
	}
	return slices.Repeat([]string{n.send(t, bare)}, len(payments))
}

// MineOutputs mines a block with one transaction that has exactly these outputs, including outputs that no node would
// relay.
func (n *Node) MineOutputs(t testing.TB, outputs ...*wire.TxOut) string {
	t.Helper()
	bare := wire.NewMsgTx(2)
	bare.TxOut = outputs
	signed := n.sign(t, bare)
	n.Call(t, nil, "generateblock", n.Outsider(t), []string{signed})
	n.Call(t, nil, "syncwithvalidationinterfacequeue")
	var decoded struct {
		ID string `json:"txid"`
	}
	n.Call(t, &decoded, "decoderawtransaction", signed)
	return decoded.ID
}

// Script asks the node, not the adapter, for the script that pays an address, in hexadecimal.
func (n *Node) Script(t testing.TB, address string) string {
	t.Helper()
	var info struct {
		Script string `json:"scriptPubKey"`
	}
	n.Call(t, &info, "validateaddress", address)
	return info.Script
}

// send makes the wallet fund and sign a transaction, and the node relay it.
func (n *Node) send(t testing.TB, bare *wire.MsgTx) string {
	t.Helper()
	var id string
	n.Call(t, &id, "sendrawtransaction", n.sign(t, bare))
	return id
}

// sign makes the wallet fund and sign a transaction. The wallet itself does not broadcast.
func (n *Node) sign(t testing.TB, bare *wire.MsgTx) string {
	t.Helper()
	var raw bytes.Buffer
	if err := bare.SerializeNoWitness(&raw); err != nil {
		t.Fatalf("serialise: %v", err)
	}
	var funded, signed struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	place := map[string]any{"changePosition": len(bare.TxOut)}
	const isWitness = false
	n.call(t, n.wallet, &funded, "fundrawtransaction", hex.EncodeToString(raw.Bytes()), place, isWitness)
	n.call(t, n.wallet, &signed, "signrawtransactionwithwallet", funded.Hex)
	return signed.Hex
}

// Reorg invalidates the last blocks, sends their transactions again except the dropped ones, and mines one block more.
// To forget a transaction it restarts the node, since nothing else removes one from the mempool.
func (n *Node) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	var height int
	n.Call(t, &height, "getblockcount")
	var waiting []string
	for h := height - depth + 1; h <= height; h++ {
		waiting = append(waiting, n.transactionsAt(t, h, drop)...)
	}
	n.Call(t, nil, "invalidateblock", n.hashAt(t, height-depth+1))
	if len(drop) > 0 {
		n.restart(t)
	}
	for _, raw := range waiting {
		n.Call(t, nil, "sendrawtransaction", raw)
	}
	n.Mine(t, depth+1)
}

func (n *Node) hashAt(t testing.TB, height int) string {
	t.Helper()
	var hash string
	n.Call(t, &hash, "getblockhash", height)
	return hash
}

// transactionsAt returns a block's transactions except the coinbase, Litecoin's HogEx, which the miner also makes, and
// the dropped ones.
func (n *Node) transactionsAt(t testing.TB, height int, drop []string) []string {
	t.Helper()
	var block struct {
		Txs []struct {
			ID      string `json:"txid"`
			Hex     string `json:"hex"`
			Outputs []struct {
				Script struct {
					Type string `json:"type"`
				} `json:"scriptPubKey"`
			} `json:"vout"`
		} `json:"tx"`
	}
	n.Call(t, &block, "getblock", n.hashAt(t, height), 2)
	var kept []string
	for _, tx := range block.Txs[1:] {
		if !slices.Contains(drop, tx.ID) && tx.Outputs[0].Script.Type != "witness_mweb_hogaddr" {
			kept = append(kept, tx.Hex)
		}
	}
	return kept
}

// Balance returns the sum that the node finds for an address among all unspent outputs.
func (n *Node) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	var scan struct {
		Total jsontext.Value `json:"total_amount"`
	}
	n.Call(t, &scan, "scantxoutset", "start", []string{"addr(" + address + ")"})
	total, err := bursar.ParseDecimal(string(scan.Total), 8)
	if err != nil {
		t.Fatalf("balance of %s: %v", address, err)
	}
	return total
}
