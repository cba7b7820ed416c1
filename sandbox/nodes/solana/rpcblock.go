package solana

import "encoding/json"

// maxRange is the largest range of slots of getBlocks.
const maxRange = 500_000

func (n *Node) getBlock(p params) (any, error) {
	var slot uint64
	if err := p.get(0, &slot); err != nil {
		return nil, err
	}
	p = namedEncoding(p)
	o, err := n.ledgerOptions(p, 1)
	if err != nil {
		return nil, err
	}
	x, err := n.blockAt(slot, o.Commitment)
	if err != nil {
		return nil, err
	}
	parent := n.bank.parent(x)
	view := map[string]any{"blockHeight": x.height, "blockTime": x.time, "blockhash": x.hash,
		"parentSlot": parent.slot, "previousBlockhash": parent.hash}
	if o.Rewards == nil || *o.Rewards {
		view["rewards"] = []any{}
	}
	switch o.Details {
	case "", "full", "accounts":
		txs := []any{}
		for _, t := range x.txs {
			v, err := t.view(o)
			if err != nil {
				return nil, err
			}
			txs = append(txs, v)
		}
		view["transactions"] = txs
	case "signatures":
		ids := []signature{}
		for _, t := range x.txs {
			ids = append(ids, t.id())
		}
		view["signatures"] = ids
	case "none":
	default:
		return nil, fail(codeParams,
			"Invalid params: unknown variant `%s`, expected one of `full`, `signatures`, `none`, `accounts`.", o.Details)
	}
	return view, nil
}

// namedEncoding turns the old form of the second parameter, a bare encoding, into an object.
func namedEncoding(p params) params {
	var encoding string
	if len(p) < 2 || json.Unmarshal(p[1], &encoding) != nil {
		return p
	}
	object, err := json.Marshal(map[string]string{"encoding": encoding})
	if err != nil {
		return p
	}
	return params{p[0], object}
}

// blockAt finds a slot's block at a commitment level, or returns a node's error that explains why there is none.
func (n *Node) blockAt(slot uint64, l level) (*block, error) {
	if slot > n.bank.at(l).slot {
		return nil, fail(codeNotAvailable, "Block not available for slot %d", slot)
	}
	if x := n.bank.bySlot[slot]; x != nil {
		return x, nil
	}
	return nil, fail(codeSlotSkipped, "Slot %d was skipped, or missing due to ledger jump to recent snapshot", slot)
}

func (n *Node) getBlockTime(p params) (any, error) {
	var slot uint64
	if err := p.get(0, &slot); err != nil {
		return nil, err
	}
	x, err := n.blockAt(slot, confirmed)
	if err != nil {
		return nil, err
	}
	return x.time, nil
}

// getBlocks lists the slots with blocks from one slot to another, both included.
func (n *Node) getBlocks(p params) (any, error) {
	var from, to uint64
	if err := p.get(0, &from); err != nil {
		return nil, err
	}
	config := 1
	to = never
	if !p.absent(1) && p[1][0] != '{' {
		if err := p.get(1, &to); err != nil {
			return nil, err
		}
		config = 2
	} else if p.absent(1) {
		config = 2
	}
	o, err := n.ledgerOptions(p, config)
	if err != nil {
		return nil, err
	}
	if to != never && to >= from && to-from > maxRange {
		return nil, fail(codeParams, "Slot range too large; max %d", maxRange)
	}
	return n.slots(from, to, maxRange, o.Commitment), nil
}

func (n *Node) getBlocksWithLimit(p params) (any, error) {
	var from uint64
	var limit int
	if err := p.get(0, &from); err != nil {
		return nil, err
	}
	if err := p.get(1, &limit); err != nil {
		return nil, err
	}
	if limit < 0 || limit > maxRange {
		return nil, fail(codeParams, "Limit too large; max %d", maxRange)
	}
	o, err := n.ledgerOptions(p, 2)
	return n.slots(from, never, limit, o.Commitment), err
}

func (n *Node) slots(from, to uint64, limit int, l level) []uint64 {
	slots, end := []uint64{}, n.bank.place(l)+1
	for _, x := range n.bank.blocks[min(n.bank.placeOf(from), end):end] {
		if x.slot >= from && x.slot <= to && len(slots) < limit {
			slots = append(slots, x.slot)
		}
	}
	return slots
}
