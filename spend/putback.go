package spend

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// putBackAtOnce bounds how many forgotten transactions one step signs again.
const putBackAtOnce = 100

// putBack signs again what the journal knows and the database has forgotten, and makes it outgoing transactions of the database:
// a signature is deterministic, so nothing is signed that was not signed before. It asks no halt: the bytes are out of our hands
// already, and they are sent by the ordinary path, which asks. It goes before everything else in a step, as what is put back
// uses nonces and UTXOs that another transaction would take.
func (s *Spender) putBack(ctx context.Context, lease store.Lease) (failed error) {
	var waiting []store.Forgotten
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		waiting, err = tx.ForgottenSpends(ctx, s.Chain.Traits().ID, putBackAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range waiting {
		err := s.putBackOne(ctx, lease, f)
		if err == nil {
			continue
		}
		if stops(ctx, err) {
			return err
		}
		noted := s.DB.Do(ctx, func(tx *store.Tx) error { return tx.CannotPutBack(ctx, f, err.Error()) })
		failed = errors.Join(failed, fmt.Errorf("put spend %s back: %w", f.Spend, err), noted)
	}
	return failed
}

func (s *Spender) putBackOne(ctx context.Context, lease store.Lease, f store.Forgotten) error {
	order, draft, err := recovery.Resign(f)
	if err != nil {
		return err
	}
	signed, err := s.Signer.Sign(ctx, f.Chain, order, draft)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	book := recovery.Book{Traits: s.Chain.Traits(), Registry: s.Registry, IDs: s.IDs, Hot: s.Hot}
	became := ""
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Lead(ctx, lease); err != nil {
			return err
		}
		became, err = book.PutBack(ctx, tx, f, signed)
		return err
	})
	if err == nil {
		s.Log.Warn("forgotten transaction signed again", "chain", f.Chain, "spend", f.Spend, "hash", signed.TxID, "became", became)
	}
	return err
}

// mayBeOut reports whether an unsigned spend may have been signed all the same: the commit that kept its bytes was lost, or the
// process ended before it. It is not given up then, and the same draft is signed again.
func (s *Spender) mayBeOut(p bursar.Spend) bool {
	return s.Marks != nil && p.Status == bursar.SpendClaimed && s.Marks.Signed(p.Chain, p.ID)
}
