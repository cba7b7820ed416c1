package outgoing

import (
	"cmp"
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
	// mostLost bounds how far apart the known nonces of an address may be.
	mostLost = 10_000
)

// isFilling reports whether an outgoing transaction's purpose is to use up a lost nonce.
func isFilling(p bursar.OutgoingTx) bool {
	_, fills := recovery.Fills(p)
	return fills
}

// fillLostNonces requests a transaction for each lost nonce of the hot wallets, and has everything else wait that is
// not signed yet.
func (s *Sender) fillLostNonces(ctx context.Context, lease store.Lease, state store.ChainState) (failed error) {
	for _, from := range append([]chain.Source{s.Hot}, s.Old...) {
		err := s.fillLostNoncesOf(ctx, lease, state, from)
		if err != nil && stops(ctx, err) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// knownNonces is what the database says of the nonces of an address.
type knownNonces struct {
	filling []bursar.OutgoingTx // transactions that use up lost ones, and are not final
	unknown []uint64            // nonces of which it knows nothing: lost, or used before there was a database
	final   store.Block         // the recorded block that is final; read if any are unknown
}

// fillBelow requests a transaction for each lost nonce of a deposit address below that of a sweep which waits for
// long.
func (s *Sender) fillBelow(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	if _, hot := s.hotAt(p.Base); hot || state.Halted != "" {
		return nil // fillLostNonces looks at those of the hot wallets
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return err
	}
	return s.fillLostNoncesOf(ctx, lease, state, request.From)
}

// fillLostNoncesOf is fillLostNonces for an address. Where transactions expire, what waits for a lost nonce expires
// too.
func (s *Sender) fillLostNoncesOf(
	ctx context.Context, lease store.Lease, state store.ChainState, from chain.Source,
) error {
	capabilities := s.Chain.Capabilities()
	reader, reads := s.Chain.(chain.NonceReader)
	if !reads || capabilities.Model != chain.AccountModel || !capabilities.Lifetime.IsZero() {
		return nil
	}
	var known knownNonces
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		known, err = s.knownNonces(ctx, tx, from.Base, state.Final)
		return err
	})
	if err != nil {
		return err
	}
	_, hot := s.hotAt(from.Base)
	if len(known.filling) > 0 && hot {
		s.memory.lostNonces[from.Base] = fmt.Sprintf("it waits until outgoing transaction %s, which uses up a nonce of %s "+
			"that is lost, is final", known.filling[0].ID, from.Base)
	}
	if len(known.unknown) == 0 {
		return nil
	}
	// By the recorded final block, named by its hash: a node that lags or is on another branch does not have it.
	used, err := reader.NonceAt(ctx, from.Base, chain.BlockRef{Height: known.final.Height, Hash: known.final.Hash})
	if err == nil && slices.Max(known.unknown) < used {
		return nil // used before the database was
	}
	if hot {
		s.memory.lostNonces[from.Base] = cmp.Or(s.memory.lostNonces[from.Base], fmt.Sprintf(
			"it waits until it is known whether nonce %d of %s is lost", slices.Max(known.unknown), from.Base))
	}
	if err != nil {
		return fmt.Errorf("find out whether nonce %d of %s is lost: %w", slices.Max(known.unknown), from.Base, err)
	}
	return s.fill(ctx, lease, from, used, known.final)
}

func (s *Sender) knownNonces(ctx context.Context, tx *store.Tx, base string, final uint64) (k knownNonces, err error) {
	id := s.Chain.Capabilities().ID
	if k.filling, err = tx.Outgoing().OpenFilling(ctx, id, base); err != nil {
		return k, err
	}
	if k.unknown, err = tx.Nonces().Unknown(ctx, id, base); err != nil || len(k.unknown) == 0 {
		return k, err
	}
	if k.final, err = tx.Blocks().At(ctx, id, final); err != nil {
		return k, fmt.Errorf("nonce %d of %s is not known, and the final block is not recorded: %w", k.unknown[0], base, err)
	}
	return k, nil
}

// fill requests a transaction for each nonce of an address that the final block has not used, and of which nothing is
// known. It does nothing while a transaction waits to be put back: it may be the one.
func (s *Sender) fill(
	ctx context.Context, lease store.Lease, from chain.Source, used uint64, final store.Block,
) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		waits, err := tx.ForgottenPayments().Any(ctx, state.Chain)
		if err != nil || waits || state.Halted != "" {
			return err
		}
		now, err := s.knownNonces(ctx, tx, from.Base, final.Height)
		if err != nil || now.final != final || len(now.unknown) == 0 {
			return err
		}
		lost, err := lostNonces(ctx, tx, state.Chain, from.Base, used, slices.Max(now.unknown))
		if err != nil {
			return err
		}
		for _, nonce := range lost[:min(len(lost), fillAtOnce)] {
			if err := s.fillNonceOf(ctx, tx, from, nonce); err != nil {
				return err
			}
		}
		return nil
	})
}

