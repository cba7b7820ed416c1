package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// A final transaction of a hot wallet may be dropped by a reorg below the final block, while a database from before
// its signature is restored: the chain, the database and the journal, which removes what is final, have lost it. What
// was signed after it is put back, and waits for its nonce, which nothing would use. A payment to ourselves with that
// nonce makes the lost transaction void, as abandon does with one that is known: at most one of the two can ever be
// included. Until it is final, nothing else is signed from there, because it may be what the lost transaction has
// paid: if that is included after all, it is recognised before anything is paid again. A deposit address may lose a
// sweep in the same way: there another sweep takes the nonce.

const (
	// fillAtOnce is how many lost nonces of an address one step has used up.
	fillAtOnce = 20
	// mostFilled is how many lost nonces of an address are used up at once: more of them would cost much, and are not
	// what a reorg loses.
	mostFilled = 100
	// mostLost bounds how far apart the known nonces of an address may be.
	mostLost = 10_000
)

// isFilling reports whether an outgoing transaction's purpose is to use up a lost nonce.
func isFilling(p bursar.OutgoingTx) bool {
	_, fills := recovery.Fills(p)
	return fills
}

// hots returns the hot wallets: the present one, and those of earlier epochs.
func (s *Sender) hots() []chain.Source { return append([]chain.Source{s.Hot}, s.Old...) }

// nonceReader returns what knows the nonces of the chain, if one can be lost there. Where transactions expire, what
// waits for a lost nonce expires too.
func (s *Sender) nonceReader() (reader chain.NonceReader, can bool) {
	capabilities := s.Chain.Capabilities()
	reader, can = s.Chain.(chain.NonceReader)
	return reader, can && capabilities.Model == chain.AccountModel && capabilities.Lifetime.IsZero()
}

// fillLostNonces requests a transaction for each lost nonce of the hot wallets, and notes of which ones none is lost,
// as its last act: the gate holds back what the others would pay.
func (s *Sender) fillLostNonces(ctx context.Context, lease store.Lease, state store.ChainState) (failed error) {
	if _, can := s.nonceReader(); !can {
		return nil
	}
	known, filling, unread := s.nonces(ctx, state.Final)
	for _, from := range s.hots() {
		lost, trouble := true, unread
		if unread == nil {
			lost, trouble = s.fillUnknown(ctx, lease, from, known[from.Base])
		}
		if trouble != nil && stops(ctx, trouble) {
			return trouble
		}
		if by, fills := filling[from.Base]; fills {
			s.memory.lostNonces[from.Base] = waitsForFilling(by[0])
			failed = errors.Join(failed, s.sayFillingLong(ctx, lease, by[0]))
		} else if !lost {
			s.memory.lostNonces[from.Base] = ""
		}
		said := s.sayHotNotFilled(ctx, lease, from.Base, trouble)
		if held := (*WaitError)(nil); errors.As(trouble, &held) {
			trouble = nil // the alarm says it
		}
		failed = errors.Join(failed, trouble, said)
	}
	return failed
}

// nonces reads, by address, what the database says of the nonces of the hot wallets, and what uses up lost ones.
func (s *Sender) nonces(
	ctx context.Context, final uint64,
) (known map[string]knownNonces, filling map[string][]bursar.OutgoingTx, err error) {
	hots := s.hots()
	known = map[string]knownNonces{}
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if filling, err = s.filling(ctx, tx, hots); err != nil {
			return err
		}
		for _, from := range hots {
			k, err := s.knownNonces(ctx, tx, from.Base, final, filling[from.Base])
			if err != nil {
				return err
			}
			known[from.Base] = k
		}
		return nil
	})
	return known, filling, err
}

// knownNonces is what the database says of the nonces of an address.
type knownNonces struct {
	unknown []uint64    // nonces of which it knows nothing: lost, or used before there was a database
	final   store.Block // the recorded block that is final; read if any are unknown
}

// knownNonces reads that. While transactions that use up lost nonces are in no block, the nonces below theirs that were
// given back are not known either: no payment takes them before those are final, and they wait for them.
func (s *Sender) knownNonces(
	ctx context.Context, tx *store.Tx, base string, final uint64, filling []bursar.OutgoingTx,
) (k knownNonces, err error) {
	id, highest := s.Chain.Capabilities().ID, uint64(0)
	for _, p := range filling {
		resource, _ := recovery.Fills(p)
		if nonce, is := nonceOf(base, resource); is && p.Height == 0 {
			highest = max(highest, nonce)
		}
	}
	if k.unknown, err = tx.Nonces().Unknown(ctx, id, base, highest); err != nil || len(k.unknown) == 0 {
		return k, err
	}
	if k.final, err = tx.Blocks().At(ctx, id, final); err != nil {
		return k, fmt.Errorf("nonce %d of %s is not known, and the final block is not recorded: %w", k.unknown[0], base, err)
	}
	return k, nil
}

