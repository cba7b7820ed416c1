package rpc

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// The answers are written before the clock starts: what is measured is the client.
func benchNode(b *testing.B, result string) *node {
	return startNode(b, func(w http.ResponseWriter, r *http.Request) {
		var call struct{ ID stdjson.Number }
		body, _ := io.ReadAll(r.Body)
		if err := stdjson.Unmarshal(body, &call); err != nil {
			panic(err)
		}
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+call.ID.String()+`,"result":`+result+`}`)
	})
}

var benchResults = map[string]string{
	"small": `"0x1b4"`,
	"4MB": `[` +
		strings.Repeat(`{"hash":"0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060","value":"0xde0b6b3a7640000","logs":[]},`, 33000) + `{}]`,
}

type benchItem struct {
	Hash  string `json:"hash"`
	Value string `json:"value"`
}

func benchOut(name string) any {
	if name == "small" {
		return new(string)
	}
	return new([]benchItem)
}

func BenchmarkCall(b *testing.B) {
	for name, result := range benchResults {
		b.Run(name, func(b *testing.B) {
			n := benchNode(b, result)
			c := newClient(b, Config{URLs: urlsOf(n)})
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Call(b.Context(), "eth_blockNumber", nil, benchOut(name)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBarePost is what BenchmarkCall is compared with: the same question by net/http and the same decoder, with no
// bounds, no checks and no failover.
func BenchmarkBarePost(b *testing.B) {
	for name, result := range benchResults {
		b.Run(name, func(b *testing.B) {
			n := benchNode(b, result)
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for b.Loop() {
				barePost(b, n.URL, benchOut(name))
			}
		})
	}
}

func barePost(b *testing.B, url string, out any) {
	resp, err := http.Post(url, "application/json",
		bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`)))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	answer := struct {
		Result any `json:"result"`
	}{out}
	if err := json.Unmarshal(body, &answer); err != nil {
		b.Fatal(err)
	}
}
