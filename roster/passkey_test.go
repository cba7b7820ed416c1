package roster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
	"github.com/bursar/bursar/sshsig"
)

// withPasskeys is a policy in which ann and bob have passkeys too, and eve nothing else.
func withPasskeys(t *testing.T) Policy {
	t.Helper()
	p := policy()
	var err error
	if p.Site, err = passkey.ParseOrigin(passkeytest.Origin); err != nil {
		t.Fatal(err)
	}
	p.People[0].Passkeys = []passkey.Key{passkeytest.New(t, 2).Key()}
	p.People[1].Passkeys = []passkey.Key{passkeytest.New(t, 3).Key()}
	p.People = append(p.People, Person{Name: "eve", Until: noon.AddDate(1, 0, 0), Roles: []string{RoleApprover},
		Passkeys: []passkey.Key{passkeytest.New(t, 4).Key()}})
	p.Rules[1].Keys = []KeyKind{KeyHardware, KeySSH, KeyPasskey}
	return p
}

// yes is an approval of the order of the tests.
func yes(p Policy, change func(*approval.Approval)) string {
	a := approval.Approval{Instance: instance, Decision: approval.Yes, Payment: 1, Role: RoleApprover,
		Version: p.Version, Policy: p.Hash(), Created: noon, Expires: noon.Add(time.Hour), Order: order(),
		Nonce: approval.NewNonce()}
	if change != nil {
		change(&a)
	}
	return a.Text()
}

func TestAPolicyWithPasskeysHasOneSpelling(t *testing.T) {
	t.Parallel()
	text := withPasskeys(t).Text()
	got, err := Parse(text)
	if err != nil || got.Text() != text || got.Site.String() != passkeytest.Origin || len(got.People[4].Passkeys) != 1 {
		t.Errorf("got %v, %v, want\n%s", got.Text(), err, text)
	}
	for _, other := range []string{
		strings.Replace(text, "passkey_origin: https", "passkey_origin: http", 1),
		strings.Replace(text, "keys: sk,ssh,webauthn", "keys: sk,ssh,webauthn,mail", 1),
		strings.Replace(text, "keys: sk,ssh,webauthn", "keys: -", 1),
		strings.Replace(text, "passkey: passkey-p256 ", "passkey: passkey-p384 ", 1),
	} {
		if _, err := Parse(other); !errors.Is(err, approval.ErrText) {
			t.Errorf("got %v, want %v", err, approval.ErrText)
		}
	}
}

func TestUnsoundPasskeysAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *Policy){
		"no site":             func(p *Policy) { p.Site = passkey.Origin{} },
		"one for two persons": func(p *Policy) { p.People[1].Passkeys = p.People[0].Passkeys },
		"one twice": func(p *Policy) {
			p.People[0].Passkeys = append(p.People[0].Passkeys, p.People[0].Passkeys...)
		},
		"kinds that are not sorted":   func(p *Policy) { p.Rules[1].Keys = []KeyKind{KeySSH, KeyHardware} },
		"no kinds":                    func(p *Policy) { p.Rules[1].Keys = []KeyKind{} },
		"kinds without approvals":     func(p *Policy) { p.Rules[0].Keys = []KeyKind{KeySSH} },
		"a kind that nobody has":      func(p *Policy) { p.Rules[1].Keys = []KeyKind{KeyHardware} },
		"a kind that too few have":    func(p *Policy) { p.Rules[1].Keys, p.Rules[1].Need = []KeyKind{KeyPasskey}, 4 },
		"authors with passkeys alone": func(p *Policy) { p.People[0].Keys, p.People[1].Keys = nil, nil },
		"somebody without any key":    func(p *Policy) { p.People[4].Passkeys = nil },
	} {
		p := withPasskeys(t)
		change(&p)
		if err := p.sound(); !errors.Is(err, ErrUnsound) {
			t.Errorf("%s: got %v, want %v", name, err, ErrUnsound)
		}
	}
}

