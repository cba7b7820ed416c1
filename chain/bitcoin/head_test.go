package bitcoin

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

func TestHeadCountsConfirmations(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f, func(cfg *Config) { cfg.Confirmations = 3 })
	for height := 1; height <= 5; height++ {
		f.add()
		head, err := c.Head(t.Context())
		if err != nil || head.Latest != f.ref(height) {
			t.Fatalf("head is %+v (%v), want %v", head, err, f.ref(height))
		}
		want := chain.BlockRef{}
		if height >= 2 {
			want = f.ref(height - 2) // the block itself is the first confirmation
		}
		if head.Final != want {
			t.Fatalf("at %d, %v is final, want %v", height, head.Final, want)
		}
	}
}

func TestHeadOfOneBranch(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	for range 5 {
		f.add()
	}
	// The chain is replaced once between the requests for the tip and for the final block.
	replaced := false
	f.sayBy("getblockhash", func(params []any) any {
		if params[0].(float64) > 0 && !replaced {
			replaced = true
			f.drop(4)
			for range 5 {
				f.add()
			}
		}
		return f.answer("getblockhash", params)
	})
	head, err := c.Head(t.Context())
	if err != nil || head.Latest != f.ref(6) || head.Final != f.ref(4) {
		t.Fatalf("head is %+v (%v), want %v and %v", head, err, f.ref(6), f.ref(4))
	}
	f.sayBy("getblockhash", func(params []any) any {
		f.drop(1)
		f.add(pays(byte(len(f.stale)), wire.NewTxOut(1, nil)))
		return f.answer("getblockhash", params)
	})
	if head, err := c.Head(t.Context()); err == nil {
		t.Fatalf("a tip that always changes gives %+v, want an error", head)
	}
}

func TestANodeThatIsNotSyncedGivesNoTip(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(info map[string]any){
		"initial download":   func(info map[string]any) { info["initialblockdownload"] = true },
		"behind its headers": func(info map[string]any) { info["headers"] = 1 + 1 + maxBehind },
		"no best block":      func(info map[string]any) { info["bestblockhash"] = "" },
		"a height below 0":   func(info map[string]any) { info["blocks"] = -1 },
		"a broken height":    func(info map[string]any) { info["blocks"] = 1.5 },
		"no answer":          func(info map[string]any) { clear(info) },
	} {
		f := newFake()
		f.add()
		c := open(t, f)
		info := f.answer("getblockchaininfo", nil).(map[string]any)
		change(info)
		f.say("getblockchaininfo", info)
		if head, err := c.Head(t.Context()); err == nil {
			t.Errorf("%s: head is %+v, want an error", why, head)
		}
	}
}

func TestWrongChainIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add()
	c := open(t, f, func(cfg *Config) { cfg.Network.Genesis = strings.Repeat("00", 32) })
	calls := map[string]func() error{
		"head":  func() error { _, err := c.Head(t.Context()); return err },
		"at":    func() error { _, err := c.At(t.Context(), 0); return err },
		"after": func() error { _, err := c.After(t.Context(), f.ref(0), 1, chaintest.NewWatch()); return err },
		"find":  func() error { _, err := c.Find(t.Context(), strings.Repeat("ab", 32)); return err },
	}
	for name, call := range calls {
		var wrong *rpc.WrongChainError
		if err := call(); !errors.As(err, &wrong) || wrong.Serves != f.ref(0).Hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A chain whose configuration has no genesis block accepts any.
	c = open(t, f, func(cfg *Config) { cfg.Network.Genesis = "" })
	if _, err := c.Head(t.Context()); err != nil {
		t.Error(err)
	}
}

// several forwards each host's calls to a node of its own.
type several map[string]http.RoundTripper

func (s several) RoundTrip(req *http.Request) (*http.Response, error) {
	return s[req.URL.Hostname()].RoundTrip(req)
}

func TestASecondNodeReplacesOneThatLags(t *testing.T) {
	t.Parallel()
	slow, quick := newFake(), newFake()
	for range 10 {
		quick.add()
	}
	c := open(t, quick, func(cfg *Config) {
		cfg.Node.URLs = []string{"http://slow.invalid", "http://quick.invalid"}
		cfg.Node.HTTP = several{"slow.invalid": slow, "quick.invalid": quick}
		cfg.Node.MinPause, cfg.Node.MaxPause = time.Minute, time.Minute
	})
	if head, err := c.Head(t.Context()); err != nil || head.Latest != quick.ref(10) {
		t.Fatalf("head is %+v (%v), want %v", head, err, quick.ref(10))
	}
}

