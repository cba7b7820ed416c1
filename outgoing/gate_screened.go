package outgoing

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Screened says which accounts' withdrawals an outgoing transaction must not pay now, because the screening service has
// not passed them, and why. Package screening implements it.
type Screened func(ctx context.Context, tx *store.Tx, outgoing bursar.ID) (accounts []bursar.ID, why string, err error)

// ScreenAgain has the screening service asked again about the withdrawals that an outgoing transaction pays, whose pass
// does not count, and notes why. Package screening implements it.
type ScreenAgain func(ctx context.Context, tx *store.Tx, outgoing bursar.ID, why string) error

// screened holds back withdrawals that the screening service has not passed, or whose pass has expired, until they are
// signed: they are requeued, and asked about again. As with a freeze, a signed transaction is sent and its fee is
// bumped. So is one that may be signed: a pass that has expired since is not asked for again while the transaction pays
// for it, and what it pays must not be refunded.
//
// A process that screens nothing, since before screening was on, signs nothing that others screen.
func (s *Sender) screened(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Kind != string(chain.KindWithdrawal) || p.step != stepBuild && p.step != stepSign ||
		s.mayBeOut(p.outgoingTx) {
		return nil
	}
	if s.Screened == nil {
		return screenedElsewhere(ctx, tx, p.outgoingTx)
	}
	accounts, why, err := s.Screened(ctx, tx, p.outgoingTx.ID)
	if err != nil || len(accounts) == 0 {
		return err
	}
	return &WaitError{Reason: why, Accounts: accounts, screenAgain: true}
}

// screenedElsewhere holds back withdrawals of a database that other processes screen. What pays none, such as a refund
// to a sender, is screened by nobody.
func screenedElsewhere(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	by, err := tx.Settings().Screened(ctx)
	if err != nil || by == "" {
		return err
	}
	paid, err := tx.Withdrawals().ToPay(ctx, p.ID)
	if err != nil || len(paid) == 0 {
		return err
	}
	return &WaitError{Reason: "payments are screened, and this process was started without screening: restart it with " +
		"screening in its configuration"}
}

// screenAgain has the screening service asked again about what an outgoing transaction pays: the answer in the database
// does not count here, or does not count for the signer.
func (s *Sender) screenAgain(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, why string) error {
	if s.ScreenAgain == nil || p.Kind != string(chain.KindWithdrawal) {
		return nil
	}
	return s.ScreenAgain(ctx, tx, p.ID, why)
}
