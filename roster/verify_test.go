package roster

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

func TestAQuorumIsOfPersons(t *testing.T) {
	t.Parallel()
	p := policy()
	second := keyOf(11)
	p.People[0].Keys = append(p.People[0].Keys, second)
	text := "anything\n"
	of := func(seeds ...byte) (list []string) {
		for _, seed := range seeds {
			list = append(list, sign(t, seed, approval.NamespacePolicy, text))
		}
		return list
	}
	for name, test := range map[string]struct {
		signatures []string
		now        time.Time
		want       error
	}{
		"two":                  {of(1, 2), noon, nil},
		"one":                  {of(1), noon, ErrQuorum},
		"one twice":            {of(1, 1), noon, ErrQuorum},
		"one with two keys":    {of(1, 11), noon, ErrQuorum},
		"another role":         {of(1, 4), noon, ErrQuorum},
		"an outsider":          {of(1, 12), noon, ErrQuorum},
		"after their time":     {of(1, 2), noon.AddDate(1, 0, 0), ErrQuorum},
		"just before":          {of(1, 2), noon.AddDate(1, 0, 0).Add(-1), nil},
		"for another purpose":  {[]string{of(1)[0], sign(t, 2, approval.NamespaceFreeze, text)}, noon, ErrQuorum},
		"of another text":      {[]string{of(1)[0], sign(t, 2, approval.NamespacePolicy, "else\n")}, noon, ErrQuorum},
		"two beside a garbled": {append(of(1, 2), "garbled"), noon, nil},
	} {
		names, err := p.Quorum(RoleAuthor, 2, approval.NamespacePolicy, text, test.signatures, test.now)
		if !errors.Is(err, test.want) || err == nil && !slices.Equal(names, []string{"ann", "bob"}) {
			t.Errorf("%s: got %v, %v, want %v", name, names, err, test.want)
		}
	}
}

func TestAPolicyFollows(t *testing.T) {
	t.Parallel()
	signed := func(p Policy, seeds ...byte) (string, []string) {
		var list []string
		for _, seed := range seeds {
			list = append(list, sign(t, seed, approval.NamespacePolicy, p.Text()))
		}
		return p.Text(), list
	}
	first := policy()
	text, by := signed(first, 1, 3)
	if got, names, _, err := Follows(nil, nil, text, by, "mainnet", nil, noon); err != nil || got.Text() != text ||
		!slices.Equal(names, []string{"ann", "cat"}) {
		t.Errorf("the first: got %v, %v, want %v and %+v", names, err, text, []string{"ann", "cat"})
	}
	if _, _, _, err := Follows(nil, nil, text, by, "testnet", nil, noon); !errors.Is(err, ErrReplayed) {
		t.Errorf("on another network: got %v, want %v", err, ErrReplayed)
	}
	if _, _, _, err := Follows(nil, nil, text, by[:1], "mainnet", nil, noon); !errors.Is(err, ErrQuorum) {
		t.Errorf("by one author: got %v, want %v", err, ErrQuorum)
	}
	next := policy()
	next.Version, next.Previous, next.Rules[0].Each = 2, first.Hash(), value("2000")
	for _, test := range []struct {
		begins time.Time
		now    time.Time
		want   error
	}{
		{noon, noon, ErrUnsound},
		{noon.Add(LooseningWait), noon, nil},
		{noon.Add(LooseningWait), noon.Add(time.Second), ErrUnsound},
	} {
		next.NotBefore = test.begins
		text, by := signed(next, 1, 2)
		if _, _, changes, err := Follows(&first, nil, text, by, "mainnet", nil, test.now); !errors.Is(err, test.want) ||
			!Loosens(changes) {
			t.Errorf("a loosening from %s at %s: got %v, %v, want %v", test.begins, test.now, changes, err, test.want)
		}
	}
	next.Rules[0].Each, next.NotBefore = value("500"), noon
	text, by = signed(next, 1, 2)
	if _, _, changes, err := Follows(&first, nil, text, by, "mainnet", nil, noon); err != nil || Loosens(changes) {
		t.Errorf("a tightening at once: got %v, %v", changes, err)
	}
	// Whomever the new version names as authors, those of the version before sign it.
	next.People[0].Keys, next.People[1].Keys = []sshsig.Key{keyOf(21)}, []sshsig.Key{keyOf(22)}
	text, by = signed(next, 21, 22)
	if _, _, _, err := Follows(&first, nil, text, by, "testnet", nil, noon); err == nil {
		t.Error("a policy signed by the authors that it brings itself: got none, want a refusal")
	}
	next.Network, first.Network = "regtest", "regtest"
	text, by = signed(next, 21, 22)
	if _, _, _, err := Follows(&first, nil, text, by, "regtest", nil, noon); !errors.Is(err, ErrQuorum) {
		t.Errorf("a policy signed by the authors that it brings itself: got %v, want %v", err, ErrQuorum)
	}
}

