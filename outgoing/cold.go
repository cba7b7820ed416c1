package outgoing

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// alarmCold is raised for a transaction from a cold wallet that pays others. Ref is the transaction hash. No money ever
// leaves a cold wallet but to our hot wallet.
const alarmCold = "cold_spend"

// ColdSpends handles what leaves the cold wallets of a chain. What goes to the hot wallet is a refill, and package
// deposit books it; the fee, and what went to others, is booked here once its block is final.
type ColdSpends struct {
	Capabilities chain.Capabilities
	Registry     *bursar.Registry
	Log          *slog.Logger
	Hot          string                  // the hot wallet's address
	Old          map[string]chain.KeyRef // the hot wallets of earlier epochs
	Bases        map[string]bool         // the addresses of cold wallets

	unused atomic.Bool // no cold wallet is configured, and none ever was
}

// Apply records the outputs of cold wallets that a block creates and spends, and the transactions that spend from one.
// It adds the latter to Cold, for the handlers after it.
func (c *ColdSpends) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	if len(c.Bases) == 0 {
		return nil
	}
	if err := c.recordUTXOs(ctx, tx, b); err != nil {
		return err
	}
	for _, x := range b.ExternalSpends {
		if !c.Bases[x.Base] {
			continue
		}
		spent, err := tx.Cold().UTXOsAmong(ctx, c.Capabilities.ID, x.Reservations)
		if err != nil {
			return err
		}
		if err := tx.Cold().SpendUTXOs(ctx, c.Capabilities.ID, spent, x.TxID, b.Ref.Height); err != nil {
			return err
		}
		mixed, err := c.isMixed(ctx, tx, x)
		if err != nil {
			return err
		}
		if mixed || x.Inferred && len(spent) == 0 {
			continue // it spends from the hot wallet too, or only looks as if it spent something of ours
		}
		if b.Cold == nil {
			b.Cold = map[string]bool{}
		}
		b.Cold[x.TxID] = true
		if err := c.recordSpend(ctx, tx, b, x, spent); err != nil {
			return err
		}
	}
	return nil
}

// isMixed reports whether a transaction on a chain of the UTXO model spends outputs of the hot wallet too. It is an
// external spend then, because the hot key signed it.
func (c *ColdSpends) isMixed(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bool, error) {
	if c.Capabilities.Model != chain.UTXOModel {
		return false, nil
	}
	worth, err := tx.UTXOs().Worth(ctx, c.Capabilities.ID, x.Reservations)
	return !worth.IsZero(), err
}

func (c *ColdSpends) recordUTXOs(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	var made []store.ColdUTXO
	for _, t := range b.Transfers {
		if t.UTXO != "" && c.Bases[t.Address.Base] {
			made = append(made, store.ColdUTXO{
				Outpoint: t.UTXO,
				Base:     t.Address.Base,
				Amount:   t.Amount,
				Height:   int64(b.Ref.Height),
			})
		}
	}
	return tx.Cold().PutUTXOs(ctx, c.Capabilities.ID, made...)
}

// recordSpend records the fee of a spend and what it paid to others, and raises the alarm about the latter.
func (c *ColdSpends) recordSpend(
	ctx context.Context, tx *store.Tx, b *follow.Block, x chain.ExternalSpend, spent []store.ColdUTXO,
) error {
	lost, err := c.lost(b, x)
	if err != nil {
		return err
	}
	text, err := json.Marshal(lost)
	if err != nil {
		return fmt.Errorf("encode what %s paid: %w", x.TxID, err)
	}
	fee, err := c.fee(x, spent)
	if err != nil {
		return err
	}
	err = tx.Cold().PutSpend(ctx, store.ColdSpend{
		Chain:  c.Capabilities.ID,
		TxID:   x.TxID,
		Base:   x.Base,
		Height: b.Ref.Height,
		Fee:    fee,
		Lots:   text,
		Uses:   c.uses(x),
	})
	if err != nil {
		return err
	}
	tx.After(func() {
		c.Log.Warn("cold wallet spent", "chain", c.Capabilities.ID, "hash", x.TxID, "height", b.Ref.Height, "address", x.Base,
			"fee", c.Registry.AssetText(c.Capabilities.ID, "", fee), "lost", len(lost))
	})
	if len(lost) == 0 {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: c.Capabilities.ID, Kind: alarmCold, Ref: x.TxID, Message: fmt.Sprintf(
		"transaction %s in block %d pays %s from cold wallet %s to others: no money of a cold wallet leaves us, so "+
			"somebody else may have its keys. Move the rest to another cold wallet, and halt payments (`bursar halt`)",
		x.TxID, b.Ref.Height, c.text(lost), x.Base)})
}

// uses returns what a spend used up of an account. Outputs have rows of their own.
func (c *ColdSpends) uses(x chain.ExternalSpend) []string {
	if c.Capabilities.Model == chain.UTXOModel {
		return nil
	}
	return x.Reservations
}

// fee returns what a spend cost us. Where no endpoint shows it, it is what the outputs of ours that were spent hold
// beyond all payments.
func (c *ColdSpends) fee(x chain.ExternalSpend, spent []store.ColdUTXO) (bursar.Amount, error) {
	if !x.Inferred {
		return x.Fee, nil
	}
	var in, out bursar.Amount
	var err error
	for _, u := range spent {
		if in, err = in.Add(u.Amount); err != nil {
			return in, err
		}
	}
	for _, p := range x.Payments {
		if out, err = out.Add(p.Amount); err != nil {
			return in, err
		}
	}
	return in.SubOrZero(out), nil
}

// lost returns what a spend paid to others than cold wallets and the hot wallet, by currency. A customer's wallet is
// among the others: what it gets is credited to the customer. An asset that is not configured is in no books.
func (c *ColdSpends) lost(b *follow.Block, x chain.ExternalSpend) (lost []ledger.Lot, err error) {
	sums := map[bursar.CurrencyCode]bursar.Amount{}
	var order []bursar.CurrencyCode
	for _, p := range x.Payments {
		_, customers := b.Wallets[p.Address]
		_, old := c.Old[p.Address.Base]
		if c.Bases[p.Address.Base] || (old || p.Address.Base == c.Hot) && !customers || p.Amount.IsZero() {
			continue
		}
		currency, configured := c.Registry.Asset(c.Capabilities.ID, p.Contract)
		if !configured {
			continue
		}
		if _, seen := sums[currency.Code]; !seen {
			order = append(order, currency.Code)
		}
		if sums[currency.Code], err = sums[currency.Code].Add(p.Amount); err != nil {
			return nil, err
		}
	}
	for _, code := range order {
		lost = append(lost, ledger.Lot{Asset: code, Amount: sums[code]})
	}
	return lost, nil
}

func (c *ColdSpends) text(lots []ledger.Lot) (text string) {
	for i, l := range lots {
		if i > 0 {
			text += " and "
		}
		text += c.Registry.Text(l.Asset, l.Amount)
	}
	return text
}
