package store

import (
	"context"

	"github.com/bursar/bursar"
)

// Moved is a reservation that was taken from one outgoing transaction and given to another, which is to make the
// first void.
type Moved struct {
	Resource string
	From, To bursar.ID
}

// Move gives reservations of one outgoing transaction to another. They are noted until UndoMove.
func (tx Reservations) Move(ctx context.Context, chain bursar.ChainID, from, to bursar.ID,
	reservations []string) error {
	for _, reservation := range reservations {
		if err := tx.changeOr(ctx, "move reservation", ErrReserved,
			`UPDATE reservations SET outgoing_id = $4 WHERE chain = $1 AND resource = $2 AND outgoing_id = $3`,
			string(chain), reservation, from, to); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "note moved reservation",
			`INSERT INTO moved_reservations(chain, resource, from_outgoing, to_outgoing) VALUES ($1, $2, $3, $4)`,
			string(chain), reservation, from, to); err != nil {
			return err
		}
	}
	return nil
}

// UndoMove gives the reservations back that were moved to an outgoing transaction. What is not reserved any more is
// reserved again.
func (tx Reservations) UndoMove(ctx context.Context, chain bursar.ChainID, to bursar.ID) error {
	moved, err := tx.MovedTo(ctx, to)
	if err != nil {
		return err
	}
	for _, m := range moved {
		if _, err := tx.exec(ctx, "move reservation back",
			`INSERT INTO reservations(chain, resource, outgoing_id) VALUES ($1, $2, $3)
			ON CONFLICT (chain, resource) DO UPDATE SET outgoing_id = $3 WHERE reservations.outgoing_id = $4`,
			string(chain), m.Resource, m.From, to); err != nil {
			return err
		}
	}
	_, err = tx.exec(ctx, "forget moved reservations", `DELETE FROM moved_reservations WHERE to_outgoing = $1`, to)
	return err
}

// MovedFromNow notes for the reservations that were taken from an outgoing transaction that they were taken from
// another one, which turned out to be what was signed of it.
func (tx Reservations) MovedFromNow(ctx context.Context, was, now bursar.ID) error {
	_, err := tx.exec(ctx, "note moved reservations of another",
		`UPDATE moved_reservations SET from_outgoing = $2 WHERE from_outgoing = $1`, was, now)
	return err
}

const selectMoved = `SELECT resource, from_outgoing, to_outgoing FROM moved_reservations`

func scanMoved(s scanner) (m Moved, err error) {
	err = s.Scan(&m.Resource, &m.From, &m.To)
	return m, err
}

// MovedFrom returns the reservations that were taken from an outgoing transaction.
func (tx Reservations) MovedFrom(ctx context.Context, from bursar.ID) ([]Moved, error) {
	return rows(ctx, tx.Tx, "list moved reservations", scanMoved, selectMoved+` WHERE from_outgoing = $1
		ORDER BY resource`, from)
}

// MovedTo returns the reservations that an outgoing transaction got from another.
func (tx Reservations) MovedTo(ctx context.Context, to bursar.ID) ([]Moved, error) {
	return rows(ctx, tx.Tx, "list moved reservations", scanMoved, selectMoved+` WHERE to_outgoing = $1
		ORDER BY resource`, to)
}

// Surviving returns which reservations of an outgoing transaction are UTXOs in blocks up to a height that nothing
// else has used.
func (tx Reservations) Surviving(ctx context.Context, outgoing bursar.ID, final uint64) ([]string, error) {
	return rows(ctx, tx.Tx, "list surviving UTXOs", scanOne[string], `SELECT k.resource FROM reservations k
		JOIN utxos c ON c.chain = k.chain AND c.resource = k.resource
		WHERE k.outgoing_id = $1 AND c.spent = FALSE AND c.height > 0 AND c.height <= $2
		AND NOT EXISTS (SELECT 1 FROM used_outputs u WHERE u.chain = k.chain AND u.resource = k.resource)
		ORDER BY LENGTH(c.amount) DESC, c.amount DESC, k.resource`, outgoing, int64(final))
}

// PurposeFill is in the Once of an outgoing transaction that uses up a lost nonce, behind what says that it voids
// another one. It has none of the characters % and _, and stays when the transaction is final: see EachFiller.
const PurposeFill = "nonce/"

// onceFill is the pattern of the Once of an outgoing transaction that uses up a lost nonce.
const onceFill = `'abandon/` + PurposeFill + `%'`

// OpenFilling returns the outgoing transactions of some addresses that use up lost nonces and are not final.
func (tx Outgoing) OpenFilling(
	ctx context.Context, chain bursar.ChainID, bases ...string,
) ([]bursar.OutgoingTx, error) {
	args := []any{string(chain)}
	for _, base := range bases {
		args = append(args, base)
	}
	return outgoingColumns.rows(ctx, tx.Tx, "list transactions that use up nonces", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.base IN (`+list(len(bases), 1)+`) AND s.status <> 'final' AND s.status <> 'abandoned'
		AND s.once LIKE `+onceFill+` ORDER BY s.number`, args...)
}

// EachFiller calls f with the request of every transaction in a block that pays an address of ours, and with which
// another one was made void, known or not.
func (tx Outgoing) EachFiller(ctx context.Context, chain bursar.ChainID, f func(request []byte) error) error {
	requests, err := rows(ctx, tx.Tx, "list voiding transactions", func(s scanner) (request []byte, err error) {
		return request, s.Scan(&request)
	}, `SELECT s.order_json FROM outgoing_txs s WHERE s.chain = $1 AND s.kind = 'gas_top_up' AND s.height > 0
		AND s.id IN (SELECT v.to_outgoing FROM moved_reservations v WHERE v.chain = $1
			UNION SELECT f.id FROM outgoing_txs f WHERE f.chain = $1 AND f.once LIKE `+onceFill+`)`, string(chain))
	for _, request := range requests {
		if err == nil {
			err = f(request)
		}
	}
	return err
}
