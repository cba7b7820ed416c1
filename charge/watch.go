package charge

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Marks reads those parts of charges, of any accounts, that can change, in one transaction for all of them: a caller
// that watches many charges reads the marks repeatedly, and a charge itself only once its mark has changed.
func (s *Service) Marks(ctx context.Context, ids []bursar.ID) (marks map[bursar.ID]store.ChargeMark, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		marks, err = tx.Charges().Marks(ctx, ids)
		return err
	})
	return marks, err
}
