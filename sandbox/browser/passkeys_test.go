package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
)

// acts plays two persons in the console of a running service: each makes a passkey and signs in with it, one proposes
// to approve a withdrawal, the other approves it by passkey, and it goes on. Every page is looked at on the way.
func (p *payer) acts(t *testing.T) {
	t.Helper()
	o, before := newConsoleFixture(t), p.url
	p.url = o.url
	defer func() { p.url = before }()
	call(p, webauthn.Enable, webauthn.EnableParams{})
	p.do(chromedp.EmulateViewport(320, 800))

	token := p.addsAuthenticator()
	p.signsInFirst(o.invite("Ada", operator.Roles()...))
	at := p.proposes(o)
	p.cannotApproveAlone(at)
	p.approvesForSigner(t, o, token)
	p.signsOut()
	call(p, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: token})

	token = p.addsAuthenticator()
	p.signsInFirst(o.invite("Grace", operator.Viewer, operator.Approver))
	p.approves(o, token, at)
	p.signsOut()
	call(p, webauthn.Disable, cdp.Empty{})
	p.do(chromedp.EmulateViewport(390, 844))
}

// addsAuthenticator adds one as a laptop has it, which its user unlocks.
func (p *payer) addsAuthenticator() webauthn.AuthenticatorID {
	p.Helper()
	var made webauthn.AddVirtualAuthenticatorResult
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		made, err = cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol:                    "ctap2",
				Transport:                   "internal",
				HasResidentKey:              true,
				HasUserVerification:         true,
				IsUserVerified:              true,
				AutomaticPresenceSimulation: true,
			}})
		return err
	}))
	return made.AuthenticatorID
}

// look has a page fit a small screen, and axe-core and the page's policy find nothing.
func (p *payer) look(what string) {
	p.Helper()
	p.fits(what)
	p.examine(what)
	if forbidden := eval[[]string](p, "forbidden"); len(forbidden) > 0 {
		p.Errorf("%s: the policy forbids %v, want nothing", what, forbidden)
	}
}

// signsInFirst makes a passkey by an invitation, and signs in with it.
func (p *payer) signsInFirst(link string) {
	p.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link),
		chromedp.WaitVisible(chromedp.CSS(`[data-passkey="invited"]`)))
	p.look("the invitation")
	p.do(chromedp.Click(chromedp.CSS(`[data-passkey="invited"]`)),
		chromedp.WaitVisible(chromedp.CSS(`[data-passkey="sign-in"]`)))
	p.look("the page to sign in")
	p.do(chromedp.Click(chromedp.CSS(`[data-passkey="sign-in"]`)), chromedp.WaitReady(chromedp.CSS(".me")))
	p.consolePage("/console/me")
	p.look("one's own page")
	if sessions := eval[int](p, "document.querySelectorAll('tbody tr').length"); sessions != 1 {
		p.Errorf("%d sessions are listed, want the one", sessions)
	}
}

// proposes proposes to approve the withdrawal, without scripts, from the withdrawal's page. It returns the path of the
// proposal.
func (p *payer) proposes(o *consoleFixture) string {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.consolePage("/console/withdrawals/" + o.payout.ID.String())
	p.do(chromedp.Click(chromedp.CSS(`form[action="/console/do/withdrawal.approve"] button`)),
		chromedp.WaitReady(chromedp.CSS("#f-reason")),
		chromedp.SendKeys(chromedp.CSS("#f-reason"), "the order is checked"))
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.look("the form")
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.do(chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitReady(chromedp.CSS(`[data-status="pending"]`)))
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	for _, path := range []string{"/console/people", "/console/audit", "/console/do/halt?object=all"} {
		p.consolePage(path)
		p.look(path)
	}
	p.consolePage("/console/proposals")
	p.look("the proposals")
	p.do(chromedp.Click(chromedp.CSS("main a")), chromedp.WaitReady(chromedp.CSS(`[data-status="pending"]`)))
	p.look("the proposal")
	return eval[string](p, "location.pathname")
}

// approvesBare sends an approval with the session alone, and returns what is answered.
const approvesBare = `(async () => {
  const at = location.pathname.replace('/console', '/admin/v1');
  const shown = await (await fetch(at)).json();
  const body = JSON.stringify({hash: shown.Hash, evidence: %q});
  const sent = await fetch(at + '/approve', {method: 'POST', headers: {'Content-Type': 'application/json'}, body});
  return sent.status + ' ' + (await sent.json()).error;
})()`

func (p *payer) isRefused(evidence, want string) {
	p.Helper()
	got := result(p, chromedp.Evaluate[string](fmt.Sprintf(approvesBare, evidence), chromedp.EvalAwaitPromise))
	if !strings.HasPrefix(got, "422 ") || !strings.Contains(got, want) {
		p.Errorf("an approval with the evidence %q is answered %q, want 422 and %q", evidence, got, want)
	}
}

// cannotApproveAlone shows who proposed that another person approves, and refuses them.
func (p *payer) cannotApproveAlone(at string) {
	p.Helper()
	if eval[bool](p, "document.querySelector('[data-approve]') !== null") {
		p.Errorf("%s offers an approval to who proposed it, want none", at)
	}
	p.isRefused("", "who proposed it cannot approve it")
}

// signsOut ends the session, after which no page opens.
func (p *payer) signsOut() {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(`form[action="/console/sign-out"] button`)),
		chromedp.WaitVisible(chromedp.CSS(`[data-passkey="sign-in"]`)))
	p.consolePage("/console/withdrawals")
	if path := eval[string](p, "location.pathname"); path != "/console/sign-in" {
		p.Errorf("after signing out a page leads to %s, want the page to sign in", path)
	}
}

// approves approves the proposal by passkey: neither the session alone nor a passkey whose user was not verified does.
func (p *payer) approves(o *consoleFixture, token webauthn.AuthenticatorID, at string) {
	p.Helper()
	p.consolePage(at)
	p.look("the proposal to approve")
	p.isRefused("", "does not count")
	p.isRefused("{}", "does not count")
	verified := func(is bool) {
		call(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: token, IsUserVerified: is})
	}
	approve := chromedp.Click(chromedp.CSS(`[data-passkey="approve"]`))
	verified(false)
	p.do(approve, chromedp.WaitVisible(chromedp.CSS("[data-said]")))
	p.look("the refusal")
	if got := o.status(); got != bursar.WithdrawalPendingApproval {
		p.Fatalf("the withdrawal is %s, want pending_approval before the passkey was used", got)
	}
	verified(true)
	p.do(approve, chromedp.WaitReady(chromedp.CSS(`[data-status="executed"]`)))
	p.look("the proposal that was carried out")
	if got := o.status(); got == bursar.WithdrawalPendingApproval {
		p.Errorf("the withdrawal is %s, want that it goes on", got)
	}
}
