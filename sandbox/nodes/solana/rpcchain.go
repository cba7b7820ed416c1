package solana

import (
	"encoding/base64"
	"slices"

	"github.com/bursar/bursar/test/pins"
)

const slotsInEpoch = 432_000

func (n *Node) getVersion(params) (any, error) {
	kind := "-simulator"
	if n.cfg.VM != nil {
		kind = "-litesvm-" + pins.LiteSVM
	}
	return map[string]any{"solana-core": apiVersion + kind, "feature-set": 0}, nil
}

func (n *Node) getSlot(p params) (any, error) {
	o, err := n.options(p, 0)
	return n.bank.at(o.Commitment).slot, err
}

func (n *Node) getBlockHeight(p params) (any, error) {
	o, err := n.options(p, 0)
	return n.bank.at(o.Commitment).height, err
}

func (n *Node) getEpochInfo(p params) (any, error) {
	o, err := n.options(p, 0)
	x := n.bank.at(o.Commitment)
	return map[string]any{"absoluteSlot": x.slot, "blockHeight": x.height, "epoch": x.slot / slotsInEpoch,
		"slotIndex": x.slot % slotsInEpoch, "slotsInEpoch": slotsInEpoch,
		"transactionCount": n.transactions(o.Commitment)}, err
}

func (n *Node) getTransactionCount(p params) (any, error) {
	o, err := n.options(p, 0)
	return n.transactions(o.Commitment), err
}

func (n *Node) transactions(l level) (count int) {
	for _, x := range n.bank.blocks[:n.bank.place(l)+1] {
		count += len(x.txs)
	}
	return count
}

func (n *Node) getLatestBlockhash(p params) (any, error) {
	o, err := n.options(p, 0)
	x := n.bank.at(o.Commitment)
	return n.in(o.Commitment, map[string]any{"blockhash": x.hash, "lastValidBlockHeight": x.height + blockhashLife}), err
}

func (n *Node) isBlockhashValid(p params) (any, error) {
	hash, err := p.key(0)
	if err != nil {
		return nil, err
	}
	o, err := n.options(p, 1)
	return n.in(o.Commitment, n.valid(o.Commitment, hash)), err
}

// valid reports whether a blockhash is accepted as of a commitment level.
func (n *Node) valid(l level, hash key) bool {
	place := n.bank.place(l)
	return n.bank.validAt(place, uint64(place), hash)
}

func (n *Node) getMinimumBalance(p params) (any, error) {
	var size int
	if err := p.get(0, &size); err != nil {
		return nil, err
	}
	if size < 0 || size > maxPermittedLength {
		return nil, fail(codeParams, "Invalid params: invalid value.")
	}
	return rentMinimum(size), nil
}

// getFeeForMessage answers null for a blockhash that is neither valid nor the value of the nonce that is advanced.
func (n *Node) getFeeForMessage(p params) (any, error) {
	var text string
	if err := p.get(0, &text); err != nil {
		return nil, err
	}
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fail(codeParams, "invalid base64 encoding: %v", err)
	}
	t, err := parseMessage(raw)
	if err != nil {
		return nil, fail(codeParams, "%v", err)
	}
	if err := n.admits(t); err != nil {
		return nil, err
	}
	place := n.bank.place(o.Commitment)
	on, accepted, _ := n.bank.groundOf(place, uint64(place), t, func(k key) account { return n.bank.accountAt(place, k) })
	if !accepted && on.nonce == nil {
		return n.in(o.Commitment, nil), nil
	}
	r := &runner{transaction: t}
	if why := r.budget(); why != nil {
		return nil, fail(codeParams, "invalid transaction: %s", explain(why))
	}
	return n.in(o.Commitment, r.fee), nil
}

// getRecentFees returns, for each of the last 150 slots with a block, the lowest price paid by a transaction that
// wrote to the accounts.
func (n *Node) getRecentFees(p params) (any, error) {
	var texts []string
	if !p.absent(0) {
		if err := p.get(0, &texts); err != nil {
			return nil, err
		}
	}
	if len(texts) > 128 {
		return nil, fail(codeParams, "Too many inputs provided; max 128")
	}
	var keys []key
	for _, text := range texts {
		k, err := paramKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	type slotFee struct {
		Fee  uint64 `json:"prioritizationFee"`
		Slot uint64 `json:"slot"`
	}
	fees := []slotFee{}
	blocks := n.bank.blocks
	for _, x := range blocks[max(0, len(blocks)-blockhashLife):] {
		least, paid := uint64(0), false
		for _, t := range x.txs {
			if price := t.price(); t.mentions(keys) && (!paid || price < least) {
				least, paid = price, true
			}
		}
		fees = append(fees, slotFee{least, x.slot})
	}
	return fees, nil
}

// price is what a transaction offers for a compute unit.
func (t *transaction) price() uint64 {
	r := &runner{transaction: t}
	_ = r.budget() // it was executed, so its budget can be read
	return r.price
}

// mentions reports whether a transaction names one of the accounts; an empty list matches every transaction.
func (i *included) mentions(keys []key) bool {
	return len(keys) == 0 || slices.ContainsFunc(i.outcome.keys, func(k key) bool { return slices.Contains(keys, k) })
}
