package xrpl

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// ledgerServer serves a chain from prepared bytes: each ledger's header, and the transactions that all of them share.
type ledgerServer struct {
	info    []byte
	headers [][]byte // up to the transactions
	txs     []byte   // and everything after them
}

// newLedgerServer makes ledgers of a busy mainnet's size: 250 transactions, 1 MB. In each, one payment is ours.
func newLedgerServer(b *testing.B, count int) (*ledgerServer, chain.BlockRef) {
	b.Helper()
	f := &fake{}
	f.add()
	whole := f.add(busyLedger()...)
	s := &ledgerServer{txs: append(encoded(b, whole["transactions"]), "}}}"...)}
	f.ledgers = f.ledgers[:1]
	for i := range count + 1 {
		if i > 0 {
			l := f.add()
			l["transaction_hash"] = whole["transaction_hash"]
			reseal(l)
		}
		header := maps.Clone(f.ledgers[i])
		delete(header, "transactions")
		fields := bytes.TrimSuffix(encoded(b, header), []byte("}"))
		s.headers = append(s.headers, slices.Concat([]byte(`{"result":{"status":"success","validated":true,"ledger":`),
			fields, []byte(`,"transactions":`)))
	}
	info := f.usual("server_info", nil)
	info["status"] = "success"
	s.info = encoded(b, object{"result": info})
	return s, f.ref(0)
}

func encoded(b *testing.B, value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

func (s *ledgerServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Method string
		Params []struct {
			Index int `json:"ledger_index"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || len(ask.Params) != 1 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	answer := [][]byte{s.info}
	if ask.Method == "ledger" {
		answer = [][]byte{s.headers[ask.Params[0].Index-first], s.txs}
	}
	for _, part := range answer {
		_, _ = w.Write(part) // the client checks what arrives
	}
}

func BenchmarkThroughput(b *testing.B) {
	const blocks = 128
	node, from := newLedgerServer(b, blocks)
	chaintest.Throughput{
		Node:      node,
		From:      from,
		Blocks:    blocks,
		Pace:      3900 * time.Millisecond,
		Watch:     chaintest.NewWatch(ours),
		Transfers: blocks,
		Gzip:      true,
		Open: func(b *testing.B, urls []string) chain.Blocks {
			c, err := New(Config{ID: bursar.XRPL, Network: Private}, rpc.Config{URLs: urls})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			return c
		},
	}.Run(b)
}
