package outgoing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// epochBegan is why an outgoing transaction that nobody signed is ended.
const epochBegan = "the seed of another epoch has the hot wallet now"

// isOld reports whether an address is the hot wallet of an earlier epoch.
func (s *Sender) isOld(base string) bool {
	return slices.ContainsFunc(s.Old, func(one chain.Source) bool { return one.Base == base })
}

// endIfOldEpoch ends an unsigned outgoing transaction that a hot wallet of an earlier epoch would pay, or be paid by:
// the signer signs none of them. Withdrawals go back into the queue, a refund to a sender to its operator; everything
// else is requested again where there is still reason to. What is signed goes on, and is replaced by its old keys.
func (s *Sender) endIfOldEpoch(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	if len(s.Old) == 0 {
		return p, nil
	}
	request, err := DecodeRequest(p)
	switch {
	case err != nil:
		return p, err
	case isVoiding(p):
		return s.voidHome(ctx, lease, p, request)
	case !s.needsOld(request):
		return p, nil
	}
	s.Log.Info("outgoing transaction given up before signing", "outgoing", p.ID, "chain", p.Chain, "reason", epochBegan)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.requeueUnsigned(ctx, tx, now); err != nil {
			return err
		}
		if err := unattributed.FailPaidBy(ctx, tx, now.ID, epochBegan); err != nil {
			return err
		}
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		now.Error = epochBegan
		return s.end(ctx, tx, now)
	})
}

// voidHome has a new transaction that is to void another one pay the present hot wallet, if an epoch has begun since it
// was requested: the signer lets it pay nobody else. It is not ended, because what it uses belongs to the other one.
func (s *Sender) voidHome(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest,
) (bursar.OutgoingTx, error) {
	to := bursar.Address{Base: s.Hot.Base}
	if !isNew(p) || !s.needsOld(request) || request.Payments[0].Address == to {
		return p, nil
	}
	request.Payments[0].Address, request.Change = to, s.Hot
	text, err := json.Marshal(request)
	if err != nil {
		return p, fmt.Errorf("encode transaction request: %w", err)
	}
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return tx.Outgoing().SetRequest(ctx, now.ID, text)
	})
}

// sweepHome has a signed sweep to the hot wallet of an earlier epoch collect for the present one, before it is replaced
// by one of something else: old keys replace for the old hot wallet only what makes the same payments.
func (s *Sender) sweepHome(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	request, err := DecodeRequest(p)
	if err != nil || request.Kind != chain.KindSweep || !s.needsOld(request) {
		return p, err
	}
	request.Payments[0].Address, request.Change = bursar.Address{Base: s.Hot.Base}, s.Hot
	text, err := json.Marshal(request)
	if err != nil {
		return p, fmt.Errorf("encode transaction request: %w", err)
	}
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return tx.Outgoing().SetRequest(ctx, now.ID, text)
	})
}

// needsOld reports whether the signer would refuse a new request because of an earlier epoch.
func (s *Sender) needsOld(request chain.TxRequest) bool {
	switch request.Kind {
	case chain.KindSweep, chain.KindConsolidation:
		return s.isOld(request.Payments[0].Address.Base) || s.isOld(request.Change.Base)
	case chain.KindGasTopUp:
		return s.isOld(request.From.Base) // its payee may be one: gas for its sweep
	}
	return s.isOld(request.From.Base) || s.isOld(request.Change.Base)
}

// mayUse reports whether a request may spend an output: those of earlier epochs go to the hot wallet or to a cold one,
// unless the transaction itself is of that epoch. A transaction whose rest goes to the hot wallet of an earlier epoch
// spends no output of a later one.
func (s *Sender) mayUse(request chain.TxRequest, c store.UTXO) bool {
	home := request.Change.Key.Epoch()
	if home < s.Hot.Key.Epoch() && chain.EpochOf(c.Index) > home {
		return false
	}
	switch request.Kind {
	case chain.KindConsolidation, chain.KindToCold:
		return true
	}
	return chain.EpochOf(c.Index) >= home
}

// oldRest is how many blocks no consolidation of outputs of earlier epochs is tried after one that was not worth its
// fee.
const oldRest = 36

// oldDue reports whether outputs of earlier epochs are to be brought to the hot wallet: one that is worth a deposit,
// and no consolidation is in progress.
func (s *Sender) oldDue(ctx context.Context, state store.ChainState) (due bool, err error) {
	if len(s.Old) == 0 || s.memory.oldUTXOsSkippedHeight > 0 && state.Latest < s.memory.oldUTXOsSkippedHeight+oldRest {
		return false, nil
	}
	native, known := s.Registry.Asset(s.Chain.Capabilities().ID, "")
	if !known {
		return false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Outgoing().CountOpenShare(ctx, s.Chain.Capabilities().ID, bursar.ShareSweep, 1)
		if err != nil || open > 0 {
			return err
		}
		utxos, err := s.spendableOld(ctx, tx, state, bursar.ID{})
		due = slices.ContainsFunc(utxos, func(c store.UTXO) bool { return !c.Amount.Less(native.Minimum) })
		return err
	})
	return due, err
}

func (s *Sender) spendableOld(
	ctx context.Context, tx *store.Tx, state store.ChainState, by bursar.ID,
) ([]store.UTXO, error) {
	return tx.UTXOs().SpendableBelow(ctx, s.Chain.Capabilities().ID, state.Final, state.Latest, by,
		s.Hot.Key.Epoch().First(), mostConsolidated)
}

// oldFirst puts the outputs of earlier epochs before all others that a consolidation may choose from: there may be so
// many larger ones that none of them is among those.
func (s *Sender) oldFirst(
	ctx context.Context, tx *store.Tx, state store.ChainState, by bursar.ID, utxos []store.UTXO,
) ([]store.UTXO, error) {
	if len(s.Old) == 0 {
		return utxos, nil
	}
	old, err := s.spendableOld(ctx, tx, state, by)
	first := map[string]bool{}
	for _, c := range old {
		first[c.Outpoint] = true
	}
	return append(old, slices.DeleteFunc(utxos, func(c store.UTXO) bool { return first[c.Outpoint] })...), err
}

// oldest returns those outputs that are of earlier epochs.
func (s *Sender) oldest(utxos []chain.UTXO) (old []chain.UTXO) {
	for _, c := range utxos {
		if c.Source.Key.Epoch() < s.Hot.Key.Epoch() {
			old = append(old, c)
		}
	}
	return old
}
