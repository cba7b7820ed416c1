package outgoing_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// unproven shows external spends as an endpoint does that has neither an index of transactions nor the undo data of old
// blocks, as a pruned one of Bitcoin Core: by their form, without a fee.
type unproven struct{ chain.Chain }

func (u unproven) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := u.Chain.After(ctx, last, limit, watch)
	for _, b := range blocks {
		for i := range b.ExternalSpends {
			b.ExternalSpends[i].Inferred, b.ExternalSpends[i].Fee = true, bursar.Amount{}
		}
	}
	return blocks, err
}

// The attack: nobody, a pruned node is enough. A refill whose inputs no endpoint shows is known by the outputs of cold
// wallets that it spends; taken for a payment from outside, it and its change would be operator funds, which the
// operator may take out, beside the same money in the books of the cold wallet.
func TestASpendFromColdThatNoEndpointProvesIsBooked(t *testing.T) {
	bursartest.On(t, bursartest.UTXOModel, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Follower.Chain = unproven{r.Chain}
		r.Step()
		r.Pay(bursar.Address{Base: cold}, 1_000_000)
		r.Blocks(6)
		refill := chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(400_000)}
		r.Chain.ExternalSpend(cold, refill)
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "0")
		thief := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(100_000)}
		id := r.Chain.ExternalSpend(cold, thief)
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "100000")
		if list := alarmsOf(r, "cold_spend"); len(list) != 1 || list[0].Ref != id {
			t.Errorf("the alarms are %+v, want one of %s", list, id)
		}
		if halts := halted(r); len(halts) > 0 {
			t.Errorf("spends from cold halted %+v, want none", halts)
		}
	})
}
