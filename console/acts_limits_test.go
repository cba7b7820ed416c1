package console

import (
	"context"
	"net/http"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// One person tightens a limit at once, by a form that is done once; nobody loosens one by it.
func TestAPersonTightensALimit(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.console.Acts.Limits = &withdrawal.Limits{DB: o.DB, Registry: o.Registry}
		shop := o.OneChain.Accounts[0]
		token := o.token()
		for range 2 {
			o.answers("for every account", o.sends("limits.tighten", "object", "all", "currency", "COIN", "detail", "maximum",
				"amount", "0.00001", "token", token), http.StatusSeeOther)
		}
		w := o.sends("limits.tighten", "object", shop.String(), "currency", "COIN", "detail", "approval", "amount", "0")
		o.answers("for one", w, http.StatusSeeOther)
		if see := w.Header().Get("Location"); see != base+"/accounts/"+shop.String() {
			o.T.Errorf("it goes to %q, want the account", see)
		}
		o.answers("what one may not", o.sends("limits.tighten", "object", "all", "currency", "COIN", "detail", "maximum",
			"amount", "0.00002"), http.StatusUnprocessableEntity, "Nothing was done", "propose it")
		o.answers("its end", o.sends("limits.tighten", "object", "all", "currency", "COIN", "detail", "maximum"),
			http.StatusUnprocessableEntity)
		o.answers("another kind", o.sends("limits.tighten", "object", "all", "currency", "COIN", "detail", "x", "amount",
			"1"), http.StatusUnprocessableEntity, "cannot be this")
		o.answers("no amount", o.sends("limits.tighten", "object", "all", "currency", "COIN", "detail", "maximum", "amount",
			"-1"), http.StatusUnprocessableEntity, "is no amount of COIN")
		o.answers("no object", o.sends("limits.tighten", "object", "everybody", "currency", "COIN", "detail", "maximum",
			"amount", "1"), http.StatusNotFound)
		list := o.acts()
		if len(list) != 2 || list[1].Verb != "limits.change" || list[1].Object != "limit maximum COIN of all" ||
			list[1].Was != "not set" || list[1].Became != "0.00001000 COIN, of every account" ||
			list[0].Object != "limit approval COIN of account "+shop.String() {
			o.T.Errorf("recorded are %+v, want the two acts with the limits before and after", list)
		}
		o.View(func(tx *store.Tx) error {
			rules, err := tx.LimitRules().Of(context.Background(), shop)
			if len(rules) != 2 || rules[0].Actor != "Ann" || rules[0].Reason != "because" {
				o.T.Errorf("the limits are %+v, want two by Ann", rules)
			}
			return err
		})
	})
}

// Limits of periods are tightened by the same form, and one of zero by none.
func TestAPersonTightensALimitOfAPeriod(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.console.Acts.Limits = &withdrawal.Limits{DB: o.DB, Registry: o.Registry}
		shop := o.OneChain.Accounts[0].String()
		send := func(kind, amount string, want int, words ...string) {
			o.T.Helper()
			o.answers(kind+" "+amount, o.sends("limits.tighten", "object", shop, "currency", "COIN", "detail", kind, "amount",
				amount), want, words...)
		}
		for _, kind := range []string{"hourly", "daily", "weekly"} {
			send(kind, "0.5", http.StatusSeeOther)
			send(kind, "0.6", http.StatusUnprocessableEntity, "propose it")
			send(kind, "0", http.StatusUnprocessableEntity, "of zero")
		}
		if list := o.acts(); len(list) != 3 || list[0].Object != "limit weekly COIN of account "+shop {
			o.T.Errorf("recorded are %+v, want the three acts", list)
		}
	})
}

// A person without the verb, or who is restricted to other accounts, changes no limit.
func TestALimitWithoutTheRight(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.console.Acts.Limits = &withdrawal.Limits{DB: o.DB, Registry: o.Registry}
		shop, other := o.OneChain.Accounts[0], o.OneChain.Accounts[1]
		send := func(what, object string, want int) {
			o.T.Helper()
			o.answers(what, o.sends("limits.tighten", "object", object, "currency", "COIN", "detail", "maximum", "amount",
				"0.001"), want)
		}
		o.here.Roles = []operator.Role{operator.Approver, operator.Operator, operator.Support}
		send("no admin", shop.String(), http.StatusForbidden)
		o.answers("no admin, as JSON", posted(o.T, o.console, apiBase+"/do/limits.tighten", "object=all"),
			http.StatusForbidden, `"code":"missing_permission"`, `"verb":"limits.change"`)
		o.here.Roles, o.here.Accounts = []operator.Role{operator.Admin}, []bursar.ID{other}
		send("of another account", shop.String(), http.StatusNotFound)
		send("of every account", "all", http.StatusNotFound)
		if len(o.acts()) != 0 {
			o.T.Errorf("recorded are %v, want nothing", o.acts())
		}
		send("of their own account", other.String(), http.StatusSeeOther)
	})
}

// Who proposes a limit of zero, above which every withdrawal waits, does not propose the end of the limit.
func TestALimitOfZeroIsNotProposedAsItsEnd(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.answers("zero", o.sends("limits.loosen", "object", "all", "currency", "COIN", "detail", "approval", "amount", "0"),
			http.StatusUnprocessableEntity, "leave the amount empty")
	})
}
