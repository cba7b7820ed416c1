package ethereum_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
)

// branch is a chain with tokens and what the adapter reads from it for one wallet address, which is the same on every
// chain.
type branch struct {
	t     *testing.T
	node  *ethereum.Node
	chain *evm.Chain
	ours  string
	watch *chaintest.Watch
	last  chain.BlockRef
}

func newBranch(t *testing.T, cfg evm.Config, decimals int) *branch {
	t.Helper()
	node, c := startWithTokens(t, cfg, decimals)
	pub := chaintest.Keys{Curve: chain.Secp256k1}.Public(chain.KeyRef{Family: "evm", Index: 5})
	address, err := c.Address(pub, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := &branch{t: t, node: node, chain: c, ours: address.Base, watch: chaintest.NewWatch(address.Base)}
	b.last = b.head()
	return b
}

func (b *branch) head() chain.BlockRef {
	b.t.Helper()
	head, err := b.chain.Head(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return head.Latest
}

// does mines what was sent.
func (b *branch) does(_ string, err error) {
	b.t.Helper()
	if err == nil {
		err = b.node.Mine(1)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// arrived returns the amounts that arrived since the last call, each of its own event, all of one token.
func (b *branch) arrived(symbol string) []bursar.Amount {
	b.t.Helper()
	contract, err := b.node.Token(symbol)
	if err != nil {
		b.t.Fatal(err)
	}
	blocks, err := b.chain.After(b.t.Context(), b.last, 100, b.watch)
	if err != nil {
		b.t.Fatal(err)
	}
	var amounts []bursar.Amount
	seen := map[uint32]bool{}
	for _, block := range blocks {
		b.last = block.Ref
		for _, transfer := range block.Transfers {
			if transfer.Contract != contract || transfer.Address.Base != b.ours || transfer.Inferred || seen[transfer.Output] {
				b.t.Fatalf("unexpected transfer: %+v", transfer)
			}
			seen[transfer.Output] = true
			amounts = append(amounts, transfer.Amount)
		}
	}
	return amounts
}

func (b *branch) want(symbol string, want ...uint64) {
	b.t.Helper()
	got := b.arrived(symbol)
	if len(got) != len(want) {
		b.t.Fatalf("%s arrived as %v, want %v", symbol, got, want)
	}
	for i := range want {
		if got[i] != bursar.Units(want[i]) {
			b.t.Fatalf("%s arrived as %v, want %v", symbol, got, want)
		}
	}
}

func (b *branch) wantHeld(symbol string, want uint64) {
	b.t.Helper()
	contract, err := b.node.Token(symbol)
	if err != nil {
		b.t.Fatal(err)
	}
	held, err := b.chain.Holdings(b.t.Context(), []string{b.ours}, contract, b.head())
	if err != nil || len(held) != 1 || held[0] != bursar.Units(want) {
		b.t.Fatalf("the address holds %v of %s (%v), want %d", held, symbol, err, want)
	}
}

// TestATokenCountsOnItsOwnChainOnly pays the same address on three chains in one process: each adapter finds
// its own chain's transfers only.
func TestATokenCountsOnItsOwnChainOnly(t *testing.T) {
	t.Parallel()
	one, bsc, polygon := newBranch(t, evm.Ethereum(), 6), newBranch(t, evm.BSC(), 18), newBranch(t, evm.Polygon(), 6)
	if one.ours != bsc.ours || one.ours != polygon.ours {
		t.Fatalf("the wallet address is %s, %s and %s, want the same", one.ours, bsc.ours, polygon.ours)
	}
	bsc.does(bsc.node.PayToken("USDT", bsc.ours, big.NewInt(1e18))) // one whole token there
	polygon.does(polygon.node.PayToken("USDT", polygon.ours, big.NewInt(1e6)))
	for _, b := range []*branch{one, bsc, polygon} {
		b.does("", nil)
	}
	one.want("USDT")
	bsc.want("USDT", 1e18)
	polygon.want("USDT", 1e6)
}

// TestTokenRules runs, one after the other, token behaviour that has gone wrong elsewhere. Each leaves exactly the
// amounts that arrived.
func TestTokenRules(t *testing.T) {
	t.Parallel()
	b := newBranch(t, evm.Polygon(), 6)
	thirdParty := b.node.NewAddress()
	pay := func(symbol, to string, amount int64) { b.does(b.node.PayToken(symbol, to, big.NewInt(amount))) }
	shut := func(symbol, address string, listed bool) { b.does(b.node.ShutOut(symbol, address, listed)) }
	for _, test := range []struct {
		name, symbol string
		do           func()
		want         []uint64
		held         uint64
	}{
		{"a transfer that returns nothing", "USDT", func() { pay("USDT", b.ours, 5) }, []uint64{5}, 5},
		{"a transfer that returns true", "USDC", func() { pay("USDC", b.ours, 6) }, []uint64{6}, 6},
		{"two transfers of one transaction", "USDC", func() {
			b.does(b.node.PayTokenMany("USDC", []ethereum.Output{
				{Address: b.ours, Wei: big.NewInt(1)}, {Address: thirdParty, Wei: big.NewInt(2)},
				{Address: b.ours, Wei: big.NewInt(1)},
			}))
		}, []uint64{1, 1}, 8},
		{"nothing at all", "USDT", func() { pay("USDT", b.ours, 0) }, nil, 5},
		{"a payment to an external address", "USDT", func() { pay("USDT", thirdParty, 9) }, nil, 5},
		{"a payment that the contract refuses", "USDC", func() {
			shut("USDC", b.ours, true)
			pay("USDC", b.ours, 7)
		}, nil, 8},
		{"a payment after " +
			"that", "USDC", func() { shut("USDC", b.ours, false); pay("USDC", b.ours, 7) }, []uint64{7}, 15},
		{"a payment to a frozen " +
			"address", "USDT", func() { shut("USDT", b.ours, true); pay("USDT", b.ours, 3) }, []uint64{3}, 8},
		{"tokens that are destroyed", "USDT", func() { b.does(b.node.Destroy("USDT", b.ours)) }, nil, 0},
	} {
		test.do()
		t.Log(test.name)
		b.want(test.symbol, test.want...)
		b.wantHeld(test.symbol, test.held)
	}
}

// TestAnUnlistedTokenIsIgnored pays a bridged twin of a token, and a token that is not configured: neither is a
// transfer.
func TestAnUnlistedTokenIsIgnored(t *testing.T) {
	t.Parallel()
	twin := ethereum.TokenSpec{Name: "USD Coin", Symbol: "USDC.e", Decimals: 6, Kind: ethereum.UsdcLike}
	node, err := ethereum.Start(t.Context(),
		ethereum.Config{ChainID: 137, FinalityDepth: finality, Tokens: append(tokens(6), twin)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	cfg := evm.Polygon()
	listed, err := node.Token("USDC")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tokens = []evm.Token{{Contract: listed, Decimals: 6}}
	c, err := evm.New(cfg, rpc.Config{URLs: []string{node.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ours := node.NewAddress()
	b := &branch{t: t, node: node, chain: c, ours: ours, watch: chaintest.NewWatch(ours)}
	b.last = b.head()
	b.does(node.PayToken("USDC.e", ours, big.NewInt(50)))
	b.does(node.PayTokenMany("USDT", []ethereum.Output{{Address: ours, Wei: big.NewInt(60)}}))
	b.want("USDC")
	b.does(node.PayToken("USDC", ours, big.NewInt(70)))
	b.want("USDC", 70)
}

// TestDecimalsArePinned configures a token with the decimals that it has on another chain: that token is refused, and
// the chain is still followed.
func TestDecimalsArePinned(t *testing.T) {
	t.Parallel()
	node, _ := startWithTokens(t, evm.BSC(), 18)
	contract, err := node.Token("USDT")
	if err != nil {
		t.Fatal(err)
	}
	cfg := evm.BSC()
	cfg.Tokens = []evm.Token{{Contract: contract, Decimals: 6}}
	c, err := evm.New(cfg, rpc.Config{URLs: []string{node.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	problems := c.CheckAssets(t.Context())
	if len(problems) != 1 || problems[0].Contract != contract ||
		!strings.Contains(problems[0].What, "18 decimals and the configuration 6") {
		t.Fatalf("problems %+v, want 1 of them and %v and %q in it", problems, contract,
			"18 decimals and the configuration 6")
	}
	if head, err := c.Head(t.Context()); err != nil {
		t.Fatalf("head is %+v (%v)", head, err)
	}
}

// TestABlockedDestinationIsRefused quotes a payment to an address that the issuer has blocked: it is refused before
// any money moves.
func TestABlockedDestinationIsRefused(t *testing.T) {
	t.Parallel()
	cfg := evm.Polygon()
	cfg.Hot = "0x1111111111111111111111111111111111111111" // sender of the simulated call
	b := newBranch(t, cfg, 6)
	b.does(b.node.PayToken("USDC", cfg.Hot, big.NewInt(100)))
	thirdParty := b.node.NewAddress()
	contract, err := b.node.Token("USDC")
	if err != nil {
		t.Fatal(err)
	}
	payment := chain.Payment{Address: bursar.Address{Base: thirdParty}, Contract: contract, Amount: bursar.Units(5)}
	if _, err := b.chain.Quote(t.Context(), payment); err != nil {
		t.Fatal(err)
	}
	b.does(b.node.ShutOut("USDC", thirdParty, true))
	var refused *chain.RefusedError
	if fee, err := b.chain.Quote(t.Context(), payment); !errors.As(err, &refused) {
		t.Errorf("the quote is %s (%v), want a refusal", fee, err)
	}
}