func TestWhichApprovalsCount(t *testing.T) {
	t.Parallel()
	p := policy()
	base := approval.Approval{Instance: instance, Decision: approval.Yes, Payment: 1, Role: RoleApprover,
		Version: p.Version,
		Policy:  p.Hash(), Created: noon, Expires: noon.Add(time.Hour), Order: order()}
	made := func(seed byte, change func(a *approval.Approval)) Signed {
		a := base
		a.Nonce = approval.NewNonce()
		change(&a)
		return Signed{a.Text(), sign(t, seed, approval.NamespaceApproval, a.Text())}
	}
	same := func(*approval.Approval) {}
	other := order()
	other.Units, _ = other.Units.Add(other.Units)
	elsewhere := order()
	elsewhere.Instance = "ANOTHER"
	swapped := made(1, same)
	swapped.Text = made(1, same).Text
	for name, test := range map[string]struct {
		signed Signed
		now    time.Time
		want   error
	}{
		"as it should be":    {made(1, same), noon, nil},
		"in its last second": {made(1, same), noon.Add(time.Hour - time.Second), nil},
		"expired":            {made(1, same), noon.Add(time.Hour), ErrExpired},
		"yet to come":        {made(1, same), noon.Add(-3 * time.Minute), ErrReplayed},
		"of a clock ahead":   {made(1, same), noon.Add(-time.Minute), nil},
		"of another order":   {made(1, func(a *approval.Approval) { a.Order = other }), noon, ErrReplayed},
		"of another signer": {made(1, func(a *approval.Approval) { a.Order, a.Instance = elsewhere, "ANOTHER" }), noon,
			ErrReplayed},
		"under another version": {made(1, func(a *approval.Approval) { a.Version = 2 }), noon, ErrReplayed},
		"under another policy":  {made(1, func(a *approval.Approval) { a.Policy[0] ^= 1 }), noon, ErrReplayed},
		"in a role of others":   {made(4, same), noon, ErrNobody},
		"by an outsider":        {made(13, same), noon, ErrNobody},
		"with another's text":   {swapped, noon, sshsig.ErrInvalid},
		"with a forged one":     {swapped, noon, ErrForged},
		"no text":               {Signed{"yes\n", swapped.Signature}, noon, approval.ErrText},
	} {
		approvals, problems := p.Approvals(order(), []Signed{test.signed}, test.now)
		if err := errors.Join(problems...); !errors.Is(err, test.want) || len(approvals) != 1-len(problems) {
			t.Errorf("%s: got %d approvals, %v, want %v", name, len(approvals), err, test.want)
		}
	}
	later := func(a *approval.Approval) { a.Expires = a.Expires.Add(time.Hour) }
	no := func(a *approval.Approval) { a.Decision = approval.No }
	approvals, problems := p.Approvals(order(), []Signed{made(1, same), made(1, later), made(2, same), made(3, no),
		made(3, same)},
		noon)
	yes, against := Tally(approvals)
	if len(problems) != 0 || !slices.Equal(yes[RoleApprover], []string{"ann", "bob"}) ||
		!slices.Equal(against, []string{"cat"}) || !approvals[0].Expires.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("got %v, no %v, %v", yes, against, problems)
	}
	// Anyone who ordered it does not approve it.
	own := order()
	own.Requester = "ann"
	approved := func(a *approval.Approval) { a.Order = own }
	approvals, problems = p.Approvals(own, []Signed{made(1, approved), made(2, approved)}, noon)
	if len(approvals) != 1 || approvals[0].Person != "bob" || !errors.Is(errors.Join(problems...), ErrNobody) {
		t.Errorf("got %v, %v, want bob's alone", approvals, problems)
	}
}
