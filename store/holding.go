package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Holding is what an address of ours holds of one asset on a chain that uses the account model, as our books know it.
type Holding struct {
	Base     string
	Contract string
	Branch   uint32
	Index    uint32
	Amount   bursar.Amount
	Due      bool      // worth a sweep
	Rests    time.Time // not swept before that: the sweep before could not be made
}

var holdingColumns = columnsOf([]column[Holding]{
	{"base", func(h *Holding) any { return &h.Base }},
	{"contract", func(h *Holding) any { return &h.Contract }},
	{"key_branch", func(h *Holding) any { return &h.Branch }},
	{"key_index", func(h *Holding) any { return &h.Index }},
	{"amount", func(h *Holding) any { return &h.Amount }},
	{"due", func(h *Holding) any { return &h.Due }},
	{"rests_until", func(h *Holding) any { return instant{&h.Rests} }},
})

// Get returns what an address holds, zero where nothing ever arrived, and locks it until the transaction ends.
func (tx Holdings) Get(ctx context.Context, chain bursar.ChainID, base, contract string) (Holding, error) {
	found, err := holdingColumns.rows(ctx, tx.Tx, "read holding", `FROM holdings
		WHERE chain = $1 AND contract = $2 AND base = $3`+tx.forUpdate(), string(chain), contract, base)
	if err != nil || len(found) == 0 {
		return Holding{Base: base, Contract: contract}, err
	}
	return found[0], nil
}

// Current is Holding without the lock.
func (tx Holdings) Current(ctx context.Context, chain bursar.ChainID, base, contract string) (Holding, error) {
	found, err := holdingColumns.rows(ctx, tx.Tx, "look up holding", `FROM holdings
		WHERE chain = $1 AND contract = $2 AND base = $3`, string(chain), contract, base)
	if err != nil || len(found) == 0 {
		return Holding{Base: base, Contract: contract}, err
	}
	return found[0], nil
}

// Asset is an asset at an address.
type Asset struct{ Base, Contract string }

// Of is Get for several assets, each once, in the order of their names.
func (tx Holdings) Of(ctx context.Context, chain bursar.ChainID, assets []Asset) (map[Asset]Holding, error) {
	held := make(map[Asset]Holding, len(assets))
	for _, a := range assets {
		held[a] = Holding{Base: a.Base, Contract: a.Contract}
	}
	for part := range parts(tx.Tx, assets) {
		names := make([]any, 0, 2*len(part))
		for _, a := range part {
			names = append(names, a.Contract, a.Base)
		}
		those, args, err := pairs(tx.Tx, "(contract, base)", names, string(chain))
		if err != nil {
			return nil, err
		}
		found, err := holdingColumns.rows(ctx, tx.Tx, "read holdings",
			`FROM holdings WHERE chain = $1 AND `+those+` ORDER BY contract, base`+tx.forUpdate(), args...)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			held[Asset{h.Base, h.Contract}] = h
		}
	}
	return held, nil
}

// Put writes what addresses hold, each asset of an address once, with the key of the address: it corrects a wrong one.
func (tx Holdings) Put(ctx context.Context, chain bursar.ChainID, holdings ...Holding) error {
	in := insertion{what: "write holdings", table: "holdings", rows: len(holdings),
		after: ` ON CONFLICT (chain, contract, base) DO UPDATE SET
		key_branch = excluded.key_branch, key_index = excluded.key_index,
		amount = excluded.amount, due = excluded.due, rests_until = excluded.rests_until`}
	for _, h := range holdings {
		in.add(values{
			{"chain", string(chain)},
			{"base", h.Base},
			{"contract", h.Contract},
			{"key_branch", int64(h.Branch)},
			{"key_index", int64(h.Index)},
			{"amount", h.Amount},
			{"due", h.Due},
			{"rests_until", micros(h.Rests)},
		})
	}
	return tx.insertRows(ctx, in)
}

// Each calls f with what every address of a chain holds.
func (tx Holdings) Each(ctx context.Context, chain bursar.ChainID, f func(Holding) error) error {
	_, err := rows(ctx, tx.Tx, "read holdings", func(s scanner) (struct{}, error) {
		h, err := holdingColumns.scan(s)
		if err == nil {
			err = f(h)
		}
		return struct{}{}, err
	}, holdingColumns.query+`FROM holdings WHERE chain = $1 ORDER BY contract, base`, string(chain))
	return err
}
