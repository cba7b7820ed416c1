package follow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// scripted is a chain whose blocks' contents a test sets by height.
type scripted struct {
	*sim.Chain
	write map[uint64]func(b *chain.Block)
}

func (c scripted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		if write := c.write[blocks[i].Ref.Height]; write != nil {
			write(&blocks[i])
		}
	}
	return blocks, err
}

// handler passes what it is asked to a function of the test.
type handler struct {
	apply func(tx *store.Tx, b *follow.Block) error
	undo  func(b follow.RolledBackBlock) error
}

func (h handler) Apply(_ context.Context, tx *store.Tx, b *follow.Block) error { return h.apply(tx, b) }

func (h handler) Undo(_ context.Context, _ *store.Tx, b follow.RolledBackBlock) error {
	return h.undo(b)
}

// sign records a transaction of ours.
func sign(f *followtest.Harness, n byte, txID string) (id bursar.ID) {
	f.T.Helper()
	p := bursar.OutgoingTx{ID: bursar.ID{9, n}, Chain: bursar.Ethereum, Kind: "withdrawal", Currency: "COIN", Base: "hot",
		Request: []byte("{}")}
	do(f, func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: txID, Raw: []byte{1}})
	})
	return p.ID
}

// Handlers are called for each transaction of a block that the database knows as ours, whatever it does there, and
// learn whose wallets are paid. They are not called for a block that concerns nothing of ours.
func TestHandlersLearnWhomABlockConcerns(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		ours := map[string]bursar.ID{}
		for i, txID := range []string{"pays our address", "is included", "spends from our address"} {
			ours[txID] = sign(f, byte(i), txID)
		}
		to := func(base string) bursar.Address { return bursar.Address{Base: base} }
		f.Chain = scripted{f.Sim, map[uint64]func(b *chain.Block){2: func(b *chain.Block) {
			b.Transfers = []chain.Transfer{{TxID: "pays our address", Address: f.Wallet.Address},
				{TxID: "theirs", Address: f.Tokens.Address}, {TxID: "theirs", Address: to("outsider")}}
			b.Included = []chain.Inclusion{{TxID: "is included"}, {TxID: "is theirs"}}
			b.ExternalSpends = []chain.ExternalSpend{{TxID: "spends from our address"}, {TxID: "spends from theirs"}}
		}}}
		asked := 0
		f.Handlers = []follow.BlockHandler{handler{apply: func(_ *store.Tx, b *follow.Block) error {
			asked++
			if b.Ref.Height != 2 || len(b.Transfers) != 3 || len(b.Unknown) != 0 {
				t.Errorf("the handler was called with %+v, want 2 and 3 of them and none", b)
			}
			if !maps.Equal(b.Ours, ours) {
				t.Errorf("ours are %v, want %v", b.Ours, ours)
			}
			wallets := map[bursar.Address]bursar.ID{}
			for at, w := range b.Wallets {
				wallets[at] = w.ID
			}
			want := map[bursar.Address]bursar.ID{f.Wallet.Address: f.Wallet.ID, f.Tokens.Address: f.Tokens.ID}
			if !maps.Equal(wallets, want) {
				t.Errorf("the wallets are %v, want %v", wallets, want)
			}
			return nil
		}}}
		mine(f, 3)
		if asked != 1 {
			t.Errorf("of three blocks the handler was called for %d, want 1", asked)
		}
	})
}

// A block that brings a single thing of any kind is passed to the handlers.
func TestEverythingABlockBringsReachesTheHandlers(t *testing.T) {
	for name, write := range map[string]func(b *chain.Block){
		"a transfer":          func(b *chain.Block) { b.Transfers = []chain.Transfer{{TxID: "a"}} },
		"a transaction":       func(b *chain.Block) { b.Included = []chain.Inclusion{{TxID: "a"}} },
		"an external spend":   func(b *chain.Block) { b.ExternalSpends = []chain.ExternalSpend{{TxID: "a"}} },
		"an anomaly":          func(b *chain.Block) { b.Anomalies = []chain.Anomaly{{TxID: "a", What: "unknown"}} },
		"the use of an input": func(b *chain.Block) { b.Spent = []chain.Spent{{TxID: "a", Outpoint: "b:0"}} },
	} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				var heights []uint64
				f.Handlers = []follow.BlockHandler{handler{apply: func(_ *store.Tx, b *follow.Block) error {
					heights = append(heights, b.Ref.Height)
					return nil
				}}}
				f.Chain = scripted{f.Sim, map[uint64]func(b *chain.Block){2: write}}
				mine(f, 3)
				if !slices.Equal(heights, []uint64{2}) {
					t.Errorf("the handler was called for the blocks %v, want %+v", heights, []uint64{2})
				}
			})
		})
	}
}

// Handlers write what a block brings in their order, and undo it in reverse order. If one of them fails, nothing
// changes.
func TestHandlersUndoInTheReverseOrder(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		var calls []string
		var broken error
		named := func(name string) handler {
			return handler{
				apply: func(_ *store.Tx, b *follow.Block) error {
					calls = append(calls, fmt.Sprint(name, " applies ", b.Ref.Height))
					return nil
				},
				undo: func(b follow.RolledBackBlock) error {
					calls = append(calls, fmt.Sprint(name, " undoes ", b.Height, " of ", b.State.Height))
					return broken
				},
			}
		}
		f.Handlers = []follow.BlockHandler{named("first"), named("second")}
		f.Pay(5000)
		mine(f, 1)
		broken = errors.New("it cannot be undone")
		f.Sim.Reorg(1)
		if _, err := f.Step(ctx, f.Lease); !errors.Is(err, broken) || cursor(f) != 1 {
			t.Errorf("the step returned %v, and block %d is recorded, want %v and 1", err, cursor(f), broken)
		}
		broken = nil
		f.CatchUp()
		want := []string{"first applies 1", "second applies 1", "second undoes 1 of 1", "second undoes 1 of 1",
			"first undoes 1 of 1", "first applies 2", "second applies 2"}
		if !slices.Equal(calls, want) {
			t.Errorf("the handlers did %q, want %q", calls, want)
		}
	})
}
