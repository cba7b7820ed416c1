package browser

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// govern has a signer's policy noted in which Ada approves with the passkey that she made in the browser.
func (o *consoleFixture) govern(t *testing.T, ada bursar.ID) (p roster.Policy) {
	t.Helper()
	site, err := passkey.ParseOrigin(o.url)
	o.Must(err)
	now := o.DB.Now().UTC().Truncate(time.Second)
	p = roster.Policy{Instance: "K7QJ3ZL2M5XW4RT6P8YN9VBHCD", Network: "regtest", Version: 1, Created: now,
		NotBefore: now, Authors: 1, Destinations: 1, Reference: "EUR", Site: site,
		Assets: []roster.Asset{{Name: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Price: bursar.Units(1)}},
		Rules: []roster.Rule{{ID: "seen", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 1,
			Role: roster.RoleApprover, Keys: []roster.KeyKind{roster.KeyPasskey}}}}
	var keys []passkey.Key
	o.View(func(tx *store.Tx) (err error) {
		keys, err = o.people.PublicKeys(t.Context(), tx, ada)
		return err
	})
	p.People = []roster.Person{{Name: "ada", Until: now.AddDate(1, 0, 0), Roles: []string{roster.RoleApprover},
		Passkeys: keys}}
	o.notes(t, store.PolicyText{Instance: p.Instance, Text: p.Text()})
	return p
}

func (o *consoleFixture) notes(t *testing.T, p store.PolicyText) {
	t.Helper()
	o.Do(func(tx *store.Tx) error { return tx.Settings().NotePolicy(t.Context(), p) })
}

// person returns who was invited under a name.
func (o *consoleFixture) person(t *testing.T, name string) (id bursar.ID) {
	t.Helper()
	o.View(func(tx *store.Tx) error {
		list, err := tx.People().List(t.Context())
		for _, one := range list {
			if one.Name == name {
				id = one.ID
			}
		}
		return err
	})
	return id
}

// approvesForSigner approves the withdrawal on the page of approvals, and checks what Chromium and its authenticator
// made as a signer does, which knows the policy alone.
func (p *payer) approvesForSigner(t *testing.T, o *consoleFixture, token webauthn.AuthenticatorID) {
	t.Helper()
	policy := o.govern(t, o.person(t, "Ada"))
	defer o.notes(t, store.PolicyText{})
	verified := func(is bool) {
		call(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: token, IsUserVerified: is})
	}
	p.consolePage("/console/approvals")
	p.look("the approvals")
	p.do(chromedp.Click(chromedp.CSS("main tbody a")), chromedp.WaitVisible(chromedp.CSS(`[data-passkey="sign"]`)))
	p.look("the approval")
	sign := chromedp.Click(chromedp.CSS(`button.main[data-passkey="sign"]`))
	verified(false)
	p.do(sign, chromedp.WaitVisible(chromedp.CSS("[data-said]")))
	verified(true)
	p.do(sign, chromedp.WaitReady(chromedp.CSS("main tbody a")))
	waiting, err := o.service.Approvals.Waiting(t.Context())
	o.Must(err)
	if len(waiting.Orders) != 1 || len(waiting.Orders[0].Approvals) != 1 {
		t.Fatalf("got %+v, want one approval of the one order", waiting.Orders)
	}
	order, err := approval.ParseOrder(waiting.Orders[0].Text)
	o.Must(err)
	made := waiting.Orders[0].Approvals[0]
	said, problems := policy.Approvals(order, []roster.Signed{{Text: made.Text, Signature: made.Signature}}, o.DB.Now())
	if len(said) != 1 || said[0].Person != "ada" || said[0].With != roster.KeyPasskey || said[0].Counter == 0 {
		t.Errorf("got %+v, %v, want the approval of ada, by a passkey that counts", said, problems)
	}
}
