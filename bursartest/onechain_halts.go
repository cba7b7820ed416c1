package bursartest

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Halt puts a halt.
func (r *OneChain) Halt(h store.Halt) {
	r.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, h) })
}

// Resume lifts a halt, which must be there.
func (r *OneChain) Resume(h store.Halt) {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		if n, err := tx.Halts().Lift(ctx, h.Scope, h.Kind, h.Ref); err != nil || n != 1 {
			r.T.Errorf("%d halts of %s ended: %v", n, h.Scope, err)
		}
		return nil
	})
}

// FreezeOf returns the halt by which an operator freezes an account.
func (r *OneChain) FreezeOf(account int) store.Halt {
	return store.Halt{Scope: store.HaltAccount(r.Accounts[account]), Kind: store.HaltByOperator,
		Reason: "a call from the police", Actor: "ann"}
}

// Halted reports whether the audit has halted everything.
func (r *OneChain) Halted() (halted bool) {
	r.View(func(tx *store.Tx) error {
		halts, err := tx.Halts().List(ctx)
		for _, h := range halts {
			halted = halted || h.Kind == store.HaltByBooks
		}
		return err
	})
	return halted
}

// SignerFunc is a signer made of a function.
type SignerFunc func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error)

// Sign implements outgoing.Signer.
func (f SignerFunc) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	return f(ctx, id, request, unsigned)
}

// NoSigner is a signer that does not answer.
var NoSigner = SignerFunc(
	func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
		return chain.SignedTx{}, errors.New("the signer does not answer")
	})

// Alarms returns the kinds of the open alarms.
func (r *OneChain) Alarms() (kinds []string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Alarms().List(ctx, 100)
		for _, a := range list {
			kinds = append(kinds, a.Kind)
		}
		return err
	})
	return kinds
}

// WantAlarms checks the kinds of the open alarms.
func (r *OneChain) WantAlarms(kinds ...string) {
	r.T.Helper()
	if got := r.Alarms(); fmt.Sprint(got) != fmt.Sprint(kinds) {
		r.T.Errorf("the open alarms are %q, want %q", got, kinds)
	}
}
