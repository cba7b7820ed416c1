package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// The list and the page have the proposals of the person's accounts alone, however many others there are, and an
// approval or a rejection of another one says no more than that there is none.
func TestProposalsOfOtherAccounts(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		shop, other := o.OneChain.Accounts[0], o.OneChain.Accounts[1]
		propose := func(n int, account bursar.ID) store.Proposal {
			p := store.Proposal{ID: o.IDs.Next(), Verb: "resume.all", Object: strconv.Itoa(n), AccountID: account,
				Token: o.IDs.Next(), Hash: []byte{1}, PersonID: bursar.ID{1}, CreatedAt: o.DB.Now(),
				ExpiresAt: o.DB.Now().Add(proposal.Life)}
			o.Do(func(tx *store.Tx) error { return tx.Proposals().Insert(context.Background(), p) })
			return p
		}
		own := propose(0, shop)
		theirs := propose(1, other)
		for n := range mostProposals {
			propose(n+2, other)
		}
		o.here.Accounts = []bursar.ID{shop}
		var list []proposalView
		o.Must(json.Unmarshal(got(o.T, o.console, apiBase+"/proposals").Body.Bytes(), &list))
		if len(list) != 1 || list[0].ID != own.ID.String() {
			o.T.Errorf("listed are %d proposals, want the one of the account", len(list))
		}
		at := base + "/proposals/" + theirs.ID.String()
		o.answers("the page", got(o.T, o.console, at), http.StatusNotFound)
		o.answers("an approval", posted(o.T, o.console, at+"/approve", "hash=00"), http.StatusNotFound)
		o.answers("a rejection", posted(o.T, o.console, at+"/reject", "reason=no"), http.StatusNotFound)
	})
}

// What the pages of people and of proposals show is exported, for a spreadsheet, to who may see the page.
func TestPeopleAndProposalsAreExported(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.answers("the halt", o.sends("halt", "object", "all"), http.StatusSeeOther)
		o.answers("the proposal", o.sends("resume.all", "reason", "=1+1"), http.StatusSeeOther)
		for path, want := range map[string][]string{
			"/people.csv":    {"id,name,roles,", ",Ann,viewer auditor support operator approver admin,"},
			"/proposals.csv": {"id,created,verb,", ",resume.all,all,", ",'=1+1,Ann,1,pending,"},
			"/audit.csv":     {"number,at,actor,", ",Ann,", ",chain.halt,all,"},
		} {
			w := got(o.T, o.console, base+path)
			o.answers(path, w, http.StatusOK, want...)
			if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") {
				o.T.Errorf("%s is %q, want CSV", path, kind)
			}
		}
		o.answers("other statuses", got(o.T, o.console, base+"/proposals.csv?status=void"), http.StatusOK, "id,created")
		o.here.Roles = []operator.Role{operator.Viewer}
		o.answers("a viewer", got(o.T, o.console, base+"/people.csv"), http.StatusForbidden, "people.change")
	})
}

// One proposes and another approves, over the text that was shown; who proposed is refused beside the form.
func TestAProposalIsApprovedByAnother(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.answers("the halt", o.sends("halt", "object", "all"), http.StatusSeeOther)
		w := o.sends("resume.all")
		o.answers("the proposal", w, http.StatusSeeOther)
		at := w.Header().Get("Location")
		api := apiBase + strings.TrimPrefix(at, base)
		o.answers("the list", got(o.T, o.console, base+"/proposals"), http.StatusOK, at)
		var shown proposalView
		o.Must(json.Unmarshal(got(o.T, o.console, api).Body.Bytes(), &shown))
		signed := func(by operator.Person, change func(*touch)) string {
			return url.Values{"hash": {shown.Hash}, "evidence": {keyOf(by.ID).signs(shown.Challenge, change)}}.Encode()
		}
		hash := signed(o.here, nil)
		o.answers("who proposed", posted(o.T, o.console, at+"/approve", hash), http.StatusUnprocessableEntity,
			"who proposed it cannot approve it")
		o.here = o.people[bursar.ID{0: 7, 15: 1}]
		o.answers("the page", got(o.T, o.console, at), http.StatusOK, "bursar-proposal/1", "/approve", shown.Hash,
			"no signature that the signer verifies")
		if page := got(o.T, o.console, at).Body.String(); strings.Contains(page, "bursar proposal approve") {
			o.T.Errorf("without SSH keys the page is %s, want no command for them", page)
		}
		o.console.SSHKeys = make([]proposal.PersonKey, 1)
		o.answers("the page with SSH keys", got(o.T, o.console, at), http.StatusOK,
			"bursar proposal show --text "+shown.ID+" &gt; proposal.txt", "ssh-keygen -Y sign -n proposal@bursar ",
			"bursar proposal approve "+shown.ID+" --signature proposal.txt.sig")
		if want := shown.Text + "console: \"http://localhost:8081\"\n"; shown.SignedText != want {
			o.T.Errorf("an SSH key signs %q, want %q", shown.SignedText, want)
		}
		for what, forged := range map[string]string{
			"no assertion": "hash=" + shown.Hash, "of another person": hash,
			"of another challenge": signed(o.here, func(t *touch) { t.challenge = strings.Repeat("A", 43) }),
			"of another site":      signed(o.here, func(t *touch) { t.origin = "https://evil.example" }),
			"of another host":      signed(o.here, func(t *touch) { t.host = "evil.example" }),
			"of another ceremony":  signed(o.here, func(t *touch) { t.kind = "webauthn.create" }),
			"not verified":         signed(o.here, func(t *touch) { t.flags = present }),
			"not touched":          signed(o.here, func(t *touch) { t.flags = verified }),
			"altered":              signed(o.here, func(t *touch) { t.spoilt = true }),
		} {
			o.answers(what, posted(o.T, o.console, at+"/approve", forged), http.StatusUnprocessableEntity, "does not count")
		}
		hash = signed(o.here, nil)
		o.answers("another text", posted(o.T, o.console, at+"/approve", "hash=00"), http.StatusUnprocessableEntity,
			"not the one that was shown")
		o.answers("the other", posted(o.T, o.console, at+"/approve", hash), http.StatusSeeOther)
		o.answers("afterwards", got(o.T, o.console, at), http.StatusOK, "executed", "ended")
		o.answers("a late rejection", posted(o.T, o.console, at+"/reject", "reason=no"), http.StatusUnprocessableEntity,
			"has ended")
		list := o.acts()
		if len(list) != 4 || list[0].Actor != "bursar" || list[1].Actor != "Bob" || list[2].Actor != "Ann" ||
			list[1].Became != "approved" || list[0].Became != "executed" || list[1].Session.IsZero() {
			o.T.Errorf("recorded are %+v, want the halt, the proposal, the approval and the end", list)
		}
		o.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(context.Background())
			if len(halts) != 0 {
				o.T.Errorf("halted are %v, want nothing", halts)
			}
			return err
		})
	})
}

func (o *fixture) withdraw(from bursar.ID) (bursar.Withdrawal, error) {
	return o.Withdrawals.Request(context.Background(), withdrawal.Request{Account: from, Currency: "COIN", Amount: "0.001",
		Address: o.Chain.Named("buyer")})
}
