package ethereum

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

var (
	usdt = TokenSpec{Name: "Tether USD", Symbol: "USDT", Decimals: 6, Kind: UsdtLike}
	usdc = TokenSpec{Name: "USD Coin", Symbol: "USDC", Decimals: 18, Kind: UsdcLike}
)

func both() Config { return Config{ChainID: 56, Tokens: []TokenSpec{usdt, usdc}} }

type transferLog struct {
	Address, TransactionHash, Data string
	Topics                         []string
}

// transfersTo lists the Transfer events to an address.
func transfersTo(t *testing.T, n *Node, address string) []transferLog {
	t.Helper()
	topic := crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	to := common.BytesToHash(common.HexToAddress(address).Bytes())
	return ask[[]transferLog](t, n, "eth_getLogs", map[string]any{
		"fromBlock": "0x0", "toBlock": "latest", "topics": []any{topic.Hex(), nil, to.Hex()},
	})
}

func wantTokens(t *testing.T, n *Node, symbol, address string, want int64) {
	t.Helper()
	got, err := n.TokenBalance(symbol, address)
	if err != nil || got.Cmp(big.NewInt(want)) != 0 {
		t.Fatalf("%s has %v %s (%v), want %d", address, got, symbol, err, want)
	}
	contract, err := n.Token(symbol)
	if err != nil {
		t.Fatal(err)
	}
	said := ask[string](t, n, "eth_call", map[string]any{"to": contract,
		"data": callData(t, n, symbol, "balanceOf", address)}, "latest")
	if hexutil.MustDecode(said); new(big.Int).SetBytes(hexutil.MustDecode(said)).Cmp(got) != 0 {
		t.Fatalf("balanceOf(%s) is %s, the slot has %s, want 0", address, said, got)
	}
}

func callData(t *testing.T, n *Node, symbol, method, address string) string {
	t.Helper()
	data, err := n.tokens[symbol].code.pack(method, common.HexToAddress(address))
	if err != nil {
		t.Fatal(err)
	}
	return hexutil.Encode(data)
}

// done mines a transaction and checks its status.
func done(t *testing.T, n *Node, status, hash string, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	mine(t, n, 1)
	if got := ask[receipt](t, n, "eth_getTransactionReceipt", hash); got.Status != status {
		t.Fatalf("%s has status %s, want %s", hash, got.Status, status)
	}
	return hash
}

func TestTokensAreWhatTheyAreLike(t *testing.T) {
	t.Parallel()
	n := start(t, both())
	for _, spec := range n.cfg.Tokens {
		contract, err := n.Token(spec.Symbol)
		if err != nil || contract != common.HexToAddress(contract).Hex() {
			t.Fatalf("%s is at %s (%v)", spec.Symbol, contract, err)
		}
		call := func(data string) string {
			return ask[string](t, n, "eth_call", map[string]any{"from": n.faucets[3].address, "to": contract, "data": data},
				"latest")
		}
		if got := call("0x313ce567"); new(big.Int).SetBytes(hexutil.MustDecode(got)).Int64() != int64(spec.Decimals) {
			t.Errorf("%s has decimals %s, want %v", spec.Symbol, got, int64(spec.Decimals))
		}
		if got := string(hexutil.MustDecode(call("0x95d89b41"))); !strings.Contains(got, spec.Symbol) {
			t.Errorf("%s has symbol %q", spec.Symbol, got)
		}
		data, err := n.tokens[spec.Symbol].code.pack("transfer", common.Address{1}, big.NewInt(1))
		if err != nil {
			t.Fatal(err)
		}
		says := map[TokenKind]string{UsdtLike: "0x", UsdcLike: "0x" + strings.Repeat("0", 63) + "1"}[spec.Kind]
		if got := call(hexutil.Encode(data)); got != says {
			t.Errorf("a transfer of %s returns %s, want %s", spec.Symbol, got, says)
		}
	}
}

