// Package unattributed carries out the operator's resolution of value that reached an address of the service and
// belongs to no wallet: it is assigned to a customer, refunded to its sender, or kept as operator funds.
//
// It owns which resolution is allowed when, every change of its status, each beside its reversal: package outgoing
// calls them for the refunds that it pays; and every change of a deposit's purpose after its record. It credits nobody
// itself, which package deposit does, and sends nothing. Its invariants: only final value is resolved, and once; a
// resolution, its postings and the end of its alarm are one transaction that has locked the deposit's chain, so that no
// other replica and no reorganisation comes between; value to be refunded is set aside before any transaction is built.
package unattributed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// The reasons why a resolution is refused. Nothing has changed then.
var (
	ErrNotUnattributed = errors.New("the deposit is not unattributed")
	ErrNotFinal        = errors.New("the deposit can be resolved once it is final")
	ErrTarget          = errors.New("the deposit cannot be assigned to that wallet or account")
	ErrDestination     = errors.New("the deposit cannot be refunded to that address")
	ErrTooLate         = errors.New("the status of the deposit does not allow this")
	ErrNote            = errors.New("a note has at most 10000 bytes of plain text")
)

// Chain is the part of a chain that a resolution needs.
type Chain interface {
	Capabilities() chain.Capabilities
	ParseAddress(s string) (bursar.Address, error)
	Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error)
}

// Creditor credits an unattributed deposit that is final to a customer; it is the deposit handler of the deposit's
// chain.
type Creditor interface {
	Assign(ctx context.Context, tx *store.Tx, d bursar.Deposit, wallet int64) error
}

// ChainContext is all that is needed to resolve value on one chain. Hot is the hot wallet there.
type ChainContext struct {
	Chain    Chain
	Creditor Creditor
	Hot      string
	Old      []string // the hot wallets of earlier epochs
}

// Service carries out resolutions. It is safe for concurrent use.
type Service struct {
	DB       *store.DB
	Chains   map[bursar.ChainID]ChainContext
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Resolved func(bursar.ChainID) // called after a commit that recorded an event or a refund; may be nil

	Behind store.Behind
}

// Done runs in the transaction of a resolution, after it; an error of it undoes the resolution.
type Done func(ctx context.Context, tx *store.Tx, n bursar.Resolution) error

// Keep makes the value operator funds.
func (s *Service) Keep(ctx context.Context, id bursar.ID, note string, done ...Done) (bursar.Resolution, error) {
	if err := s.Behind.Refuse(ctx, "the deposit"); err != nil {
		return bursar.Resolution{}, err
	}
	f := func(tx *store.Tx, d bursar.Deposit, n bursar.Resolution) (bursar.Resolution, error) {
		if err := tx.Recoveries().Refuse(ctx, d.Chain); err != nil {
			return n, err
		}
		n.Kind, n.Status, n.CompletedAt = bursar.ResolutionKeep, bursar.ResolutionDone, tx.Now()
		if err := tx.Ledger().Post(ctx, ledger.UnattributedKept(d, tx.Now())); err != nil {
			return n, err
		}
		return n, keepForOperator(ctx, tx, d)
	}
	return s.decide(ctx, id, note, done, f)
}

// Cancel cancels a refund to a sender that is not signed yet: its value is unresolved again.
func (s *Service) Cancel(
	ctx context.Context, id bursar.ID, note string, done ...Done,
) (n bursar.Resolution, err error) {
	if note, err = checkNote(note); err != nil {
		return n, err
	}
	if err := s.Behind.Refuse(ctx, "the deposit"); err != nil {
		return n, err
	}
	err = s.locked(ctx, id, func(tx *store.Tx, d bursar.Deposit) error {
		if err := tx.Recoveries().Refuse(ctx, d.Chain); err != nil {
			return err
		}
		n, err = tx.Resolutions().Standing(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%w: no refund to the sender is in progress", ErrTooLate)
		}
		if err != nil {
			return err
		}
		if n.Status != bursar.ResolutionQueued {
			return fmt.Errorf("%w: %s", ErrTooLate, Describe(n))
		}
		err = Fail(ctx, tx, n, strings.TrimSuffix("the operator cancelled it: "+note, ": "))
		if err != nil {
			return err
		}
		return all(ctx, tx, n, done)
	})
	if err == nil {
		n.Status = bursar.ResolutionFailed
		s.Log.InfoContext(ctx, "refund of unattributed deposit cancelled", "deposit", id, "resolution", n.ID)
	}
	return n, err
}

