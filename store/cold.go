package store

import (
	"context"

	"github.com/bursar/bursar"
)

// ColdUTXO is an unspent output of a cold wallet, on a chain of the UTXO model.
type ColdUTXO struct {
	Outpoint string
	Base     string
	Amount   bursar.Amount
	Height   int64
}

// ColdSpend is a transaction from an address of a cold wallet.
type ColdSpend struct {
	Chain  bursar.ChainID
	TxID   string
	Base   string // the address of the cold wallet
	Height uint64 // of its block; 0 after the block was reorged out
	Booked bool
	Fee    bursar.Amount // what it cost us, in the native asset
	Lots   []byte        // JSON: what it paid to others, as package outgoing encodes it
	Uses   []string      // the reservations that it used up, where the chain has them for accounts
}

var coldSpendColumns = columnsOf([]column[ColdSpend]{
	{"chain", func(x *ColdSpend) any { return &x.Chain }},
	{"tx_id", func(x *ColdSpend) any { return &x.TxID }},
	{"base", func(x *ColdSpend) any { return &x.Base }},
	{"height", func(x *ColdSpend) any { return &x.Height }},
	{"booked", func(x *ColdSpend) any { return &x.Booked }},
	{"fee", func(x *ColdSpend) any { return &x.Fee }},
	{"lots", func(x *ColdSpend) any { return &x.Lots }},
	{"uses", func(x *ColdSpend) any { return uses{&x.Uses} }},
})

// PutUTXOs records outputs of cold wallets, or the block that they are in now.
func (tx Cold) PutUTXOs(ctx context.Context, chain bursar.ChainID, utxos ...ColdUTXO) error {
	in := insertion{what: "record UTXOs of cold wallets", table: "cold_utxos", rows: len(utxos),
		after: ` ON CONFLICT (chain, resource) DO UPDATE SET height = excluded.height`}
	for _, c := range utxos {
		in.add(values{
			{"chain", string(chain)},
			{"resource", c.Outpoint},
			{"base", c.Base},
			{"amount", c.Amount},
			{"height", c.Height},
		})
	}
	return tx.insertRows(ctx, in)
}

