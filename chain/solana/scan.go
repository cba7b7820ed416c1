package solana

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// held is a block that was fetched and checked, with its slot.
type held struct {
	slot uint64
	*block
}

func (h held) ref() chain.BlockRef { return chain.BlockRef{Height: h.slot, Hash: h.Hash} }

// scan returns a block's effects on watched addresses.
func (h held) scan(watch chain.Watch) (chain.Block, error) {
	out := chain.Block{Ref: h.ref(), Parent: h.Previous, Time: time.Unix(*h.Time, 0).UTC()}
	for i := range h.Txs {
		if err := h.scanOne(&h.Txs[i], watch, &out); err != nil {
			return out, fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return out, nil
}

// scanOne adds the effect of one transaction. A failed one changes nothing except its payer's balance by the fee.
func (h held) scanOne(t *movement, watch chain.Watch, out *chain.Block) error {
	sent := watch.Sent(t.id)
	if sent {
		out.Included = append(out.Included, chain.Inclusion{TxID: t.id, Failed: t.failed, Fee: bursar.Units(t.fee)})
	}
	for place, a := range h.accountsOf(t) {
		if !watch.Pays(a.base) {
			continue
		}
		if a.twice {
			return fmt.Errorf("%w: %s is listed twice", errBalances, a.base)
		}
		if !sent && (a.signer || a.after < a.before) {
			out.ExternalSpends = append(out.ExternalSpends, h.external(t, place))
		}
		if t.failed || a.after <= a.before {
			continue
		}
		if t.grows {
			return fmt.Errorf("%w: more lamports come out than went in", errBalances)
		}
		out.Transfers = append(out.Transfers, chain.Transfer{
			TxID: t.id, Address: bursar.Address{Base: a.base}, Amount: bursar.Units(a.after - a.before),
		})
	}
	return nil
}
