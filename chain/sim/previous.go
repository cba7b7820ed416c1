package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var (
	_ chain.Provable       = (*Chain)(nil)
	_ chain.PreviousReader = (*Chain)(nil)
)

// outsideForm is what the id of a transaction with outputs commits to that no adapter built. Of one that was built here
// it is the unsigned transaction.
type outsideForm struct {
	Outside  string          `json:"outside"` // a unique name
	Payments []chain.Payment `json:"payments"`
}

// ReadPrevious reads a transaction with outputs. An output's script is its address.
func (c *Chain) ReadPrevious(raw []byte, wanted ...uint32) (txID string, outputs map[uint32]chain.Output, err error) {
	payments, again, err := c.previousForm(raw)
	if err == nil && !bytes.Equal(again, raw) {
		err = errors.New("the transaction is not in its only form")
	}
	if err != nil {
		return "", nil, fmt.Errorf("read previous transaction: %w", err)
	}
	outputs = map[uint32]chain.Output{}
	for _, n := range wanted {
		if uint64(n) < uint64(len(payments)) {
			outputs[n] = chain.Output{Script: []byte(payments[n].Address.Base), Amount: payments[n].Amount}
		}
	}
	return idOf(raw), outputs, nil
}

// previousForm returns a transaction's payments, and how it is written.
func (c *Chain) previousForm(raw []byte) (payments []chain.Payment, again []byte, err error) {
	var outside outsideForm
	if json.Unmarshal(raw, &outside) == nil && outside.Outside != "" {
		again, err = json.Marshal(outside)
		return outside.Payments, again, err
	}
	u, err := c.decode(raw)
	if err != nil {
		return nil, nil, err
	}
	again, err = json.Marshal(u)
	return u.Payments, again, err
}

// Script returns an address of ours itself.
func (c *Chain) Script(base string) ([]byte, error) {
	if address, err := c.ParseAddress(base); err != nil || address != (bursar.Address{Base: base}) {
		return nil, fmt.Errorf("%.80q: %w", base, bursar.ErrBadAddress)
	}
	return []byte(base), nil
}

// PreviousOf returns the unsigned bytes of a signed transaction.
func (c *Chain) PreviousOf(raw []byte) ([]byte, error) {
	var parts signed
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return parts.Unsigned, nil
}

// Previous finds a transaction as a node without an index does: in the block at a height, or in the mempool.
func (c *Chain) Previous(ctx context.Context, txID string, height uint64) ([]byte, error) {
	if err := c.enter(ctx, Previous); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	if height == 0 {
		if tx := c.waits(txID); tx != nil {
			return tx.raw, nil
		}
		return nil, fmt.Errorf("%s: %w", txID, chain.ErrNoPrevious)
	}
	if height < c.pruned {
		return nil, fmt.Errorf("%s: %w", txID, chain.ErrPruned)
	}
	if at, included := c.where[txID]; included && uint64(at) == height {
		return c.seen[txID].raw, nil
	}
	return nil, fmt.Errorf("%s: %w", txID, chain.ErrNoPrevious)
}

// name gives a transaction that no adapter built its id. Its payments must not change any more.
func (c *Chain) name(tx *transaction, kind string) {
	if !tx.makesUTXOs {
		tx.id = c.nextID(kind)
		return
	}
	c.made++
	raw, err := json.Marshal(outsideForm{fmt.Sprintf("%s %s %d %d", kind, c.config.ID, c.config.Seed, c.made),
		tx.payments})
	if err != nil {
		panic("sim: " + err.Error())
	}
	tx.id, tx.raw = idOf(raw), raw
}