func TestAtAndFind(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	tx, waiting := pays(1, wire.NewTxOut(5, nil)), pays(2, wire.NewTxOut(5, nil))
	f.add()
	f.add(tx)
	if ref, err := c.At(t.Context(), 2); err != nil || ref != f.ref(2) {
		t.Fatalf("block 2 is %v (%v)", ref, err)
	}
	for _, height := range []uint64{3, 1 << 31, 1 << 63} {
		if ref, err := c.At(t.Context(), height); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("block %d is %v (%v), want %v", height, ref, err, chain.ErrNoBlock)
		}
	}
	if ref, err := c.Find(t.Context(), tx.TxID()); err != nil || ref != f.ref(2) {
		t.Fatalf("found in %v (%v)", ref, err)
	}
	f.txs[waiting.TxID()] = hexOf(waiting)
	for _, id := range []string{waiting.TxID(), strings.Repeat("cd", 32), "", "xyz", strings.Repeat("AB", 32)} {
		if ref, err := c.Find(t.Context(), id); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("%q is found in %v (%v), want %v", id, ref, err, chain.ErrNoBlock)
		}
	}
	stale := f.ref(2).Hash
	f.drop(1)
	f.say("getrawtransaction", map[string]any{"txid": tx.TxID(), "blockhash": stale})
	if ref, err := c.Find(t.Context(), tx.TxID()); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("found in the reorged-out block %v (%v), want %v", ref, err, chain.ErrNoBlock)
	}
	for _, message := range []string{
		"No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries.",
		"No such mempool or blockchain transaction. Blockchain transactions are still in the process of being indexed. " +
			"Use gettransaction for wallet transactions.",
	} {
		f.say("getrawtransaction", &rpc.Error{Code: codeNoSuch, Message: message})
		if _, err := c.Find(t.Context(), tx.TxID()); err == nil || errors.Is(err, chain.ErrNoBlock) ||
			!strings.Contains(err.Error(), "txindex=1") {
			t.Fatalf("%q means %v", message, err)
		}
	}
}

func TestSatoshiIsReadAsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		"0": 0, "0.00000001": 1, "0.1": 10_000_000, "20999999.97690000": 2_099_999_997_690_000,
		"0.29": 29_000_000, "1.13": 113_000_000, "90071992.54740993": 0, // the last exceeds the maximum supply
	} {
		var got satoshi
		err := json.Unmarshal([]byte(text), &got)
		if want == 0 && text != "0" {
			if err == nil {
				t.Errorf("%s reads as %d, want an error", text, got)
			}
			continue
		}
		if err != nil || uint64(got) != want {
			t.Errorf("%s reads as %d (%v), want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"-0.1", "1e-8", "1E3", "0.000000001", `"0.1"`, "null", "[]", "84000001"} {
		var got satoshi
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s reads as %d, want an error", bad, got)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := Config{ID: "bitcoin", Network: network(t, "main"), Node: rpc.Config{URLs: []string{"http://node.invalid"}}}
	c, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	capabilities := c.Capabilities()
	if capabilities.Confirmations != 3 || capabilities.ReorgDepth < 50 || capabilities.Model != chain.UTXOModel ||
		capabilities.Family != "bitcoin" {
		t.Fatalf("capabilities are %+v, want 3 and at least 50 and %v and %q", capabilities, chain.UTXOModel, "bitcoin")
	}
	for why, change := range map[string]func(cfg *Config){
		"no id":                     func(cfg *Config) { cfg.ID = "" },
		"no network":                func(cfg *Config) { cfg.Network = Network{} },
		"no node":                   func(cfg *Config) { cfg.Node.URLs = nil },
		"no confirmations":          func(cfg *Config) { cfg.Confirmations = -1 },
		"too many confirmations":    func(cfg *Config) { cfg.Confirmations = 101 },
		"a target of years":         func(cfg *Config) { cfg.FeeTarget = 100_000 },
		"an absurd bound":           func(cfg *Config) { cfg.MaxFeeRate = 1_000_000 },
		"a fallback over the limit": func(cfg *Config) { cfg.FallbackFeeRate = 501 },
		"too many payments":         func(cfg *Config) { cfg.MaxPayments = 100_000 },
		"a chain of thirty":         func(cfg *Config) { cfg.MaxPending = 30 },
		"a pace below zero":         func(cfg *Config) { cfg.Pace = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted, want an error", why)
		}
	}
}
