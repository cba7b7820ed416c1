package outgoing

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// proving is a chain of UTXOs whose node knows every transaction, each of a size.
type proving struct {
	chain.Chain
	chain.Provable
	size int
}

func (p proving) Capabilities() chain.Capabilities {
	return chain.Capabilities{ID: bursar.Bitcoin, Model: chain.UTXOModel}
}

func (p proving) Previous(context.Context, string, uint64) ([]byte, error) {
	return make([]byte, p.size), nil
}

// What an outgoing transaction has reserved comes first though only what is read from the node makes all too large.
func TestWhatIsReservedFitsBesideWhatIsRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := proving{size: chain.MaxPrevious / 2}
		s := NewSender(Config{DB: db, Chain: c})
		request := bursar.OutgoingTx{ID: bursar.ID{4}, Chain: bursar.Bitcoin, Kind: "withdrawal", Currency: "BTC",
			Base:    "hot",
			Request: []byte("{}")}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Outgoing().Insert(t.Context(), request); err != nil {
				return err
			}
			if err := tx.Reservations().Reserve(t.Context(), request, []string{"b:0"}); err != nil {
				return err
			}
			kept := store.PreviousTx{TxID: "a", Raw: make([]byte, chain.MaxPrevious-chain.MaxPrevious/4)}
			return tx.UTXOs().PutPrevious(t.Context(), bursar.Bitcoin, kept)
		})
		if err != nil {
			t.Fatal(err)
		}
		fitting, leftOut, err := s.provable(t.Context(), store.ChainState{}, request.ID,
			[]store.UTXO{{Outpoint: "a:0"}, {Outpoint: "b:0"}})
		if err != nil || !leftOut || len(fitting) != 1 || fitting[0].Outpoint != "b:0" {
			t.Errorf("got %v (left out: %v), %v, want b:0, which is reserved", fitting, leftOut, err)
		}
	})
}
