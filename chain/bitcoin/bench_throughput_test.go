package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// blockServer serves a chain of full blocks from prepared bytes: the parts in which blocks differ, and the transactions
// that all of them share.
type blockServer struct {
	*fakeNode
	begins map[string][]byte // by hash: header, number of transactions and coinbase, in hexadecimal
	rest   []byte
}

// newBlockServer makes full blocks of 4,000 transactions, 1.7 MB each. In each, the coinbase pays us.
func newBlockServer(b *testing.B, count int) (*blockServer, string) {
	b.Helper()
	s := &blockServer{fakeNode: newFake(), begins: map[string][]byte{}}
	c := open(b, s.fakeNode)
	ours := source(b, c, 0).Base
	shared := randomBlock(5, 4000).Transactions[1:]
	var all bytes.Buffer
	for _, tx := range shared {
		all.Write(serialise(tx))
	}
	s.rest = []byte(hex.EncodeToString(all.Bytes()))
	for i := range count {
		coinbase := wire.NewMsgTx(1)
		coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1<<32 - 1},
			SignatureScript: []byte{byte(i), 1, 1}})
		coinbase.AddTxOut(wire.NewTxOut(50e8, script(b, c, ours)))
		block := s.append(append([]*wire.MsgTx{coinbase}, shared...))
		whole := serialise(block)
		s.begins[block.BlockHash().String()] = []byte(hex.EncodeToString(whole[:len(whole)-all.Len()]))
	}
	return s, ours
}

func (s *blockServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	var call fakeCall
	if json.Unmarshal(text, &call) == nil && call.Method == "getblock" {
		begin := s.begins[call.Params[0].(string)]
		for _, part := range [][]byte{[]byte(`{"result":"`), begin, s.rest, []byte(`","error":null,"id":`), call.ID,
			[]byte("}")} {
			_, _ = w.Write(part) // the client checks what arrives
		}
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	answer, err := s.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(w, answer.Body)
}

func BenchmarkThroughput(b *testing.B) {
	const blocks = 64
	node, ours := newBlockServer(b, blocks)
	chaintest.Throughput{
		Node:      node,
		From:      node.ref(0),
		Blocks:    blocks,
		Pace:      10 * time.Minute,
		Watch:     chaintest.NewWatch(ours),
		Transfers: blocks,
		Open: func(b *testing.B, urls []string) chain.Blocks {
			return open(b, node.fakeNode, func(cfg *Config) { cfg.Node = rpc.Config{URLs: urls} })
		},
	}.Run(b)
}
