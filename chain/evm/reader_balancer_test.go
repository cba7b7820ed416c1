package evm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// balancer is one URL behind which each request goes to another node.
type balancer struct {
	nodes []*fake
	next  atomic.Uint64
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.nodes[b.next.Add(1)%uint64(len(b.nodes))].serve(w, r)
}

func (b *balancer) open(t *testing.T) *Chain {
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	cfg := Ethereum()
	cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
	c, err := New(cfg, rpc.Config{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// shows makes a node know so many blocks of a chain.
func (f *fake) shows(whole *fake, blocks int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocks = whole.blocks[:blocks]
	f.final = max(blocks-4, 0)
}

// TestNodesBehindOneURL follows a chain through a URL behind which every request goes to another of three nodes, one of
// which is two blocks behind and one five. Blocks that they do not know yet mean that there is nothing new: no read
// fails, the endpoint stays in use, and every block is read once, complete, in order, with the payments of contracts in
// it.
func TestNodesBehindOneURL(t *testing.T) {
	t.Parallel()
	const blocks = 40
	whole := newFake(t)
	var want []chain.Transfer
	for n := 1; n <= blocks; n++ {
		whole.add(plainPayment(), fakeTx{to: fakeContract, input: namesOurs,
			calls: []object{fakeCall("CALL", fakeOurs, "0x4")}})
		want = append(want, transfer(fakeHash("tx", n, 0), 0, fakeOurs, 7), transfer(fakeHash("tx", n, 1), 1, fakeOurs, 4))
	}
	for n := range blocks + 1 {
		whole.balances[fakeOurs+"@"+quantity(n).hex()] = quantity(11 * n).hex()
	}
	lags := []int{0, 2, 5}
	b := &balancer{nodes: []*fake{newFake(t), newFake(t), newFake(t)}}
	for _, node := range b.nodes {
		node.balances = whole.balances
	}
	c := b.open(t)
	last := whole.at(0)
	var got []chain.Transfer
	for tip := 1; tip <= blocks+5; tip++ {
		for i, node := range b.nodes {
			node.shows(whole, max(1, min(blocks, tip-lags[i])+1))
		}
		for range 3 {
			head, err := c.Head(t.Context())
			if err != nil || head.Latest.Height < head.Final.Height {
				t.Fatalf("tip %d: head %+v, %v, want at least %v", tip, head, err, head.Final.Height)
			}
			read, err := c.After(t.Context(), last, 64, fakeWatch())
			if err != nil {
				t.Fatalf("tip %d, after %d: %v", tip, last.Height, err)
			}
			for _, block := range read {
				if block.Parent != last.Hash || block.Ref.Height != last.Height+1 {
					t.Fatalf("block %+v follows %+v, want %v and %v", block.Ref, last, last.Hash, last.Height+1)
				}
				last, got = block.Ref, append(got, block.Transfers...)
				if block.Anomalies != nil {
					t.Errorf("block %d: anomalies %+v, want nil", block.Ref.Height, block.Anomalies)
				}
			}
		}
		if int(last.Height) < tip-lags[2]-1 {
			t.Fatalf("tip %d: only %d blocks are read", tip, last.Height)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %d transfers, want %d", len(got), len(want))
	}
	if stats := c.Stats()[0]; stats.State != rpc.StateUp || stats.Faults != 0 {
		t.Errorf("the endpoint: %+v, want %v and 0", stats, rpc.StateUp)
	}
}

// TestAFinalizedBlockAboveTheNewest: two nodes have answered one request. The final block is the newest known one.
func TestAFinalizedBlockAboveTheNewest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 5 {
		f.add()
	}
	f.script["eth_getBlockByNumber"] = func(params []any) (any, error) {
		if params[0] == "latest" {
			params = []any{"0x2", false}
		}
		return f.usual("eth_getBlockByNumber", params)
	}
	f.final = 4
	c := f.open(t, nil)
	head, err := c.Head(t.Context())
	if want := (chain.Head{Latest: f.at(4), Final: f.at(4)}); err != nil || head != want {
		t.Fatalf("head %+v, %v, want %+v", head, err, want)
	}
	if state := c.Stats()[0].State; state != rpc.StateUp {
		t.Errorf("the endpoint is %s, want %v", state, rpc.StateUp)
	}
}

// TestReceiptsOfAnotherBranch: receipts that were requested by height come from a node on another branch. They are
// requested again, by hash.
func TestReceiptsOfAnotherBranch(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(plainPayment(), fakeTx{to: fakeToken, input: "0x01", logs: []object{transferLog(fakeOurs, 5)}})
	f.script["eth_getBlockReceipts"] = func(params []any) (any, error) {
		if params[0] == "0x1" {
			var other []any
			raw, _ := json.Marshal(b.receipts)
			_ = json.Unmarshal([]byte(strings.ReplaceAll(string(raw), fmt.Sprint(b.block["hash"]), fakeHash("other"))), &other)
			return other, nil
		}
		return f.usual("eth_getBlockReceipts", params)
	}
	blocks := f.after(t, f.open(t, nil))
	if want := []chain.Transfer{transfer(id(0), 0, fakeOurs, 7),
		tokens(1, 0, 5)}; !reflect.DeepEqual(blocks[0].Transfers, want) {
		t.Fatalf("got %+v, want %+v", blocks, want)
	}
}

// TestBlocksThatAnEndpointDoesNotHaveYet: an endpoint that lacks a block that it announced gives the blocks that it
// has, or nothing new near the tip; far below the tip that is an error, so that a chain cannot stop unnoticed.
func TestBlocksThatAnEndpointDoesNotHaveYet(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(plainPayment())
	f.script["eth_blockNumber"] = constant("0x3")
	c := f.open(t, nil)
	if blocks := f.after(t, c); len(blocks) != 1 {
		t.Fatalf("got %+v, want 1 of them", blocks)
	}
	if blocks, err := c.After(t.Context(), f.at(1), 10, fakeWatch()); err != nil || blocks != nil {
		t.Fatalf("near the tip: %+v, %v, want nil", blocks, err)
	}
	f.script["eth_blockNumber"] = constant("0x300")
	if blocks, err := c.After(t.Context(), f.at(1), 10, fakeWatch()); err == nil {
		t.Fatalf("far below the tip: %+v, want an error", blocks)
	}
	f.script["eth_blockNumber"] = nil
	for name, answer := range map[string]func([]any) (any, error){"null": constant(nil),
		"refused": refusal(-32000, "block not found")} {
		f.script["eth_getBlockReceipts"] = answer
		if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); err != nil || blocks != nil {
			t.Fatalf("receipts %s: %+v, %v, want nil", name, blocks, err)
		}
	}
	if stats := c.Stats()[0]; stats.State != rpc.StateUp || stats.Faults != 0 {
		t.Errorf("the endpoint: %+v, want %v and 0", stats, rpc.StateUp)
	}
}

// TestReadersOfOneEndpoint reads through that endpoint alone, whatever the others know.
func TestReadersOfOneEndpoint(t *testing.T) {
	t.Parallel()
	whole, _, want := mixedBlock(t)
	lacking, _, _ := mixedBlock(t)
	lacking.script["debug_traceBlockByHash"], lacking.script["trace_block"] = refusal(-32601, "no"), refusal(-32601, "no")
	lacking.script["eth_getBalance"] = refusal(-32000, "missing trie node")
	cfg := Ethereum()
	cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
	c, err := New(cfg, rpc.Config{URLs: []string{lacking.url, whole.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	var names []string
	for _, e := range c.Endpoints() {
		names = append(names, e.Name)
		if e.Host != "127.0.0.1" {
			t.Errorf("endpoint %+v, want %q", e, "127.0.0.1")
		}
		head, err := c.HeadOn(t.Context(), e.Name)
		if err != nil || head.Latest != whole.at(1) {
			t.Fatalf("%s: head %+v, %v", e.Name, head, err)
		}
		if b, err := c.BlockOn(t.Context(), e.Name, 2,
			fakeWatch()); !strings.Contains(fmt.Sprint(err), chain.ErrNoBlock.Error()) {
			t.Errorf("%s: a block above the head: %+v, %v, want %v in it", e.Name, b, err, chain.ErrNoBlock.Error())
		}
	}
	first, err := c.BlockOn(t.Context(), names[0], 1, fakeWatch())
	if err != nil || !reflect.DeepEqual(first.Transfers, want[:2]) || len(first.Anomalies) != 1 {
		t.Errorf("through the first: %+v, %v, want %+v and 1 of them", first, err, want[:2])
	}
	second, err := c.BlockOn(t.Context(), names[1], 1, fakeWatch())
	if err != nil || !reflect.DeepEqual(second.Transfers, want) || second.Anomalies != nil {
		t.Errorf("through the second: %+v, %v, want %+v and nil", second, err, want)
	}
	if _, err := c.BlockOn(t.Context(), "http://nowhere", 1, fakeWatch()); err == nil {
		t.Error("an endpoint that is not configured was read")
	}
}

// A backend that has not yet seen the tokens that another one behind the same URL has makes a dry run of their payment
// revert. That must not refuse the transaction request, because a refusal is final.
func TestARevertAtABackendThatIsBehindRefusesNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	payerState{native: 1e18, tokens: 9}.script(f)
	var dryRuns atomic.Uint64
	f.script["eth_estimateGas"] = func(params []any) (any, error) {
		if dryRuns.Add(1)%3 != 0 {
			return refusal(3, "execution reverted: ERC20: transfer amount exceeds balance")(params)
		}
		return quantity(60_000).hex(), nil
	}
	c := f.open(t, nil)
	for range 4 {
		if _, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, base(fakeToken), 9)); err != nil {
			t.Fatal(err)
		}
	}
}
