package console

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// limitTwin is the command that sets a limit, before whose it is.
const limitTwin = "bursar limit set --currency CODE --maximum AMOUNT"

// limitsLoosen is the proposal that lets larger withdrawals through.
const limitsLoosen = "limits.loosen"

// everyAccount is the object of a limit that every account has.
const everyAccount = "all"

// The fields of forms about limits.
var (
	currencyField = field{Name: "currency", Label: "Currency", Hint: "Its code, such as BTC."}
	limitField    = field{Name: "detail", Label: "Limit", Options: limitOptions(),
		Hint: "maximum: a larger withdrawal is refused. approval: a larger one waits for an approval. hourly, daily, " +
			"weekly: an account's withdrawals within an hour, 24 hours or seven days come to no more."}
)

func limitOptions() (options []string) {
	for _, kind := range bursar.LimitKinds() {
		options = append(options, string(kind))
	}
	return options
}

// limits lists what makes limits of withdrawals tighter: one person does it, at once. Others approve what loosens them.
func (c *Console) limits() []deed {
	return []deed{{name: "limits.tighten", verb: operator.VerbLimits, title: "Tighten a limit of withdrawals",
		nav: "Accounts", whose: accountItself, twin: limitTwin, do: c.tighten, button: "Tighten the limit",
		does: "Withdrawals that are requested from now on are refused, or wait for an approval, above the amount. The " +
			"object is an account's ID, or all: every account, beside its own limit. No limit exceeds that of the " +
			"configuration. What would let larger withdrawals through is refused here: propose it.",
		fields: []field{currencyField, limitField, {Name: "amount", Label: "Amount",
			Hint: "In whole units, such as 0.5; 0 has every withdrawal wait. The end of a limit has to be proposed."},
			reasonField}}}
}

// tighten sets a limit; the object is the account, or all.
func (c *Console) tighten(v *visit, object string) (string, error) {
	change, see, err := c.limitOf(v, object)
	if err != nil {
		return "", err
	}
	r := change.Rule
	change.Done = func(ctx context.Context, tx *store.Tx, was, is string) error {
		what := "limit " + string(r.Kind) + " " + string(r.Currency) + " of "
		if r.AccountID.IsZero() {
			what += everyAccount
		} else {
			what += "account " + r.AccountID.String()
		}
		return c.record(ctx, tx, v, operator.VerbLimits, r.AccountID, what, was, is)
	}
	return see, c.Acts.Limits.Change(v.ctx, change)
}

// limitOf reads a form about a limit, and where the limit is seen.
func (c *Console) limitOf(v *visit, object string) (change withdrawal.LimitChange, see string, err error) {
	r := bursar.LimitRule{Currency: bursar.CurrencyCode(v.form.Get("currency")),
		Kind: bursar.LimitKind(v.form.Get("detail")), Actor: v.person.Name, Reason: v.form.Get("reason")}
	see = "/settings"
	if object != everyAccount {
		if r.AccountID, err = idOf(object); err != nil {
			return change, see, err
		}
		see = "/accounts/" + r.AccountID.String()
	}
	currency, err := c.Registry.Get(r.Currency)
	if err != nil {
		return change, see, err
	}
	text := v.form.Get("amount")
	if r.Amount, err = currency.Parse(text); err != nil {
		return change, see, bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "%.60q is no amount of %s", text,
			r.Currency)
	}
	return withdrawal.LimitChange{Rule: r}, see, nil
}
