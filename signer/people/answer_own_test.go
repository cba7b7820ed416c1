package people

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// The attack: a move to one cold wallet was allowed, and its replacement pays another address. It is evaluated as
// another move, because what was allowed names where it went.
func TestAMoveToAnotherColdAddressIsEvaluatedAgain(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	p := policyOf(t, instance)
	p.Assets = []roster.Asset{{Name: "BTC", Chain: "bitcoin", Price: bursar.Units(1)}}
	p.Rules = []roster.Rule{{ID: "chill", For: []string{roster.KindToCold}, To: roster.ToOwn, Each: bursar.Units(1e18)}}
	if _, err := install(t, file, p, noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	var flow int64
	err := file.Do(t.Context(), func(tx memory.Tx) (err error) {
		flow, err = tx.AddFlow(t.Context(), memory.Flow{Chain: "bitcoin", At: noon})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	granted := func(address string) (count int) {
		t.Helper()
		err := file.Do(t.Context(), func(tx memory.Tx) error {
			g, err := Evaluate(t.Context(), tx, Question{Chain: "bitcoin", Flow: flow, Now: noon,
				Request: chain.TxRequest{Kind: chain.KindToCold, Payments: []chain.Payment{
					{Address: bursar.Address{Base: address}, Amount: bursar.Units(1000)}}}})
			if err != nil {
				return err
			}
			count = len(g.List)
			return g.Write(t.Context(), tx, flow, noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	for _, move := range []struct {
		name, address string
		want          int
	}{{"the move", "vault", 1}, {"its replacement", "vault", 0}, {"one to another address", "other", 1}} {
		if got := granted(move.address); got != move.want {
			t.Errorf("%s: %d grants, want %d", move.name, got, move.want)
		}
	}
}
