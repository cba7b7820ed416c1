package bitcoin

import (
	"net/http"
	"strings"
	"testing"
)

// TestProtocol compares whole answers with those of bitcoind 29.
func TestProtocol(t *testing.T) {
	t.Parallel()
	n := start(t, Config{User: "us:er", Password: "p@ss/word"})
	for _, test := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"method":"getblockcount"}`, 200, `{"result":110,"error":null}`},
		{`{"method":"getblockcount","id":5}`, 200, `{"result":110,"error":null,"id":5}`},
		{`{"method":"getblockcount","params":null,"id":null}`, 200, `{"result":110,"error":null,"id":null}`},
		{`{"method":"getblockcount","params":{},"id":"x<y"}`, 200, `{"result":110,"error":null,"id":"x<y"}`},
		{`{"jsonrpc":"1.0","method":"ping","id":1}`, 200, `{"result":null,"error":null,"id":1}`},
		{`{"method":"getblockhash","params":{"heights":1},"id":5}`, 500,
			`{"result":null,"error":{"code":-8,"message":"Unknown named parameter heights"},"id":5}`},
		{`{"method":"getblockhash","params":{"height":9999},"id":5}`, 500,
			`{"result":null,"error":{"code":-8,"message":"Block height out of range"},"id":5}`},
		{`{"method":"getblockhash","params":[1.5],"id":1}`, 500,
			`{"result":null,"error":{"code":-1,"message":"JSON integer out of range"},"id":1}`},
		{`{"method":"getblockhash","params":[],"id":1}`, 500,
			`{"result":null,"error":{"code":-1,"message":"getblockhash height\n"},"id":1}`},
		{`{"method":"nosuch","id":1}`, 404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":1}`},
		{`{"jsonrpc":"2.0","method":"getblockcount","id":1}`, 200, `{"jsonrpc":"2.0","result":110,"id":1}`},
		{`{"jsonrpc":"2.0","method":"ping","id":1}`, 200, `{"jsonrpc":"2.0","result":null,"id":1}`},
		{`{"jsonrpc":"2.0","method":"getblockcount","id":null}`, 200, `{"jsonrpc":"2.0","result":110,"id":null}`},
		{`{"jsonrpc":"2.0","method":"nosuch","id":1}`, 200,
			`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}`},
		{`{"jsonrpc":"2.0","method":"getblockcount"}`, 204, ``},
		{`{"jsonrpc":"3.0","method":"getblockcount","id":1}`, 400,
			`{"result":null,"error":{"code":-32600,"message":"JSON-RPC version not supported"},"id":1}`},
		{`[]`, 200, `[]`},
		{
			`[{"method":"getblockcount","id":1},{"method":"nosuch","id":2},{"jsonrpc":"2.0","method":"getblockcount","id":3},{"jsonrpc":"2.0","method":"ping"}]`, 200,
			`[{"result":110,"error":null,"id":1},{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":2},{"jsonrpc":"2.0","result":110,"id":3}]`,
		},
		{`[{"jsonrpc":"2.0","method":"getblockcount"}]`, 204, ``},
		{`[1]`, 200, `[{"result":null,"error":{"code":-32600,"message":"Invalid Request object"},"id":null}]`},
		{`{bad`, 500, `{"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}`},
		{``, 500, `{"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}`},
		{`"x"`, 500, `{"result":null,"error":{"code":-32700,"message":"Top-level object parse error"},"id":null}`},
		{`{"id":1}`, 400, `{"result":null,"error":{"code":-32600,"message":"Missing method"},"id":1}`},
		{`{"id":1,"method":5}`, 400, `{"result":null,"error":{"code":-32600,"message":"Method must be a string"},"id":1}`},
		{`{"id":1,"method":"getblockcount","params":5}`, 400,
			`{"result":null,"error":{"code":-32600,"message":"Params must be an array or object"},"id":1}`},
	} {
		status, raw := post(t, n.URL(), test.body)
		if status != test.status || strings.TrimSpace(string(raw)) != test.want {
			t.Errorf("%s\n got %d %s\nwant %d %s", test.body, status, raw, test.status, test.want)
		}
	}
}

func TestHTTPRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	n := start(t, Config{User: "user", Password: "secret"})
	host := n.host.Address()
	for _, test := range []struct {
		method, url string
		status      int
	}{
		{http.MethodPost, "http://" + host + "/", http.StatusUnauthorized},
		{http.MethodPost, "http://user:wrong@" + host + "/", http.StatusUnauthorized},
		{http.MethodPost, "http://user:secret@" + host + "/", http.StatusOK},
		{http.MethodPost, "http://user:secret@" + host + "/foo", http.StatusNotFound},
		{http.MethodGet, "http://user:secret@" + host + "/", http.StatusMethodNotAllowed},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, test.url, strings.NewReader(`{"method":"uptime"}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if res.StatusCode != test.status {
			t.Errorf("%s %s: status %d, want %d", test.method, test.url, res.StatusCode, test.status)
		}
		if test.status == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") != `Basic realm="jsonrpc"` {
			t.Errorf("the 401 asks for %q", res.Header.Get("WWW-Authenticate"))
		}
	}
}

func TestHelpNamesEveryMethod(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	list := must[string](t, n, "help")
	for name, m := range n.methods {
		if !strings.Contains(list, m.usage) || must[string](t, n, "help", name) != m.usage+"\n" {
			t.Errorf("help does not list %s", name)
		}
	}
}

// FuzzBody sends any bytes: the node must answer them, or leave a notification unanswered, and never panic.
func FuzzBody(f *testing.F) {
	n, err := Start(f.Context(), Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = n.Close() })
	for _, seed := range []string{
		`{"method":"getblock","params":["00",2],"id":1}`, `[{"method":"gettxout","params":{"txid":"00","n":-1}}]`,
		`[[],{},null]`,
		`{"method":"scantxoutset","params":["start",["addr(x)#12345678",{"desc":"raw(00)"}]]}`,
		`{"method":"sendrawtransaction","params":["02000000000100",1e9]}`,
		`{"jsonrpc":"2.0","method":"validateaddress","params":["bcrt1q"],"id":{}}`,
		`{"method":"decoderawtransaction","params":["0200000001"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if strings.Contains(string(body), "generate") {
			return // mining ten thousand blocks adds nothing to this test
		}
		if status, _ := n.answerBody(t.Context(), body); status < 200 || status > 500 {
			t.Errorf("status %d, want at least 200 and at most 500", status)
		}
	})
}
