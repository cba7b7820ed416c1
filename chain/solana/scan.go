package solana

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// held is a block that was fetched and checked, with its place.
type held struct {
	slot uint64
	*block
}

func (h held) ref() chain.BlockRef { return chain.BlockRef{Height: h.slot, Hash: h.Hash} }

// scan tells what a block did to watched addresses.
func (h held) scan(watch chain.Watch) (chain.Block, error) {
	out := chain.Block{Ref: h.ref(), Parent: h.Previous, Time: time.Unix(*h.Time, 0).UTC()}
	for i := range *h.Txs {
		if err := (*h.Txs)[i].scan(watch, &out); err != nil {
			return out, fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return out, nil
}

// scan adds what one transaction did. A failed one changes nothing but its payer's balance by the fee.
func (t *transaction) scan(watch chain.Watch, out *chain.Block) error {
	sent := watch.Sent(t.id())
	if sent {
		out.Included = append(out.Included, chain.Inclusion{TxID: t.id(), Failed: t.failed(), Fee: bursar.Units(*t.Meta.Fee)})
	}
	accounts := t.accounts()
	for i, base := range accounts {
		if !watch.Pays(base) {
			continue
		}
		if slices.Contains(accounts[:i], base) {
			return fmt.Errorf("%w: %s is there twice", errBalances, base)
		}
		if i < t.Body.Message.Header.Signers && !sent {
			out.Foreign = append(out.Foreign, chain.Foreign{TxID: t.id(), Base: base})
		}
		before, after := t.Meta.Before[i], t.Meta.After[i]
		if t.failed() || after <= before {
			continue
		}
		if !t.conserves() {
			return fmt.Errorf("%w: more lamports come out than went in", errBalances)
		}
		out.Transfers = append(out.Transfers, chain.Transfer{
			TxID: t.id(), Address: bursar.Address{Base: base}, Amount: bursar.Units(after - before),
		})
	}
	return nil
}