func TestWhichPasskeysApprove(t *testing.T) {
	t.Parallel()
	p := withPasskeys(t)
	text := yes(p, nil)
	type touch = passkeytest.Touch
	made := func(seed byte, namespace, text string, changes ...func(*touch)) string {
		return passkeytest.New(t, seed).Assert(t, namespace, text, changes...).Text()
	}
	swapped := passkeytest.New(t, 2).Assert(t, approval.NamespaceApproval, text)
	swapped.Key = passkeytest.New(t, 4).Key()
	requested, again := order(), p
	requested.Requester = "ann"
	again.Version = 2
	replayed := func(change func(*approval.Approval)) Signed {
		other := yes(p, change)
		return Signed{other, made(2, approval.NamespaceApproval, other)}
	}
	for name, test := range map[string]struct {
		signed Signed
		want   error
	}{
		"as it should be": {Signed{text, made(2, approval.NamespaceApproval, text)}, nil},
		"with Ed25519":    {Signed{text, made(3, approval.NamespaceApproval, text)}, nil},
		"of nobody":       {Signed{text, made(6, approval.NamespaceApproval, text)}, ErrNobody},
		"as another's":    {Signed{text, swapped.Text()}, ErrForged},
		"of another text": {Signed{text, made(2, approval.NamespaceApproval, yes(p, nil))}, passkey.ErrOther},
		"of a proposal":   {Signed{text, made(2, "proposal@bursar", text)}, passkey.ErrOther},
		"without its owner": {Signed{text, made(2, approval.NamespaceApproval, text,
			func(o *touch) { o.Flags = passkeytest.Present })}, passkey.ErrUnverified},
		"at another site": {Signed{text, made(2, approval.NamespaceApproval, text,
			func(o *touch) { o.Origin = "https://console.example.net" })}, passkey.ErrSite},
		"of another signer": {replayed(func(a *approval.Approval) { a.Instance, a.Order.Instance = "OTHER", "OTHER" }),
			ErrReplayed},
		"of another chain": {replayed(func(a *approval.Approval) { a.Order.Chain = "litecoin" }), ErrReplayed},
		"of another amount": {replayed(func(a *approval.Approval) {
			a.Order.Units = a.Order.Units.SubOrZero(value("1"))
		}), ErrReplayed},
		"under another policy": {replayed(func(a *approval.Approval) { a.Policy = again.Hash() }), ErrReplayed},
		"in another role":      {replayed(func(a *approval.Approval) { a.Role = RoleAuthor + "s" }), ErrNobody},
		"expired": {replayed(func(a *approval.Approval) {
			a.Created, a.Expires = noon.Add(-time.Hour), noon
		}), ErrExpired},
	} {
		approvals, problems := p.Approvals(order(), []Signed{test.signed}, noon)
		if err := errors.Join(problems...); !errors.Is(err, test.want) || len(approvals) != 1-len(problems) ||
			len(approvals) == 1 && approvals[0].With != KeyPasskey {
			t.Errorf("%s: got %v, %v, want %v", name, approvals, err, test.want)
		}
	}
	own := yes(p, func(a *approval.Approval) { a.Order = requested })
	if approvals, problems := p.Approvals(requested, []Signed{{own, made(2, approval.NamespaceApproval, own)}}, noon); len(
		approvals) != 0 || !errors.Is(problems[0], ErrNobody) {
		t.Errorf("by anyone who ordered it: got %v, %v, want %v", approvals, problems, ErrNobody)
	}
	if approvals, _ := p.Approvals(order(), []Signed{{text, made(2, approval.NamespaceApproval, text)}},
		p.People[0].Until); len(approvals) != 0 {
		t.Errorf("after their time: got %v, want none", approvals)
	}
}

// The attack: a browser's assertion is shown where only a person at their own machine signs.
func TestPasskeysSignNothingButApprovals(t *testing.T) {
	t.Parallel()
	p := withPasskeys(t)
	for _, namespace := range []string{approval.NamespacePolicy, approval.NamespaceDestination, approval.NamespaceFreeze,
		approval.NamespaceOrderKey} {
		made := passkeytest.New(t, 2).Assert(t, namespace, "text\n").Text()
		if one, err := p.SignedBy(namespace, "text\n", made, noon); !errors.Is(err, sshsig.ErrMalformed) {
			t.Errorf("for %s: got %q, %v, want %v", namespace, one.Name, err, sshsig.ErrMalformed)
		}
	}
}

