package tron

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func constant(answer any) func(object) any { return func(object) any { return answer } }

// TestUnsoundBlocksAreErrors corrupts a node's answers about a block with a payment to us. None of them may pass for a
// block.
func TestUnsoundBlocksAreErrors(t *testing.T) {
	t.Parallel()
	failure := object{"Error": "class org.tron.core.exception.StoreException : something"}
	cases := map[string]func(f *fake, b *fakeBlock){
		"results an object": func(f *fake, _ *fakeBlock) {
			f.script["gettransactioninfobyblocknum"] = constant(object{})
		},
		"results null": func(f *fake, _ *fakeBlock) {
			f.script["gettransactioninfobyblocknum"] = constant(nil)
		},
		"results an error": func(f *fake, _ *fakeBlock) {
			f.script["gettransactioninfobyblocknum"] = constant(failure)
		},
		"half of the results":     func(_ *fake, b *fakeBlock) { b.infos = b.infos[:1] },
		"one result twice":        func(_ *fake, b *fakeBlock) { b.infos[1] = b.infos[0] },
		"result of another tx":    func(_ *fake, b *fakeBlock) { b.info(0)["id"] = fakeHash("other") },
		"result of another block": func(_ *fake, b *fakeBlock) { b.info(0)["blockNumber"] = 2 },
		"result of a reorged-out block": func(_ *fake,
			b *fakeBlock) {
			b.info(0)["blockTimeStamp"] = fakeTime(1) + 3000
		},
		"result without height":     func(_ *fake, b *fakeBlock) { delete(b.info(0), "blockNumber") },
		"negative fee":              func(_ *fake, b *fakeBlock) { b.info(0)["fee"] = -1 },
		"contradictory outcomes":    func(_ *fake, b *fakeBlock) { b.info(0)["result"] = "FAILED" },
		"a payment without outcome": func(_ *fake, b *fakeBlock) { b.tx(0)["ret"] = []any{} },
		"a negative payment":        func(_ *fake, b *fakeBlock) { setAmount(b, -5) },
		"an amount as a string":     func(_ *fake, b *fakeBlock) { setAmount(b, "5") },
		"a block as error":          func(f *fake, _ *fakeBlock) { f.script["getblockbynum"] = constant(failure) },
		"a block as list":           func(f *fake, _ *fakeBlock) { f.script["getblockbynum"] = constant([]any{}) },
		"another height":            func(_ *fake, b *fakeBlock) { b.raw()["number"] = 7 },
		"id of another height":      func(_ *fake, b *fakeBlock) { b.block["blockID"] = fakeID(5) },
		"a parent far below":        func(_ *fake, b *fakeBlock) { b.raw()["parentHash"] = fakeHash("x") },
		"transactions left out":     func(_ *fake, b *fakeBlock) { delete(b.block, "transactions"); b.infos = nil },
		"transactions where none are": func(_ *fake, b *fakeBlock) {
			b.raw()["txTrieRoot"] = strings.Repeat("0",
				64)
		},
		"a transaction twice":      func(_ *fake, b *fakeBlock) { b.tx(1)["txID"] = b.tx(0)["txID"] },
		"a transaction without id": func(_ *fake, b *fakeBlock) { delete(b.tx(0), "txID") },
		"an invalid id":            func(_ *fake, b *fakeBlock) { b.tx(0)["txID"] = "0x12" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			b := f.add(fakeTx{to: fakeOurs, sun: 7},
				fakeTx{kind: triggerType, to: fakeToken, logs: []any{transferLog(fakeToken, fakeOutsider, fakeOurs,
					5)}})
			spoil(f, b)
			watch := fakeWatch()
			blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, watch)
			if err == nil || errors.Is(err, chain.ErrOffChain) || errors.Is(err, chain.ErrNoBlock) || blocks != nil {
				t.Fatalf("got %+v, %v", blocks, err)
			}
			if watch.Blind() != 0 {
				t.Fatal("the watch was asked about a block that was refused, want 0")
			}
		})
	}
}

func setAmount(b *fakeBlock, amount any) {
	contract := b.tx(0)["raw_data"].(object)["contract"].([]any)[0].(object)
	contract["parameter"].(object)["value"].(object)["amount"] = amount
}

// An unlinked block ends the list of blocks, and is an error if it is the first.
func TestUnlinkedBlocks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	f.add().raw()["parentHash"] = strings.Replace(fakeID(1), fakeID(1)[60:], "0000", 1)
	blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, fakeWatch())
	if err != nil || len(blocks) != 1 {
		t.Fatalf("got %+v, %v, want 1 of them", blocks, err)
	}
	if _, err := f.open(t, nil).After(t.Context(), f.at(1), 10, fakeWatch()); !errors.Is(err, errMoved) {
		t.Fatalf("got %v, want %v", err, errMoved)
	}
}

