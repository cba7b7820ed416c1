package bitcoin

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// spender is a customer with a key of its own, outside the node.
type spender struct {
	*wallet
	node    *Node
	address string
}

func newSpender(t *testing.T, n *Node, name string) *spender {
	t.Helper()
	w := newWallet([]byte(name))
	return &spender{w, n, scriptAddress(w.scripts[0], n.params)}
}

// funded is a spender with a confirmed UTXO.
func funded(t *testing.T, n *Node, name string, amount int64) (*spender, point) {
	t.Helper()
	s := newSpender(t, n, name)
	id := pay(t, n, s.address, amount)
	mine(t, n, 1)
	return s, s.utxo(t, id)
}

// point is a UTXO that a spender can spend.
type point struct {
	at    wire.OutPoint
	value int64
}

// utxo finds the output of a transaction that pays the spender.
func (s *spender) utxo(t *testing.T, id string) point {
	t.Helper()
	hash, err := chainhash.NewHashFromStr(id)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(must[string](t, s.node, "getrawtransaction", id))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := decodeTx(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range tx.MsgTx().TxOut {
		if bytes.Equal(out.PkScript, s.scripts[0]) {
			return point{wire.OutPoint{Hash: *hash, Index: uint32(i)}, out.Value}
		}
	}
	t.Fatalf("%s does not pay the spender", id)
	return point{}
}

// spend signs a transaction that pays the whole UTXO less fee to an address.
func (s *spender) spend(t *testing.T, c point, to string, fee int64, sequence uint32) string {
	t.Helper()
	script, err := addressScript(to, s.node.params)
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	in := wire.NewTxIn(&c.at, nil, nil)
	in.Sequence = sequence
	tx.AddTxIn(in)
	tx.AddTxOut(wire.NewTxOut(c.value-fee, script))
	if err := s.sign(tx, []*utxo{{value: c.value, script: s.scripts[0]}}); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(encodeTx(tx))
}