// UTXOsAmong returns those of some outputs that are recorded as a cold wallet's, spent or not.
func (tx Cold) UTXOsAmong(ctx context.Context, chain bursar.ChainID, outputs []string) (found []ColdUTXO, err error) {
	for part := range parts(tx.Tx, outputs) {
		those, args := among(tx.Tx, "resource", part, string(chain))
		list, err := rows(ctx, tx.Tx, "look up UTXOs of cold wallets", func(s scanner) (c ColdUTXO, err error) {
			return c, s.Scan(&c.Outpoint, &c.Base, &c.Amount, &c.Height)
		}, `SELECT resource, base, amount, height FROM cold_utxos WHERE chain = $1 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return found, nil
}

// Unspent returns the outputs of a chain's cold wallets in blocks up to a height that no block is known to spend.
func (tx Cold) Unspent(ctx context.Context, chain bursar.ChainID, height uint64) ([]ColdUTXO, error) {
	return rows(ctx, tx.Tx, "list UTXOs of cold wallets", func(s scanner) (c ColdUTXO, err error) {
		return c, s.Scan(&c.Outpoint, &c.Base, &c.Amount, &c.Height)
	}, `SELECT resource, base, amount, height FROM cold_utxos WHERE chain = $1 AND height <= $2 AND spent_by = ''
		ORDER BY height, resource`, string(chain), int64(height))
}

// SpendUTXOs notes which transaction of a block spent outputs of cold wallets.
func (tx Cold) SpendUTXOs(
	ctx context.Context, chain bursar.ChainID, spent []ColdUTXO, by string, height uint64,
) error {
	for _, c := range spent {
		if _, err := tx.exec(ctx, "note spent UTXOs of cold wallets", `UPDATE cold_utxos SET spent_by = $3, spent_at = $4
			WHERE chain = $1 AND resource = $2`, string(chain), c.Outpoint, by, int64(height)); err != nil {
			return err
		}
	}
	return nil
}

// Any reports whether anything of a cold wallet was ever recorded on a chain.
func (tx Cold) Any(ctx context.Context, chain bursar.ChainID) (bool, error) {
	var count int
	err := tx.row(ctx, "look for cold wallets", `SELECT COUNT(*) FROM (
		SELECT tx_id FROM cold_spends WHERE chain = $1 UNION ALL
		SELECT resource FROM cold_utxos WHERE chain = $1 LIMIT 1) AS found`, []any{string(chain)}, &count)
	return count > 0, err
}

// UndoUTXOs takes back what a block did to outputs of cold wallets, because it is reorged out.
func (tx Cold) UndoUTXOs(ctx context.Context, chain bursar.ChainID, height uint64) error {
	if _, err := tx.exec(ctx, "restore UTXOs of cold wallets", `UPDATE cold_utxos SET spent_by = '', spent_at = 0
		WHERE chain = $1 AND spent_at = $2`, string(chain), int64(height)); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "drop UTXOs of cold wallets", `DELETE FROM cold_utxos WHERE chain = $1 AND height = $2`,
		string(chain), int64(height))
	return err
}

// PutSpend records a transaction from a cold wallet, or the block that it is in now. One that is booked stays as it is.
func (tx Cold) PutSpend(ctx context.Context, x ColdSpend) error {
	query, args := values{
		{"chain", string(x.Chain)},
		{"tx_id", x.TxID},
		{"base", x.Base},
		{"height", int64(x.Height)},
		{"fee", x.Fee},
		{"lots", string(x.Lots)},
		{"uses", joined(x.Uses)},
	}.insertInto("cold_spends")
	_, err := tx.exec(ctx, "record a spend from cold", query+` ON CONFLICT (chain, tx_id, base) DO UPDATE SET
		height = excluded.height, fee = excluded.fee, lots = excluded.lots, uses = excluded.uses
		WHERE cold_spends.booked = FALSE`, args...)
	return err
}

// SpendsDue returns spends of a chain in blocks up to a height that wait to be booked, oldest first.
func (tx Cold) SpendsDue(
	ctx context.Context, chain bursar.ChainID, final uint64, limit int,
) ([]ColdSpend, error) {
	return coldSpendColumns.rows(ctx, tx.Tx, "list spends from cold", `FROM cold_spends WHERE chain = $1
		AND booked = FALSE AND height > 0 AND height <= $2 ORDER BY height, tx_id, base LIMIT $3`,
		string(chain), int64(final), limit)
}

// SpendsAt returns the spends of a block.
func (tx Cold) SpendsAt(ctx context.Context, chain bursar.ChainID, height uint64) ([]ColdSpend, error) {
	return coldSpendColumns.rows(ctx, tx.Tx, "list spends of a block", `FROM cold_spends WHERE chain = $1
		AND height = $2 ORDER BY tx_id, base`, string(chain), int64(height))
}

// SetSpend writes whether a spend is booked, and its height.
func (tx Cold) SetSpend(ctx context.Context, x ColdSpend) error {
	return tx.change(ctx, "change a spend from cold", `UPDATE cold_spends SET booked = $4, height = $5
		WHERE chain = $1 AND tx_id = $2 AND base = $3`, string(x.Chain), x.TxID, x.Base, x.Booked, int64(x.Height))
}

// ColdPending is what of a currency waits in blocks up to a height to be booked in the accounts of cold wallets.
type ColdPending struct {
	In  bursar.Amount // what arrived at them
	Out bursar.Amount // what left them for the hot wallet
}

// Pending returns what waits to be booked of deposits to and refills from cold wallets.
func (tx Cold) Pending(ctx context.Context, c bursar.Currency, height uint64) (p ColdPending, err error) {
	for purpose, to := range map[bursar.DepositPurpose]*bursar.Amount{
		bursar.ForCold: &p.In, bursar.ForColdFunds: &p.In, bursar.ForRefill: &p.Out,
	} {
		amounts, err := rows(ctx, tx.Tx, "read pending moves of cold wallets", scanOne[bursar.Amount],
			`SELECT amount FROM deposits WHERE chain = $1 AND currency = $2 AND status = 'pending' AND height <= $3
			AND purpose = $4`, string(c.Chain), string(c.Code), int64(height), string(purpose))
		if err != nil {
			return p, err
		}
		if *to, err = bursar.Sum(append(amounts, *to)...); err != nil {
			return p, err
		}
	}
	return p, nil
}