// fillBelow requests a transaction for each lost nonce of a deposit address below that of a sweep which waits for
// long. An alarm says what keeps it from that, and that what uses one up takes long.
func (s *Sender) fillBelow(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	_, can := s.nonceReader()
	if _, hot := s.hotAt(p.Base); hot || !can || state.Halted != "" {
		return nil // fillLostNonces looks at those of the hot wallets
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return err
	}
	var known knownNonces
	var filling []bursar.OutgoingTx
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if filling, err = tx.Outgoing().OpenFilling(ctx, state.Chain, request.From.Base); err != nil {
			return err
		}
		known, err = s.knownNonces(ctx, tx, request.From.Base, state.Final, filling)
		return err
	})
	if err == nil {
		_, err = s.fillUnknown(ctx, lease, request.From, known)
	}
	if err != nil && s.memory.lostBelow == nil {
		s.memory.lostBelow = err
	}
	if len(filling) > 0 {
		err = errors.Join(err, s.sayFillingLong(ctx, lease, filling[0]))
	}
	return err
}

// fillUnknown asks the chain about the nonces of an address of which nothing is known, and requests a transaction for
// each lost one. It reports whether any is lost, or may be.
func (s *Sender) fillUnknown(
	ctx context.Context, lease store.Lease, from chain.Source, known knownNonces,
) (lost bool, err error) {
	if len(known.unknown) == 0 {
		return false, nil
	}
	reader, _ := s.nonceReader()
	// By the recorded final block, named by its hash: a node that lags or is on another branch does not have it.
	used, err := reader.NonceAt(ctx, from.Base, chain.BlockRef{Height: known.final.Height, Hash: known.final.Hash})
	highest := slices.Max(known.unknown)
	if err != nil {
		return true, fmt.Errorf("find out whether nonce %d of %s is lost: %w", highest, from.Base, err)
	}
	if highest < used {
		return false, nil // used before the database was
	}
	if s.DB.Now().Before(s.memory.contradicted[from.Base]) {
		return true, fmt.Errorf("a node says that the final block has not used nonce %d of %s, and another said that it had",
			used, from.Base)
	}
	return true, s.fill(ctx, lease, from, used, known.final)
}

// fill requests a transaction for each nonce of an address that the final block has not used, and of which nothing is
// known, unless there are too many.
func (s *Sender) fill(
	ctx context.Context, lease store.Lease, from chain.Source, used uint64, final store.Block,
) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		lost, filling, err := s.lostNow(ctx, tx, state, from.Base, used, final)
		if err != nil {
			return err
		}
		if n := len(lost) + filling; n > mostFilled {
			return tooManyLost(state.Chain, from.Base, len(lost))
		}
		for _, nonce := range lost[:min(len(lost), fillAtOnce)] {
			if err := s.fillNonceOf(ctx, tx, from, nonce); err != nil {
				return err
			}
		}
		return nil
	})
}

// lostNow returns the nonces of an address that are lost, and how many are being used up. It returns none while a
// transaction waits to be put back, because it may be the one, while the chain is halted, and if the block by which
// used was asked for is not the recorded one any more.
func (s *Sender) lostNow(
	ctx context.Context, tx *store.Tx, state store.ChainState, base string, used uint64, final store.Block,
) (lost []uint64, filling int, err error) {
	waits, err := tx.ForgottenPayments().Any(ctx, state.Chain)
	if err != nil || waits || state.Halted != "" {
		return nil, 0, err
	}
	open, err := tx.Outgoing().OpenFilling(ctx, state.Chain, base)
	if err != nil {
		return nil, 0, err
	}
	now, err := s.knownNonces(ctx, tx, base, final.Height, open)
	if err != nil || now.final != final || len(now.unknown) == 0 {
		return nil, 0, err
	}
	lost, err = lostNonces(ctx, tx, state.Chain, base, used, slices.Max(now.unknown))
	return lost, len(open), err
}

// lostNonces returns the nonces of an address from one up to another that nothing has. One that was given back is
// among them: what is signed after it would wait for it, and it for what is lost.
func lostNonces(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, base string, from, to uint64,
) ([]uint64, error) {
	if to >= from+mostLost {
		return nil, &WaitError{Reason: fmt.Sprintf("nothing is known of more than %d nonces of %s: somebody may have "+
			"changed the database", mostLost, base)}
	}
	var all []uint64
	for nonce := from; nonce <= to; nonce++ {
		all = append(all, nonce)
	}
	return tx.Nonces().Unused(ctx, id, base, all)
}
