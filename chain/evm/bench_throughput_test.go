package evm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// blockServer answers like a node with many blocks of mainnet's size, assembled from the pieces of one.
type blockServer struct {
	tb              testing.TB
	height          uint64
	block, receipts *pieces
	traces          []byte
	traced          bool
	heights         map[string]uint64 // by hash
}

// pieces is text with placeholders for a block's hash, its parent's hash and its height.
type pieces struct {
	text []string
	what []byte // 'h', 'p' or 'n' after each text except the last
}

// The placeholders of the block that is cut to pieces.
var placeholders = map[string]byte{fakeHash("block", 1): 'h', fakeHash("block", 0): 'p', `"number":"0x1"`: 'n'}

func cutPieces(raw []byte) *pieces {
	p, rest := &pieces{}, string(raw)
	for {
		first, found := len(rest), ""
		for name := range placeholders {
			if at := strings.Index(rest, name); at >= 0 && at < first {
				first, found = at, name
			}
		}
		p.text = append(p.text, rest[:first])
		if found == "" {
			return p
		}
		p.what = append(p.what, placeholders[found])
		rest = rest[first+len(found):]
	}
}

func (p *pieces) write(w *bytes.Buffer, height uint64) {
	hash, parent := fakeHash("block", int(height)), fakeHash("block", int(height)-1)
	for i, text := range p.text {
		w.WriteString(text)
		if i == len(p.what) {
			return
		}
		switch p.what[i] {
		case 'h':
			w.WriteString(hash)
		case 'p':
			w.WriteString(parent)
		case 'n':
			w.WriteString(`"number":"` + quantity(height).hex() + `"`)
		}
	}
}

func newBlockServer(tb testing.TB, blocks uint64) *blockServer {
	block, receipts, traces := busyBlock(tb, plainPayment(),
		fakeTx{to: fakeToken, input: "0x01", logs: []object{transferLog(fakeOurs, 5)}})
	s := &blockServer{tb: tb, height: blocks, block: cutPieces(block), receipts: cutPieces(receipts), traces: traces,
		traced: true, heights: map[string]uint64{}}
	for height := range blocks + 1 {
		s.heights[fakeHash("block", int(height))] = height
	}
	return s
}

func (s *blockServer) ref(height uint64) chain.BlockRef {
	return chain.BlockRef{Height: height, Hash: fakeHash("block", int(height))}
}

func (s *blockServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var list []fakeRequest
	var one fakeRequest
	var out bytes.Buffer
	if json.Unmarshal(raw, &list) == nil {
		for i, request := range list {
			out.WriteByte("[,"[min(i, 1)])
			s.answer(&out, request)
		}
		out.WriteByte(']')
	} else if err := json.Unmarshal(raw, &one); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	} else {
		s.answer(&out, one)
	}
	_, _ = w.Write(out.Bytes()) // the client has gone
}

func (s *blockServer) answer(w *bytes.Buffer, r fakeRequest) {
	w.WriteString(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,`)
	defer w.WriteByte('}')
	switch r.Method {
	case "eth_chainId":
		w.WriteString(`"result":"0x1"`)
	case "eth_syncing":
		w.WriteString(`"result":false`)
	case "eth_blockNumber":
		w.WriteString(`"result":"` + quantity(s.height).hex() + `"`)
	case "eth_getBlockByNumber":
		w.WriteString(`"result":`)
		s.writeBlock(w, r.Params[0].(string), r.Params[1].(bool))
	case "eth_getBlockReceipts":
		w.WriteString(`"result":`)
		s.receipts.write(w, uint64(s.number(r.Params[0].(string))))
	case "eth_getBalance": // seven more with each block
		state, _ := r.Params[1].(map[string]any)
		w.WriteString(`"result":"` + quantity(7*s.heights[fmt.Sprint(state["blockHash"])]).hex() + `"`)
	case "debug_traceBlockByHash":
		if s.traced {
			w.WriteString(`"result":`)
			w.Write(s.traces)
			return
		}
		fallthrough
	default:
		w.WriteString(`"error":{"code":-32601,"message":"the method does not exist/is not available"}`)
	}
}

func (s *blockServer) number(text string) (height quantity) {
	switch text {
	case "latest":
		return quantity(s.height)
	case "finalized":
		return quantity(s.height - min(s.height, 64))
	}
	if err := decode([]byte(`"`+text+`"`), &height); err != nil {
		s.tb.Errorf("asked for %q", text)
	}
	return height
}

func (s *blockServer) writeBlock(w *bytes.Buffer, name string, whole bool) {
	height := s.number(name)
	if whole {
		s.block.write(w, uint64(height))
		return
	}
	short, _ := json.Marshal(object{ // of texts
		"number": height.hex(), "hash": fakeHash("block", int(height)), "parentHash": fakeHash("block", int(height)-1),
		"timestamp": "0x6b00f996", "baseFeePerGas": "0x3b9aca00",
	})
	w.Write(short)
}

// foldedWatch is a watch as the service has it.
type foldedWatch struct {
	*chaintest.Watch
	lower map[string]bool
}

func (w foldedWatch) PaysFolded(lower []byte) bool { return w.lower[string(lower)] }

// BenchmarkThroughput follows blocks of 250 transactions and 1.15 MB: each chain at its own pace, Ethereum also through
// an endpoint that does not trace.
func BenchmarkThroughput(b *testing.B) {
	for _, test := range []struct {
		name   string
		pace   time.Duration
		traced bool
	}{
		{"ethereum", 12 * time.Second, true},
		{"bsc", 450 * time.Millisecond, true},
		{"bsc-untraced", 450 * time.Millisecond, false},
		{"polygon", 1750 * time.Millisecond, true},
	} {
		b.Run(test.name, func(b *testing.B) {
			const blocks = 256
			node := newBlockServer(b, blocks)
			node.traced = test.traced
			watch := foldedWatch{fakeWatch(), map[string]bool{fakeOurs: true, fakeOther: true}}
			chaintest.Throughput{
				Node: node, From: node.ref(0), Blocks: blocks, Pace: test.pace, Watch: watch, Transfers: 2 * blocks,
				Open: func(b *testing.B, urls []string) chain.Blocks {
					cfg := Ethereum()
					cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
					c, err := New(cfg, rpc.Config{URLs: urls})
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(c.Close)
					return c
				},
			}.Run(b)
		})
	}
}