func TestPayTokens(t *testing.T) {
	t.Parallel()
	n := start(t, both())
	for _, spec := range n.cfg.Tokens {
		contract, err := n.Token(spec.Symbol)
		if err != nil {
			t.Fatal(err)
		}
		alone, first, second := n.NewAddress(), n.NewAddress(), n.NewAddress()
		hash, err := n.PayToken(spec.Symbol, alone, big.NewInt(7))
		done(t, n, "0x1", hash, err)
		wantTokens(t, n, spec.Symbol, alone, 7)
		if tx := ask[struct{ To, Value string }](t, n, "eth_getTransactionByHash",
			hash); common.HexToAddress(tx.To).Hex() != contract || tx.Value != "0x0" {
			t.Errorf("a plain payment is %+v, want %v and %q", tx, contract, "0x0")
		}
		hash, err = n.PayTokenMany(spec.Symbol,
			[]Output{{first, big.NewInt(11)}, {second, big.NewInt(22)}, {first, big.NewInt(33)}})
		done(t, n, "0x1", hash, err)
		wantTokens(t, n, spec.Symbol, first, 44)
		wantTokens(t, n, spec.Symbol, second, 22)
		logs := transfersTo(t, n, first)
		if len(logs) != 2 || logs[0].TransactionHash != hash || logs[1].TransactionHash != hash ||
			common.HexToAddress(logs[0].Address).Hex() != contract {
			t.Errorf("two payments of one transaction appear as %+v, want 2 of them and %v and %v", logs, hash, contract)
		}
	}
	for name, err := range map[string]error{
		"an unknown token":           second(n.PayToken("DAI", n.NewAddress(), big.NewInt(1))),
		"no address":                 second(n.PayToken("USDT", "0x12", big.NewInt(1))),
		"a negative":                 second(n.PayToken("USDT", n.NewAddress(), big.NewInt(-1))),
		"no amount":                  second(n.PayToken("USDT", n.NewAddress(), nil)),
		"too much":                   second(n.PayToken("USDT", n.NewAddress(), new(big.Int).Lsh(big.NewInt(1), 200))),
		"nobody":                     second(n.PayTokenMany("USDT", nil)),
		"many":                       second(n.PayTokenMany("USDT", make([]Output, maxOutputs+1))),
		"one without":                second(n.PayTokenMany("USDT", []Output{{}})),
		"balance without an address": last(n.TokenBalance("DAI", n.NewAddress())),
		"contract without a symbol":  second(n.Token("DAI")),
	} {
		if err == nil {
			t.Errorf("%s: accepted, want an error", name)
		}
	}
}

func second(_ string, err error) error { return err }

func last(_ *big.Int, err error) error { return err }

func TestTokenPaymentToManyFitsTheProtocol(t *testing.T) {
	t.Parallel()
	n := start(t, both())
	outputs := make([]Output, maxOutputs)
	for i := range outputs {
		outputs[i] = Output{n.NewAddress(), big.NewInt(int64(i) + 1)}
	}
	hash, err := n.PayTokenMany("USDC", outputs)
	done(t, n, "0x1", hash, err)
	wantTokens(t, n, "USDC", outputs[maxOutputs-1].Address, maxOutputs)
}

// TestBlockedAndDestroyed does to an address what issuers have done to real ones.
func TestBlockedAndDestroyed(t *testing.T) {
	t.Parallel()
	n := start(t, both())
	address := n.NewAddress()
	for _, symbol := range []string{"USDT", "USDC"} {
		hash, err := n.PayToken(symbol, address, big.NewInt(100))
		done(t, n, "0x1", hash, err)
		hash, err = n.ShutOut(symbol, address, true)
		done(t, n, "0x1", hash, err)
	}
	hash, err := n.PayToken("USDT", address, big.NewInt(5))
	done(t, n, "0x1", hash, err) // a blocked address of Tether still receives
	hash, err = n.PayToken("USDC", address, big.NewInt(5))
	done(t, n, "0x0", hash, err)
	wantTokens(t, n, "USDC", address, 100)
	logs := len(transfersTo(t, n, address))
	hash, err = n.Destroy("USDT", address)
	done(t, n, "0x1", hash, err)
	wantTokens(t, n, "USDT", address, 0)
	if again := len(transfersTo(t, n, address)); again != logs {
		t.Errorf("%d transfers became %d", logs, again)
	}
	if _, err := n.Destroy("USDC", address); err == nil {
		t.Error("tokens of a contract without that function are destroyed")
	}
	hash, err = n.ShutOut("USDC", address, false)
	done(t, n, "0x1", hash, err)
	hash, err = n.PayToken("USDC", address, big.NewInt(5))
	done(t, n, "0x1", hash, err)
	wantTokens(t, n, "USDC", address, 105)
}