// A person is one person, whatever they sign with, and counts where that counts.
func TestARuleSaysWhichKeysCount(t *testing.T) {
	t.Parallel()
	p := withPasskeys(t)
	text := [2]string{yes(p, nil), yes(p, func(a *approval.Approval) { a.Created = noon.Add(time.Second) })}
	annTwice := []Signed{{text[0], sign(t, 1, approval.NamespaceApproval, text[0])},
		{text[1], passkeytest.New(t, 2).Assert(t, approval.NamespaceApproval, text[1]).Text()}}
	approvals, problems := p.Approvals(order(), annTwice, noon)
	if said, _ := Tally(approvals); len(problems) > 0 || !slices.Equal(said[RoleApprover], []string{"ann"}) ||
		approvals[0].With != KeyPasskey {
		t.Errorf("of ann with two keys: got %v, %v, want her once, with the last", approvals, problems)
	}
	for _, test := range []struct {
		keys []KeyKind
		with map[string]KeyKind
		want bool
	}{
		{nil, nil, true},
		{nil, map[string]KeyKind{"ann": KeyHardware, "bob": KeySSH}, true},
		{nil, map[string]KeyKind{"ann": KeyPasskey}, false},
		{nil, map[string]KeyKind{"ann": KeyPasskey, "bob": KeyPasskey}, false},
		{[]KeyKind{KeyPasskey}, map[string]KeyKind{"ann": KeyPasskey, "bob": KeyPasskey}, true},
		{[]KeyKind{KeyPasskey}, map[string]KeyKind{"ann": KeyPasskey}, false},
		{[]KeyKind{KeyHardware}, map[string]KeyKind{"ann": KeyHardware, "bob": KeySSH}, false},
		{[]KeyKind{KeySSH, KeyPasskey}, map[string]KeyKind{"ann": KeyPasskey, "bob": KeySSH}, true},
	} {
		p.Rules[1].Keys, p.Rules[1].Hold = test.keys, 0
		q := bitcoins(10_000_000)
		q.Signed, q.With = map[string][]string{RoleApprover: {"ann", "bob"}}, test.with
		if a := p.Evaluate(q); a.Allowed != test.want || !a.Allowed && a.Lacks != Approved {
			t.Errorf("keys %v, signed with %v: got %+v, want allowed %v", test.keys, test.with, a, test.want)
		}
	}
}

func TestWhatOfPasskeysLoosens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(p *Policy)
		loosens bool
	}{
		"another site":             {func(p *Policy) { p.Site, _ = passkey.ParseOrigin("https://other.example.com") }, true},
		"no site":                  {func(p *Policy) { p.Site = passkey.Origin{} }, false},
		"a passkey more":           {func(p *Policy) { p.People[2].Passkeys = p.People[0].Passkeys }, true},
		"a passkey less":           {func(p *Policy) { p.People[0].Passkeys = nil }, false},
		"a kind less":              {func(p *Policy) { p.Rules[1].Keys = []KeyKind{KeySSH, KeyPasskey} }, false},
		"the kinds of before":      {func(p *Policy) { p.Rules[1].Keys = nil }, false},
		"the same, another way":    {func(p *Policy) { p.Rules[1].Keys = slices.Clone(p.Rules[1].Keys) }, false},
		"another kind in exchange": {func(p *Policy) { p.Rules[1].Keys = nil; p.Rules[1].Hold = 0 }, true},
	} {
		old, next := withPasskeys(t), withPasskeys(t)
		test.change(&next)
		if changes := Diff(old, next); Loosens(changes) != test.loosens {
			t.Errorf("%s: got %v, want loosens %v", name, changes, test.loosens)
		}
	}
	old, next := policy(), policy()
	next.Rules[1].Keys = []KeyKind{KeyPasskey}
	if changes := Diff(old, next); !Loosens(changes) || len(changes) != 3 {
		t.Errorf("passkeys instead of SSH: got %v, want 3 that loosen", changes)
	}
}

// A passkey or a site that a later version gives up counts no more at once.
func TestAPasskeyThatIsTakenAwayIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	p, next, moved := withPasskeys(t), withPasskeys(t), withPasskeys(t)
	next.People[0].Passkeys = nil
	moved.Site, _ = passkey.ParseOrigin("https://other.example.com")
	text := yes(p, nil)
	signed := []Signed{{text, passkeytest.New(t, 2).Assert(t, approval.NamespaceApproval, text).Text()},
		{text, passkeytest.New(t, 3).Assert(t, approval.NamespaceApproval, text).Text()}}
	for want, later := range map[int]Policy{1: next, 0: moved} {
		if approvals, _ := p.Tightened([]Policy{later}).Approvals(order(), signed, noon); len(approvals) != want {
			t.Errorf("got %d approvals, want %d", len(approvals), want)
		}
	}
	p.Rules[1].Keys = []KeyKind{KeyPasskey}
	if got := p.Tightened([]Policy{moved}).Unreachable(noon); len(got) != 1 || !strings.Contains(got[0], "large") {
		t.Errorf("got %q, want that rule large cannot be met", got)
	}
}
