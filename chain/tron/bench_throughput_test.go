package tron

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// blockServer serves a chain from prepared bytes.
type blockServer struct {
	headers, blocks, infos [][]byte
}

// newBlockServer makes blocks of mainnet's size in November 2026: 300 transactions, two thirds of them payments of
// USDT, 0.4 MB with 0.6 MB of results. In each, one payment is ours.
func newBlockServer(b *testing.B, count int) *blockServer {
	b.Helper()
	s := &blockServer{}
	for height := range count + 1 {
		var txs []fakeTx
		for i := range 100 {
			log := func() []any { return []any{transferLog(fakeToken, fakeOutsider, fakeAddress("somebody"), 5)} }
			to := fakeOutsider
			if i == 50 {
				to = fakeOurs
			}
			step := internalTx("call", fakeContract, fakeOutsider, sunOf(5))
			txs = append(txs, fakeTx{from: fakeContract, to: to, sun: 5},
				fakeTx{from: fakeOutsider, kind: triggerType, to: fakeToken, logs: log()},
				fakeTx{from: fakeOutsider, kind: triggerType, to: fakeToken, logs: slices.Repeat(log(), 8),
					internal: slices.Repeat([]any{step}, 5)})
		}
		if height == 0 {
			txs = nil
		}
		made := blockOf(height, txs...)
		made.fill()
		s.headers = append(s.headers,
			encoded(b, object{"blockID": made.block["blockID"], "block_header": made.block["block_header"]}))
		s.blocks, s.infos = append(s.blocks, encoded(b, made.block)), append(s.infos, encoded(b, made.infos))
	}
	return s
}

// fill adds the other members of java-tron's answers (4.8, Util.printTransactionToJSON, TransactionInfo): they are not
// used, but parsed all the same.
func (b *fakeBlock) fill() {
	for i, info := range b.infos {
		tx := b.tx(i)
		tx["signature"] = []any{strings.Repeat("5a", 65)}
		tx["raw_data_hex"] = strings.Repeat("0a", 211)
		raw := tx["raw_data"].(object)
		raw["ref_block_bytes"], raw["ref_block_hash"], raw["expiration"], raw["timestamp"], raw["fee_limit"] = "a1b2",
			"0102030405060708", fakeStart, fakeStart, 30_000_000
		contract := raw["contract"].([]any)[0].(object)
		parameter := contract["parameter"].(object)
		parameter["type_url"] = "type.googleapis.com/protocol." + contract["type"].(string)
		if contract["type"] == triggerType {
			parameter["value"].(object)["data"] = strings.Repeat("a9", 68)
		}
		result := info.(object)
		result["contractResult"], result["contract_address"] = []any{strings.Repeat("00", 32)}, fakeToken.hex()
		result["receipt"] = object{"energy_usage": 31_895, "energy_usage_total": 64_285, "net_usage": 345,
			"result": "SUCCESS", "energy_penalty_total": 49_635}
		for _, step := range items(result["internal_transactions"]) {
			step.(object)["hash"] = fakeHash("internal", i)
			step.(object)["extra"] = ""
		}
	}
}

func items(value any) []any { all, _ := value.([]any); return all }

func encoded(b *testing.B, value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

func (s *blockServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		IDOrNum string `json:"id_or_num"`
		Num     int    `json:"num"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := []byte("{}")
	switch _, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); method {
	case "getblock":
		height := len(s.headers) - 1
		if ask.IDOrNum != "" {
			height, _ = strconv.Atoi(ask.IDOrNum) // this adapter asks by number
		}
		answer = s.headers[height]
	case "getblockbynum":
		answer = s.blocks[ask.Num]
	case "gettransactioninfobyblocknum":
		answer = s.infos[ask.Num]
	}
	_, _ = w.Write(answer) // the client checks what arrives
}

func BenchmarkThroughput(b *testing.B) {
	const blocks = 128
	chaintest.Throughput{
		Node:      newBlockServer(b, blocks),
		From:      chain.BlockRef{Height: 0, Hash: fakeID(0)},
		Blocks:    blocks,
		Pace:      3 * time.Second,
		Watch:     fakeWatch(),
		Transfers: blocks,
		Gzip:      true,
		Open: func(b *testing.B, urls []string) chain.Blocks {
			c, err := New(Config{Tokens: []Token{{Contract: fakeToken.String(), Decimals: 6}}}, rpc.Config{URLs: urls})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			return c
		},
	}.Run(b)
}