func TestOffChainAndBehind(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	c := f.open(t, nil)
	outsider := chain.BlockRef{Height: 1, Hash: fakeID(1)[:63] + "0"}
	if _, err := c.After(t.Context(), outsider, 1, fakeWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("after another block: %v, want %v", err, chain.ErrOffChain)
	}
	if blocks, err := c.After(t.Context(), f.at(5), 1, fakeWatch()); err != nil || blocks != nil {
		t.Fatalf("a node that is behind must return no blocks and no error: %+v, %v", blocks, err)
	}
	if _, err := f.open(t, nil).At(t.Context(), 9); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("above the head: %v, want %v", err, chain.ErrNoBlock)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 5 {
		f.add()
	}
	f.solid = 2
	c := f.open(t, nil)
	head, err := c.Head(t.Context())
	if err != nil || head.Latest != f.at(5) || head.Final != f.at(2) {
		t.Fatalf("head %+v, %v", head, err)
	}
	f.add()
	if head, err = c.Head(t.Context()); err != nil || head.Latest != f.at(6) || head.Final != f.at(2) {
		t.Fatalf("solidification stops: %+v, %v", head, err)
	}
	f.script["walletsolidity/getblock"] = constant(f.blocks[6].block)
	f.script["wallet/getblock"] = func(ask object) any { return f.blocks[3].block }
	if head, err = c.Head(t.Context()); err != nil || head.Latest != f.at(6) || head.Final != f.at(6) {
		t.Fatalf("a solidified block above the newest, behind a load balancer: %+v, %v", head, err)
	}
}

func TestWrongChain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	var wrong *rpc.WrongChainError
	_, err := f.open(t, func(cfg *Config) { cfg.Genesis = MainnetGenesis }).Head(t.Context())
	if !errors.As(err, &wrong) || wrong.Serves != fakeID(0) || wrong.Configured != MainnetGenesis {
		t.Fatalf("another genesis: %v", err)
	}
	if _, err := f.open(t, func(cfg *Config) { cfg.Genesis = fakeID(0) }).Head(t.Context()); err != nil {
		t.Fatalf("the right genesis: %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(fakeTx{to: fakeOurs, sun: 1})
	c := f.open(t, nil)
	if ref, err := c.Find(t.Context(), fakeTxID(1, 0)); err != nil || ref != f.at(1) {
		t.Fatalf("found in %v, %v", ref, err)
	}
	for _, id := range []string{fakeHash("unknown"), "", "0x12", strings.Repeat("z", 64)} {
		if _, err := c.Find(t.Context(), id); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("%q: %v, want %v", id, err, chain.ErrNoBlock)
		}
	}
	b.info(0)["blockTimeStamp"] = fakeTime(2)
	if _, err := c.Find(t.Context(), fakeTxID(1, 0)); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("the result of a reorged-out block: %v, want %v", err, chain.ErrNoBlock)
	}
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(*Config){
		"id":           func(c *Config) { c.ID = "a b" },
		"genesis":      func(c *Config) { c.Genesis = "00" },
		"expiry":       func(c *Config) { c.Expiry = 1 },
		"byte price":   func(c *Config) { c.BytePrice = 1 << 40 },
		"energy":       func(c *Config) { c.MaxEnergy = 1 << 40 },
		"hot":          func(c *Config) { c.Hot = "x" },
		"token":        func(c *Config) { c.Tokens = []Token{{Contract: "x"}} },
		"token twice":  func(c *Config) { c.Tokens = append(c.Tokens, c.Tokens[0]) },
		"decimals":     func(c *Config) { c.Tokens[0].Decimals = 99 },
		"zero address": func(c *Config) { c.Tokens[0].Contract = (address{}).hex() },
	} {
		cfg := Mainnet()
		adjust(&cfg)
		if _, err := NewRules(cfg); err == nil {
			t.Errorf("%s: taken, want an error", name)
		}
	}
	if r, err := NewRules(Mainnet()); err != nil || r.cfg.ID != "tron" {
		t.Fatalf("mainnet: %v, want %q", err, "tron")
	}
}

// TestAnotherNodeIsAsked: a node that answers with errors, or lags, gets a cool-down.
func TestAnotherNodeIsAsked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(first *fake){
		"no resources": func(first *fake) {
			first.script["getblock"] = constant(object{"Error": "class java.lang.IllegalAccessException : lack of computing " +
				"resources"})
		},
		"another chain": func(first *fake) { first.blocks[0].block["blockID"] = strings.Repeat("0", 63) + "1" },
		"lags":          func(first *fake) { first.blocks = first.blocks[:3] },
		"half a block":  func(first *fake) { first.blocks[5].infos = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := []*fake{newFake(t), newFake(t)}
			for _, f := range nodes {
				for range 40 {
					f.add(fakeTx{to: fakeOurs, sun: 1})
				}
			}
			spoil(nodes[0])
			c, err := New(Config{Genesis: fakeID(0)}, rpc.Config{URLs: []string{nodes[0].url, nodes[1].url}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			read := func() (int, error) {
				if _, err := c.Head(t.Context()); err != nil {
					return 0, err
				}
				blocks, err := c.After(t.Context(), nodes[1].at(4), 20, fakeWatch())
				return len(blocks), err
			}
			count, err := read()
			if err != nil { // a read that fails in the middle fails as a whole, and succeeds the next time
				count, err = read()
			}
			if err != nil || count != 20 {
				t.Fatalf("%d blocks, %v, want 20", count, err)
			}
		})
	}
}
