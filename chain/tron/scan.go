package tron

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// scanner evaluates one block. It looks up each address once.
type scanner struct {
	*delivered
	watch chain.Watch
	known map[address]string // the base address, or "" if it is not ours
	out   chain.Block
}

// scan returns a block's effects on watched addresses.
func (c *Chain) scan(d *delivered, watch chain.Watch) (chain.Block, error) {
	w := &scanner{
		delivered: d, watch: watch, known: map[address]string{},
		out: chain.Block{Ref: d.ref(), Parent: d.parent(), Time: d.time()},
	}
	for i := range d.Txs {
		if err := c.own(w, i); err != nil {
			return chain.Block{}, err
		}
		if err := w.value(i); err != nil {
			return chain.Block{}, fmt.Errorf("transaction %s: %w", d.Txs[i].ID, err)
		}
		if d.Txs[i].succeeded() {
			if err := w.internals(i); err != nil {
				return chain.Block{}, fmt.Errorf("transaction %s: %w", d.Txs[i].ID, err)
			}
			c.logs(w, i)
		}
	}
	w.out.Untraced = d.silent()
	return w.out, nil
}

// silent reports whether contracts ran in a block and the node returned no internal transaction: the node may keep none
// (vm.saveInternalTx, off by default: java-tron 4.8, config.conf), so this does not prove that contracts sent no TRX.
func (d *delivered) silent() bool {
	calls := false
	for i := range d.Txs {
		calls = calls || d.Txs[i].calls() && d.Txs[i].succeeded()
	}
	return calls && !d.internal()
}

// internal reports whether a block has internal transactions.
func (d *delivered) internal() bool {
	return slices.ContainsFunc(d.executions, func(e execution) bool { return len(e.Internals) > 0 })
}

// pays returns the base of a watched address, or "".
func (w *scanner) pays(a address) string {
	base, asked := w.known[a]
	if !asked {
		if base = a.String(); !w.watch.Pays(base) {
			base = ""
		}
		w.known[a] = base
	}
	return base
}

// value adds the value of a plain payment. A payment to us without an outcome is an incomplete answer.
func (w *scanner) value(i int) error {
	tx := &w.Txs[i]
	v, ok, err := tx.payment()
	if err != nil || !ok || v.Owner == v.To {
		return err
	}
	base := w.pays(v.To)
	if base == "" {
		return nil
	}
	if tx.outcome() == "" {
		return fmt.Errorf("%w: contractRet", errPartial)
	}
	amount, err := v.Amount.amount()
	if err != nil || amount.IsZero() || !tx.succeeded() {
		return err
	}
	w.add(tx.ID, 0, base, amount)
	return nil
}

func (w *scanner) add(id hash, output uint32, base string, amount bursar.Amount) {
	w.out.Transfers = append(w.out.Transfers, chain.Transfer{
		TxID: id.String(), Output: output, Address: bursar.Address{Base: base}, Amount: amount,
	})
}

// internals adds the TRX that contracts sent.
func (w *scanner) internals(i int) error {
	for place := range w.executions[i].Internals {
		from, to, amount, err := w.executions[i].Internals[place].moved()
		if err != nil {
			return fmt.Errorf("internal transaction %d: %w", place, err)
		}
		if amount.IsZero() || from == to {
			continue
		}
		if base := w.pays(to); base != "" {
			w.add(w.Txs[i].ID, uint32(place)+1, base, amount)
		}
	}
	return nil
}

// moving are the kinds of internal transactions that move TRX to transferTo_address (java-tron,
// actuator/…/Program.java). Others, such as freezing or delegating resources, contain an address and an amount and move
// nothing to it.
var moving = map[string]bool{"call": true, "create": true, "suicide": true}

// moved returns the value that an internal transaction moved: nothing if it was rejected, is of another kind, or
// carries TRC-10 tokens. Unreadable addresses are not ours.
func (t *internal) moved() (from, to address, amount bursar.Amount, err error) {
	note, err := hex.DecodeString(t.Note)
	if err != nil || !moving[string(note)] || t.Rejected || len(t.Values) == 0 {
		return from, to, amount, nil
	}
	if json.Unmarshal(t.To, &to) != nil {
		return from, to, amount, nil
	}
	_ = json.Unmarshal(t.From, &from) // only to leave out payments of an address to itself
	for _, value := range t.Values {
		if value.Token != "" {
			continue
		}
		part, err := value.Amount.amount()
		if err != nil {
			return from, to, amount, err
		}
		if amount, err = amount.Add(part); err != nil {
			return from, to, amount, err
		}
	}
	return from, to, amount, nil
}