// TestTokensOutliveTheProcess starts again with the same tokens, with one more, and after an interruption.
func TestTokensOutliveTheProcess(t *testing.T) {
	t.Parallel()
	cfg := Config{Options: host.Options{DataDir: t.TempDir()}, ChainID: 137, Tokens: []TokenSpec{usdt}}
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { n.Close() }()
	contract, height := n.tokens["USDT"].at, n.Height()
	address := n.NewAddress()
	hash, err := n.PayToken("USDT", address, big.NewInt(9))
	if err != nil {
		t.Fatal(err)
	}
	reopen := func(change func()) {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		change()
		if n, err = Start(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	reopen(func() {})
	if n.Height() != height || n.tokens["USDT"].at != contract {
		t.Fatalf("height %d, contract %s; they were %d and %s", n.Height(), n.tokens["USDT"].at, height, contract)
	}
	done(t, n, "0x1", hash, nil) // it waited in the pool
	for range 2 {                // funded, then deployed, and not yet distributed
		n.cfg.Tokens = []TokenSpec{usdt, usdc}
		n.tokens["USDC"] = newToken(usdc, mustRead(t, "UsdcLike"))
		if missing, err := n.missing(); err != nil || missing != 1 {
			t.Fatalf("%d contracts are missing (%v)", missing, err)
		}
		mine(t, n, 1)
	}
	reopen(func() { cfg.Tokens = []TokenSpec{usdt, usdc} })
	wantTokens(t, n, "USDT", address, 9)
	hash, err = n.PayToken("USDC", address, big.NewInt(8))
	done(t, n, "0x1", hash, err)
	wantTokens(t, n, "USDC", address, 8)
	if supply := new(big.Int).Mul(n.tokens["USDC"].each(),
		big.NewInt(tokenHolders+1)); supplyOf(t, n, "USDC").Cmp(supply) != 0 {
		t.Errorf("%s USDC were distributed, want %s", supplyOf(t, n, "USDC"), supply)
	}
}

func supplyOf(t *testing.T, n *Node, symbol string) *big.Int {
	t.Helper()
	said := ask[string](t, n, "eth_call", map[string]any{"to": n.tokens[symbol].at, "data": "0x18160ddd"}, "latest")
	return new(big.Int).SetBytes(hexutil.MustDecode(said))
}

func mustRead(t *testing.T, name string) contract {
	t.Helper()
	c, err := readContract(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestImpossibleTokensAreRefused(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string][]TokenSpec{
		"an unknown kind":   {{Name: "a", Symbol: "A", Kind: "dai-like"}},
		"no kind":           {{Name: "a", Symbol: "A"}},
		"no symbol":         {{Name: "a", Kind: UsdtLike}},
		"a symbol twice":    {usdt, {Name: "b", Symbol: "USDT", Kind: UsdcLike}},
		"too many digits":   {{Name: "a", Symbol: "A", Kind: UsdtLike, Decimals: 37}},
		"negative decimals": {{Name: "a", Symbol: "A", Kind: UsdtLike, Decimals: -1}},
	} {
		if n, err := Start(t.Context(), Config{ChainID: 1, Tokens: tokens}); err == nil {
			t.Errorf("%s: started, want an error", name)
			n.Close()
		}
	}
	if _, err := readContract("DaiLike"); err == nil {
		t.Error("a contract that is not compiled was read")
	}
}
