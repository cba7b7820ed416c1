package solana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// A heavy block of mainnet, in the composition that was measured there: in 400 ms 800 transactions of validators and
// 900 others, which is 400 and 450 in the 214 ms that a slot takes today. A validator's has 3 keys, 2 log lines and one
// instruction. Each other transaction has 12 to 28 keys (in two of three transactions a third of them come from
// tables), 8 token balances before and after, 4 instructions, 10 inner ones and 25 log lines; one of eight is of
// version 1. Members are in alphabetical order, as Agave's serializer writes them, and none is omitted.
const (
	busyVotes  = 400
	busyOthers = 450
)

// busy makes the transactions of one block.
type busy struct{ random *rand.Rand }

func (b busy) text(n int) string {
	var raw [64]byte
	for i := range raw {
		raw[i] = byte(b.random.UintN(256))
	}
	return encode58(raw[:n])
}

func (b busy) vote() object {
	keys := []string{b.text(32), b.text(32), "Vote111111111111111111111111111111111111111"}
	return object{
		"meta": object{"computeUnitsConsumed": 2100, "costUnits": 3428, "err": nil, "fee": 5000, "innerInstructions": []any{},
			"loadedAddresses": object{"readonly": []any{}, "writable": []any{}},
			"logMessages": []string{"Program Vote111111111111111111111111111111111111111 invoke [1]",
				"Program Vote111111111111111111111111111111111111111 success"},
			"postBalances": []uint64{9_120_432_110, 27_074_400, 1}, "postTokenBalances": []any{},
			"preBalances":      []uint64{9_120_437_110, 27_074_400, 1},
			"preTokenBalances": []any{}, "rewards": nil, "status": object{"Ok": nil}},
		"transaction": object{"message": object{"accountKeys": keys,
			"header": object{"numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": 1, "numRequiredSignatures": 1},
			"instructions": []any{object{"accounts": []int{1, 0}, "data": b.text(64) + b.text(64), "programIdIndex": 2,
				"stackHeight": 1}}, "recentBlockhash": b.text(32)},
			"signatures": []string{b.text(64)}},
		"version": "legacy",
	}
}

func (b busy) token(place int) object {
	return object{"accountIndex": place, "mint": b.text(32), "owner": b.text(32), "programId": tokenPrograms[0],
		"uiTokenAmount": object{"amount": "102344567890", "decimals": 6, "uiAmount": 102344.56789,
			"uiAmountString": "102344.56789"}}
}

func (b busy) instruction(height int) object {
	return object{"accounts": []int{1, 4, 7, 2, 9, 3, 0, 11}, "data": b.text(64)[:60], "programIdIndex": 8,
		"stackHeight": height}
}

func (b busy) other(nth int) object {
	static, writable, readonly := 12+b.random.IntN(17), 0, 0
	if nth%3 > 0 && nth%8 > 0 {
		writable, readonly = static/6, static/6
		static -= writable + readonly
	}
	list := func(n int) []string {
		keys := []string{}
		for range n {
			keys = append(keys, b.text(32))
		}
		return keys
	}
	var before, after []uint64
	for i := range static + writable + readonly {
		before, after = append(before, 2_039_280+b.random.Uint64N(1<<36)), append(after, 0)
		after[i] = before[i]
	}
	after[0] -= 25_000
	after[1], after[2] = after[1]-1_000_000, after[2]+1_000_000
	var tokens, inner, instructions []any
	var logs []string
	for i := range 8 {
		tokens = append(tokens, b.token(i+1))
	}
	for range 10 {
		inner = append(inner, b.instruction(2))
	}
	for range 4 {
		instructions = append(instructions, b.instruction(1))
	}
	for range 25 {
		logs = append(logs, "Program "+b.text(32)+" consumed 18447 of 569721 compute units")
	}
	message := object{"accountKeys": list(static),
		"header":       object{"numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": 4, "numRequiredSignatures": 1},
		"instructions": instructions, "recentBlockhash": b.text(32)}
	version := 0
	if nth%8 == 0 {
		version = 1
		message["transactionConfig"] = object{"computeUnitLimit": 600_000, "loadedAccountsDataSizeLimit": mostLoaded,
			"priorityFee": 20_000}
	} else {
		places := func(n int) []int { return slices.Repeat([]int{7}, n) }
		message["addressTableLookups"] = []any{object{"accountKey": b.text(32), "readonlyIndexes": places(readonly),
			"writableIndexes": places(writable)}}
	}
	return object{
		"meta": object{"computeUnitsConsumed": 171_002, "costUnits": 181_305, "err": nil, "fee": 25_000,
			"innerInstructions": []any{object{"index": 2, "instructions": inner}},
			"loadedAddresses":   object{"readonly": list(readonly), "writable": list(writable)}, "logMessages": logs,
			"postBalances": after, "postTokenBalances": tokens,
			"preBalances": before, "preTokenBalances": tokens, "rewards": []any{}, "status": object{"Ok": nil}},
		"transaction": object{"message": message, "signatures": []string{b.text(64)}},
		"version":     version,
	}
}