// lostNonces returns the nonces of an address from one up to another that nothing has. One that was given back is
// among them: what is signed after it would wait for it, and it for what is lost.
func lostNonces(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, base string, from, to uint64,
) ([]uint64, error) {
	if to >= from+mostLost {
		return nil, fmt.Errorf("nothing is known of nonce %d of %s, and the final block has used %d", to, base, from)
	}
	var all []uint64
	for nonce := from; nonce <= to; nonce++ {
		all = append(all, nonce)
	}
	return tx.Nonces().Unused(ctx, id, base, all)
}

// fillNonceOf requests the transaction that uses up a lost nonce, and raises an alarm about it.
func (s *Sender) fillNonceOf(ctx context.Context, tx *store.Tx, from chain.Source, nonce uint64) error {
	id, resource := s.Chain.Capabilities().ID, fmt.Sprintf("%s/%d", from.Base, nonce)
	alarm := store.Alarm{Chain: id, Kind: recovery.AlarmNonceLost, Ref: resource}
	p := bursar.OutgoingTx{Chain: id, Share: bursar.ShareTopUp}
	request, why, err := s.fillerFrom(ctx, tx, from)
	if _, hot := s.hotAt(from.Base); !hot {
		p.Share, why, err = bursar.ShareSweep, "", nil
		request = chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindSweep, From: from, MaxFee: s.MaxFee,
			Payments: []chain.Payment{{Address: bursar.Address{Base: s.Hot.Base}}}}
	}
	if err != nil {
		return err
	}
	if why != "" {
		alarm.Message = fmt.Sprintf("the transaction with nonce %d of %s is in no block and is not known any more; what "+
			"was signed after it waits, and so does everything else from there. The nonce cannot be used up: %s",
			nonce, from.Base, why)
		return tx.Alarms().Raise(ctx, alarm)
	}
	native, err := s.Registry.Native(id)
	if err != nil {
		return err
	}
	p.Currency, p.Once = native.Code, recovery.OnceFill+resource+"/"+request.ID.String()
	if _, err := insert(ctx, tx, p, request); err != nil {
		return err
	}
	if p, err = tx.Outgoing().Get(ctx, request.ID); err != nil {
		return err
	}
	if err := tx.Reservations().Reserve(ctx, p, []string{resource}); err != nil {
		return err
	}
	if err := tx.Nonces().Use(ctx, id, from.Base, nonce); err != nil {
		return err
	}
	s.log(tx, "a lost nonce is being used up", p, "nonce", nonce, "address", from.Base)
	alarm.Message = fmt.Sprintf("the transaction with nonce %d of %s is in no block and is not known any more; outgoing "+
		"transaction %s uses the nonce up; until it is final, nothing is paid from a hot wallet there",
		nonce, from.Base, p.ID)
	return tx.Alarms().Raise(ctx, alarm)
}

// completeFilling gives a transaction the lost nonce that it uses up.
func completeFilling(p bursar.OutgoingTx, request *chain.TxRequest) error {
	resource, _ := recovery.Fills(p)
	nonce, is := nonceOf(p.Base, resource)
	if !is {
		return fmt.Errorf("outgoing transaction %s uses up %q, which is no nonce of %s", p.ID, resource, p.Base)
	}
	request.Nonce = &nonce
	return nil
}

// buildFilling builds a transaction, and one that uses up a lost nonce once more if its address holds nothing beside
// what others take: they wait for it. A sweep takes what they would take then, and they are left hanging.
func (s *Sender) buildFilling(
	ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest,
) (chain.UnsignedTx, error) {
	unsigned, err := s.Chain.Build(ctx, request)
	var funds *chain.NeedsFundsError
	if !isFilling(p) || !errors.As(err, &funds) || len(request.Reserved) == 0 {
		return unsigned, err
	}
	request.Reserved = nil
	return s.Chain.Build(ctx, request)
}

// noNonceLost holds back what would be signed from an address while a nonce of it is lost, as this step has found. A
// signed transaction, and one that may be signed, goes on.
func (s *Sender) noNonceLost(_ context.Context, _ *store.Tx, p passage) error {
	reason := s.memory.lostNonces[p.outgoingTx.Base]
	if reason == "" || p.step != stepBuild && p.step != stepSign || isVoiding(p.outgoingTx) || s.mayBeOut(p.outgoingTx) {
		return nil
	}
	return &WaitError{Reason: reason}
}
