package charge

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Marks reads what of charges of any accounts can change, in one transaction for all of them: who watches many of them
// reads these again and again, and a charge itself when its mark is another one.
func (s *Service) Marks(ctx context.Context, ids []bursar.ID) (marks map[bursar.ID]store.ChargeMark, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		marks, err = tx.Charges().Marks(ctx, ids)
		return err
	})
	return marks, err
}