// busyTransactions returns the transactions of a block in an encoding, as the inside of a JSON list. The last one pays
// us.
func busyTransactions(tb testing.TB, encoding string) []byte {
	tb.Helper()
	b := busy{rand.New(rand.NewPCG(1, 2))}
	var out bytes.Buffer
	for i := range busyVotes + busyOthers + 1 {
		tx := payment("ours", 1)
		switch {
		case i < busyVotes+busyOthers && i%17 < 8:
			tx = b.vote()
		case i < busyVotes+busyOthers:
			tx = b.other(i)
		}
		if encoding == "accounts" {
			tx = inAccounts(tx)
		}
		raw, err := json.Marshal(tx)
		if err != nil {
			tb.Fatal(err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(raw)
	}
	return out.Bytes()
}

func busyHead(slot uint64) string {
	return fmt.Sprintf(`"blockHeight":%d,"blockTime":1789578076,"blockhash":%q,"parentSlot":%d,"previousBlockhash":%q`,
		slot, hashOf(fmt.Sprint("block ", slot)), slot-1, hashOf(fmt.Sprint("block ", slot-1)))
}

// BenchmarkBlock decodes, checks and scans one busy block in each encoding.
func BenchmarkBlock(b *testing.B) {
	for _, encoding := range []string{"accounts", "full"} {
		b.Run(encoding, func(b *testing.B) {
			raw := fmt.Appendf(nil, `{%s,"transactions":[%s]}`, busyHead(101), busyTransactions(b, encoding))
			watch := chaintest.NewWatch(ours)
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				x := readBlockFrom(b, raw)
				if err := x.checkWhole(101); err != nil {
					b.Fatal(err)
				}
				if out, err := (held{101, x}).scan(watch); err != nil || len(out.Transfers) != 1 {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// A busy block gives the same in both encodings: what every account signed, paid and received.
func TestBothEncodingsGiveTheSameBlock(t *testing.T) {
	t.Parallel()
	read := map[string]*block{}
	for _, encoding := range []string{"accounts", "full"} {
		x := readBlockFrom(t, fmt.Appendf(nil, `{%s,"transactions":[%s]}`, busyHead(101), busyTransactions(t, encoding)))
		if err := x.checkWhole(101); err != nil || len(x.Txs) != busyVotes+busyOthers+1 {
			t.Fatalf("%s: %d transactions, %v, want %v of them", encoding, len(x.Txs), err, busyVotes+busyOthers+1)
		}
		read[encoding] = x
	}
	a, b := read["accounts"], read["full"]
	if !slices.Equal(a.Txs, b.Txs) || !slices.Equal(a.touched, b.touched) {
		t.Fatalf("the two encodings differ, want %+v and %+v", b.Txs, b.touched)
	}
	for _, tx := range a.Txs {
		if n := len(a.accountsOf(&tx)); n < 1 || n > 3 || !a.accountsOf(&tx)[0].signer {
			t.Fatalf("%s touches %d accounts", tx.id, n)
		}
	}
}

// busyNode answers like a node with many busy blocks.
type busyNode struct {
	final        uint64
	transactions map[string][]byte // by encoding
	only         string            // the only encoding that it supports; empty: all
}

func (n *busyNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil {
		http.Error(w, "not a single call", http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,`, q.ID)
	switch q.Method {
	case "getGenesisHash":
		fmt.Fprintf(w, `"result":%q}`, GenesisMainnet)
	case "getSlot":
		fmt.Fprintf(w, `"result":%d}`, n.final)
	case "getHealth":
		io.WriteString(w, `"result":"ok"}`)
	case "getBlocksWithLimit":
		n.list(w, q.Params)
	case "getBlock":
		n.block(w, q.Params)
	default:
		io.WriteString(w, `"error":{"code":-32601,"message":"Method not found"}}`)
	}
}

func (n *busyNode) list(w io.Writer, params []json.RawMessage) {
	var from, limit uint64
	_, _ = json.Unmarshal(params[0], &from), json.Unmarshal(params[1], &limit) // both are from the adapter
	list := []string{}
	for slot := from; slot <= n.final && slot < from+limit; slot++ {
		list = append(list, fmt.Sprint(slot))
	}
	fmt.Fprintf(w, `"result":[%s]}`, strings.Join(list, ","))
}

func (n *busyNode) block(w io.Writer, params []json.RawMessage) {
	var slot uint64
	var config struct {
		Details string `json:"transactionDetails"`
	}
	_, _ = json.Unmarshal(params[0], &slot), json.Unmarshal(params[1], &config)
	switch {
	case config.Details == "none":
		fmt.Fprintf(w, `"result":{%s}}`, busyHead(slot))
	case n.only != "" && config.Details != n.only:
		io.WriteString(w, `"error":{"code":-32602,"message":"Invalid params: unknown variant"}}`)
	default:
		fmt.Fprintf(w, `"result":{%s,"transactions":[`, busyHead(slot))
		w.Write(n.transactions[config.Details])
		io.WriteString(w, `]}}`)
	}
}

// BenchmarkThroughput follows busy blocks through a node that is as far away as a hosted one.
func BenchmarkThroughput(b *testing.B) {
	const blocks = 128
	for _, encoding := range []string{"accounts", "full"} {
		b.Run(encoding, func(b *testing.B) {
			node := &busyNode{final: 100 + blocks, only: encoding,
				transactions: map[string][]byte{encoding: busyTransactions(b, encoding)}}
			chaintest.Throughput{
				Node: node, From: at100(), Blocks: blocks, Pace: 214 * time.Millisecond, Watch: chaintest.NewWatch(ours),
				Transfers: blocks, Gzip: true,
				Open: func(b *testing.B, urls []string) chain.Blocks {
					c, err := New(Mainnet(), rpc.Config{URLs: urls})
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

func readBlockFrom(tb testing.TB, raw []byte) *block {
	tb.Helper()
	var x block
	if err := x.ReadResult(jsontext.NewDecoder(bytes.NewReader(raw))); err != nil {
		tb.Fatal(err)
	}
	return &x
}
