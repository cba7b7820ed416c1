package console

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// haltTwin is the command that halts everything; those of a chain and a currency are named after their scope.
const haltTwin = "bursar halt --all --reason TEXT"

// stops lists what stops something: one person does it, at once.
func (c *Console) stops() []deed {
	return []deed{
		{name: "withdrawal.reject", verb: operator.VerbWithdrawalReject, title: "Reject a withdrawal", nav: "Withdrawals",
			does: "The withdrawal is not paid. Its amount and its fee return to the customer's balance, and the customer " +
				"sees the reason.",
			warning: "A rejected withdrawal cannot be approved any more.", button: "Reject the withdrawal",
			fields: []field{{Name: "reason", Label: "Reason", Hint: "The customer sees it."}},
			twin:   "bursar withdrawal reject --reason TEXT", whose: ofWithdrawal, do: c.reject},
		{name: "withdrawal.cancel", verb: operator.VerbWithdrawalCancel, title: "Cancel a withdrawal", nav: "Withdrawals",
			does: "A withdrawal that is not signed yet is not paid. Its amount and its fee return to the customer's balance. " +
				"One that is signed is refused here: it may be paid.",
			warning: "A cancelled withdrawal cannot be paid any more.", button: "Cancel the withdrawal",
			fields: []field{reasonField}, twin: "bursar withdrawal cancel", whose: ofWithdrawal,
			do: c.cancel},
		{name: "charge.cancel", verb: operator.VerbChargeResolve, title: "Cancel a charge", nav: "Charges",
			does: "A charge that waits for value takes no more. What is paid to its addresses later is credited to the " +
				"customer and waits for a resolution. One that is paid, is being paid or has expired is refused here.",
			warning: "A cancelled charge cannot be paid any more.", button: "Cancel the charge",
			fields: []field{reasonField}, whose: ofCharge, do: c.cancelCharge},
		{name: "account.freeze", verb: operator.VerbAccountFreeze, title: "Freeze an account", nav: "Accounts",
			does: "The account's withdrawals are refused, and those that wait are not signed. Its deposits are credited. Two " +
				"persons end the freeze.",
			button: "Freeze the account", fields: []field{reasonField}, twin: "bursar account freeze --reason TEXT",
			whose: accountItself, do: c.freeze},
		{name: "halt", verb: operator.VerbHalt, title: "Halt payments", nav: "Chains",
			does: "Nothing of the scope is built, signed or bumped any more, and the signer refuses it. Addresses, deposits " +
				"and credits go on; withdrawals are accepted and wait. The scope is all, chain:NAME or currency:CODE.",
			button: "Halt payments", fields: []field{reasonField}, twin: haltTwin, do: c.halt},
		{name: "key.revoke", verb: operator.VerbKeyRevoke, title: "Revoke an API key", nav: "Accounts",
			does:    "Requests with the key are refused from now on.",
			warning: "A revoked key stays revoked.", button: "Revoke the key", fields: []field{reasonField},
			twin: "bursar key revoke", whose: ofKey, do: c.revokeKey},
	}
}

func (c *Console) reject(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	_, err = c.Acts.Withdrawals.Reject(v.ctx, id, v.form.Get("reason"), c.decided(v, operator.VerbWithdrawalReject))
	return "/withdrawals/" + id.String(), err
}

func (c *Console) cancel(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	_, err = c.Acts.Withdrawals.Cancel(v.ctx, id, c.decided(v, operator.VerbWithdrawalCancel))
	return "/withdrawals/" + id.String(), err
}

// decided records a decision about a withdrawal.
func (c *Console) decided(v *visit, verb operator.Verb) func(context.Context, *store.Tx, bursar.Withdrawal) error {
	return func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
		return c.record(ctx, tx, v, verb, w.AccountID, "withdrawal "+w.ID.String(), "", string(w.Status))
	}
}

func (c *Console) freeze(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	return "/accounts/" + id.String(), c.put(v, operator.VerbAccountFreeze, store.HaltAccount(id), id)
}

func (c *Console) halt(v *visit, object string) (string, error) {
	scope := store.HaltScope(object)
	kind, name, _ := strings.Cut(object, ":")
	switch {
	case scope == store.HaltAll:
	case kind == "chain" && c.hasChain(bursar.ChainID(name)):
	case kind == "currency":
		if _, err := c.Registry.Get(bursar.CurrencyCode(name)); err != nil {
			return "", err
		}
	default:
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "object", "the scope is all, chain:NAME or currency:CODE")
	}
	return "/chains", c.put(v, operator.VerbHalt, scope, bursar.ID{})
}

func (c *Console) hasChain(id bursar.ChainID) bool {
	for _, currency := range c.Registry.All() {
		if currency.Chain == id {
			return true
		}
	}
	return false
}

// put halts a scope. A running service notifies the signer within half a second.
func (c *Console) put(v *visit, verb operator.Verb, scope store.HaltScope, account bursar.ID) error {
	h := store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: v.form.Get("reason"), Actor: v.person.Name}
	return c.DB.Do(v.ctx, func(tx *store.Tx) error {
		if err := tx.Halts().Put(v.ctx, h); err != nil {
			return store.AsRefusal(err)
		}
		return c.record(v.ctx, tx, v, verb, account, string(scope), "", "halted")
	})
}

func (c *Console) revokeKey(v *visit, object string) (string, error) {
	id, err := idOf(object)
	if err != nil {
		return "", err
	}
	return "/accounts", c.Acts.Accounts.Revoke(v.ctx, id, func(tx *store.Tx) error {
		key, err := tx.APIKeys().Lock(v.ctx, id)
		if err != nil {
			return err
		}
		return c.record(v.ctx, tx, v, operator.VerbKeyRevoke, key.AccountID, "key "+id.String(), "", "revoked")
	})
}
