package roster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/sshsig"
)

// KeyKind is the kind of key with which a person signs.
type KeyKind string

// The kinds of keys. A rule says which count; without its word these are those of SSH. A passkey approves payments and
// does nothing else: what its browser shows comes from the service.
const (
	KeyHardware KeyKind = "sk"       // an SSH key in a security key
	KeySSH      KeyKind = "ssh"      // an SSH key in a file
	KeyPasskey  KeyKind = "webauthn" // a passkey in a browser
)

// All kinds, sorted, and those that count where nothing is said.
var (
	keyKinds   = []KeyKind{KeyHardware, KeySSH, KeyPasskey}
	usualKinds = []KeyKind{KeyHardware, KeySSH}
)

// KindOf returns the kind of key that a signature is said to be by, as far as its form shows: KeySSH for all of SSH.
func KindOf(signature string) KeyKind {
	if passkey.Is(signature) {
		return KeyPasskey
	}
	return KeySSH
}

func kindOfSSHKey(key sshsig.Key) KeyKind {
	if key.Hardware() {
		return KeyHardware
	}
	return KeySSH
}

// Voice is who signed an approval, and with what.
type Voice struct {
	Person
	With    KeyKind
	Passkey passkey.Key // with KeyPasskey
	Counter uint32      // of the passkey; 0: it has none
}

// ApprovedBy verifies a signature over an approval as of a time, and returns who signed, with any kind of key. The
// error is ErrNobody, ErrExpired, ErrForged, or one of sshsig or passkey.
func (p Policy) ApprovedBy(text, signature string, now time.Time) (v Voice, err error) {
	if !passkey.Is(signature) {
		v.Person, err = p.SignedBy(approval.NamespaceApproval, text, signature, now)
		if key, failed := sshsig.Verify(signature, approval.NamespaceApproval, []byte(text)); failed == nil {
			v.With = kindOfSSHKey(key)
		}
		return v, err
	}
	said, err := passkey.Verify(signature, p.Site, approval.NamespaceApproval, text)
	i := slices.IndexFunc(p.People, func(one Person) bool { return slices.Contains(one.Passkeys, said.Key) })
	switch {
	case errors.Is(err, passkey.ErrInvalid) && i >= 0:
		return v, fmt.Errorf("%w: %s: %w", ErrForged, said.Key.Fingerprint(), err)
	case err != nil:
		return v, err
	case i < 0:
		return v, fmt.Errorf("%w: the passkey %s", ErrNobody, said.Key.Fingerprint())
	}
	v = Voice{p.People[i], KeyPasskey, said.Key, said.Counter}
	return v, v.lasts(now)
}

// deniedBy returns who signed a rejection with a key that any of the versions has for them; each passkey is verified
// for its version's site. If nobody did, it returns the given error.
func (p Policy) deniedBy(s Signed, before error, now time.Time) (Voice, error) {
	for _, version := range p.versions {
		v, err := version.ApprovedBy(s.Text, s.Signature, now)
		if one, stays := p.Person(v.Name); err == nil && stays {
			v.Person = one
			return v, one.lasts(now)
		}
	}
	return Voice{}, before
}

// lasts refuses a person whose validity has ended.
func (p Person) lasts(now time.Time) error {
	if now.Before(p.Until) {
		return nil
	}
	return fmt.Errorf("%w: %s counted until %s", ErrExpired, p.Name, approval.Moment(p.Until))
}

// signsWith returns the kinds of keys that a person has.
func (p Person) signsWith() (list []KeyKind) {
	for _, key := range p.Keys {
		list = append(list, kindOfSSHKey(key))
	}
	if len(p.Passkeys) > 0 {
		list = append(list, KeyPasskey)
	}
	return list
}

// signsBy reports whether a person has a key of one of some kinds.
func (p Person) signsBy(kinds []KeyKind) bool {
	return slices.ContainsFunc(p.signsWith(), func(k KeyKind) bool { return slices.Contains(kinds, k) })
}

// Counts returns the kinds of keys whose approvals count for a rule.
func (r Rule) Counts() []KeyKind {
	if r.Keys == nil {
		return usualKinds
	}
	return r.Keys
}

// Counted returns of persons who approved those whose kind of key counts for a rule. A person who is not in with signed
// by SSH.
func (r Rule) Counted(names []string, with map[string]KeyKind) (counted []string) {
	for _, name := range names {
		kind := with[name]
		if kind == "" {
			kind = KeySSH
		}
		if slices.Contains(r.Counts(), kind) {
			counted = append(counted, name)
		}
	}
	return counted
}

func readSite(r *approval.Reader) passkey.Origin {
	text := r.Word("passkey_origin")
	site, err := passkey.ParseOrigin(text)
	r.Demand(r.Err() != nil || err == nil, "passkey_origin: %v", err)
	return site
}

func readPasskey(r *approval.Reader, of string) passkey.Key {
	key, err := passkey.ParseKey(r.Line("passkey"))
	r.Demand(r.Err() != nil || err == nil, "a passkey of %s: %v", of, err)
	return key
}

func readKinds(r *approval.Reader, rule string) (list []KeyKind) {
	for _, one := range strings.Split(r.Line("keys"), ",") {
		r.Demand(r.Err() != nil || slices.Contains(keyKinds, KeyKind(one)), "keys of %s are %.40q, want some of %v", rule,
			one, keyKinds)
		list = append(list, KeyKind(one))
	}
	return list
}

// soundPasskeys refuses passkeys of no site, one for two persons, and rules that count keys which sign nothing.
func (p Policy) soundPasskeys() error {
	owner := map[passkey.Key]string{}
	for _, one := range p.People {
		for _, key := range one.Passkeys {
			if owner[key] != "" && owner[key] != one.Name {
				return unsound("%s and %s have the same passkey", owner[key], one.Name)
			}
			owner[key] = one.Name
		}
		if !sorted(passkeysOf(one)) {
			return unsound("the passkeys of %s must be sorted, each once", one.Name)
		}
	}
	if len(owner) > 0 && p.Site.String() == "" {
		return unsound("there are passkeys and no passkey_origin, at which they sign")
	}
	for _, r := range p.Rules {
		if r.Keys == nil {
			continue
		}
		if r.Need == 0 {
			return unsound("%s says which keys count and needs no approvals", r.ID)
		}
		if !sorted(textsOf(r.Keys)) {
			return unsound("%s must have its keys sorted, each once", r.ID)
		}
	}
	return nil
}

func textsOf(kinds []KeyKind) (list []string) {
	for _, kind := range kinds {
		list = append(list, string(kind))
	}
	return list
}

func passkeysOf(p Person) (list []string) {
	for _, key := range p.Passkeys {
		list = append(list, key.String())
	}
	return list
}

// diffSite reports another origin: anyone who has that site can have people's passkeys asked for approvals there.
func diffSite(old, next Policy, add adder) {
	if old.Site != next.Site {
		add(next.Site.String() != "", "passkey_origin: %q instead of %q", next.Site, old.Site)
	}
}

// others says how many persons approved with keys that do not count for a rule; "" for none.
func (r Rule) others(q Question, counted int) string {
	if n := len(q.Signed[r.Role]) - counted; n > 0 {
		return fmt.Sprintf("; %d more with keys of a kind that does not count here, which are %s", n,
			strings.Join(textsOf(r.Counts()), " and "))
	}
	return ""
}