// decide runs f on a deposit that may be resolved, with a resolution to fill in, and records that resolution. f posts
// its entry; the alarm closes in the same transaction.
func (s *Service) decide(ctx context.Context, id bursar.ID, note string, done []Done,
	f func(*store.Tx, bursar.Deposit, bursar.Resolution) (bursar.Resolution, error)) (n bursar.Resolution, err error) {
	if note, err = checkNote(note); err != nil {
		return n, err
	}
	err = s.locked(ctx, id, func(tx *store.Tx, d bursar.Deposit) error {
		if err := unresolved(ctx, tx, d); err != nil {
			return err
		}
		if altered, err := tx.Deposits().Altered(ctx, id); err != nil || altered {
			return cmp.Or(err, fmt.Errorf("deposit %s: %w", id, store.ErrAltered))
		}
		n, err = f(tx, d, bursar.Resolution{
			ID:         s.IDs.Next(),
			DepositID:  id,
			Chain:      d.Chain,
			Currency:   d.Currency,
			Note:       note,
			ResolvedAt: tx.Now(),
		})
		if err != nil {
			return err
		}
		if err := tx.Resolutions().Insert(ctx, n); err != nil {
			return err
		}
		if err := tx.Alarms().Resolve(ctx, "unattributed", id.String()); err != nil {
			return err
		}
		return all(ctx, tx, n, done)
	})
	if err != nil {
		return n, err
	}
	s.Log.InfoContext(ctx, "deposit resolved", "deposit", id, "resolution", n.ID, "kind", n.Kind, "chain", n.Chain,
		"currency",
		n.Currency)
	if s.Resolved != nil {
		s.Resolved(n.Chain)
	}
	return n, nil
}

// all runs what belongs to a resolution.
func all(ctx context.Context, tx *store.Tx, n bursar.Resolution, done []Done) error {
	for _, then := range done {
		if err := then(ctx, tx, n); err != nil {
			return err
		}
	}
	return nil
}

// locked runs f on a deposit as it is in the database, in a transaction that holds the lock of its chain: followers,
// senders and other operators wait.
func (s *Service) locked(ctx context.Context, id bursar.ID, f func(*store.Tx, bursar.Deposit) error) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(ctx, id)
		if err != nil {
			return store.AsRefusal(err)
		}
		if _, err := tx.Chains().Lock(ctx, d.Chain); err != nil {
			return err
		}
		if d, err = tx.Deposits().ByID(ctx, id); err != nil {
			return err
		}
		return f(tx, d)
	})
}

// unresolved refuses a deposit that cannot be resolved now.
func unresolved(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	n, err := tx.Resolutions().Standing(ctx, d.ID)
	switch {
	case err == nil:
		return fmt.Errorf("%w: %s", store.ErrResolved, Describe(n))
	case !errors.Is(err, store.ErrNotFound):
		return err
	case d.Purpose != bursar.ForUnattributed:
		return fmt.Errorf("%w: deposit %s is for %s", ErrNotUnattributed, d.ID, d.Purpose)
	case d.Status != bursar.DepositConfirmed:
		return fmt.Errorf("%w: its status is %s", ErrNotFinal, d.Status)
	}
	open, err := tx.Resolutions().OpenRefund(ctx, d.ID, 0)
	if err == nil && open {
		err = fmt.Errorf("%w: a refund of it failed in a block that was reorged out, and may still be paid", ErrNotFinal)
	}
	return err
}

// longestNote is in bytes: a note may have to name many external spends, each of which could be the deposit's refund.
const longestNote = 10_000

func checkNote(note string) (string, error) {
	note = strings.TrimSpace(note)
	if len(note) > longestNote || !utf8.ValidString(note) || strings.ContainsRune(note, 0) {
		return note, ErrNote
	}
	return note, nil
}
