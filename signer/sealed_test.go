package signer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"
)

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	i, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func parsed(t testing.TB, file []byte) Sealed {
	t.Helper()
	s, err := ParseSealed(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written writes a file and reads it again.
func written(t testing.TB, s Sealed) Sealed {
	t.Helper()
	file, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, file)
}

// several is a seed file with a passphrase, an identity and a device that turns letters round.
func several(t testing.TB) (Sealed, *age.X25519Identity, Openers) {
	t.Helper()
	with := Openers{Passphrase: mustPassphrase(t, "right")}
	old := parsed(t, mustSeal(t, legal, "right"))
	opened, err := old.Open(with)
	if err != nil {
		t.Fatal(err)
	}
	s, err := old.Add(opened, Way{Name: "machine", Kind: KindTPM},
		func(key string) (string, error) { return turned(key), nil })
	if err != nil {
		t.Fatal(err)
	}
	if opened, err = s.Open(with); err != nil {
		t.Fatal(err)
	}
	key := identity(t)
	if s, err = s.Add(opened, Way{Name: "recovery", Kind: KindAge}, ToRecipient(key.Recipient())); err != nil {
		t.Fatal(err)
	}
	return written(t, s), key, Openers{Unwrap: map[Kind]func(string) ([]byte, error){
		KindTPM: func(sealed string) ([]byte, error) { return []byte(turned(sealed)), nil },
	}}
}

func turned(text string) string {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// Each way opens the file alone, and a file of before opens as ever.
func TestEachWayOpensTheSeedFile(t *testing.T) {
	t.Parallel()
	s, key, device := several(t)
	right := Openers{Passphrase: mustPassphrase(t, "right")}
	for by, with := range map[string]Openers{
		"passphrase": right,
		"recovery":   {Identities: []age.Identity{identity(t), key}},
		"machine":    device,
	} {
		got, err := s.Open(with)
		if err != nil || got.Mnemonic.Reveal() != legal || got.By != by {
			t.Errorf("%s: opened by %q, %v, want the seed", by, got.By, err)
		}
		if text := fmt.Sprintf("%v %+v", got, got.key); strings.Contains(text, "winner") ||
			strings.Contains(text, "AGE-SECRET") {
			t.Errorf("%s: it prints a secret: %s, want no %q and no %q", by, text, "winner", "AGE-SECRET")
		}
	}
	if old, err := parsed(t, mustSeal(t, legal, "right")).Open(right); err != nil || old.Mnemonic.Reveal() != legal {
		t.Errorf("a file with a passphrase alone: %v, want the seed", err)
	}
	file, err := encrypt([]byte(`{"version":1,"mnemonic":"`+legal+`"}`), key.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	own := parsed(t, file)
	opened, err := own.Open(Openers{Identities: []age.Identity{key}})
	if err != nil || opened.Mnemonic.Reveal() != legal {
		t.Fatalf("a file of age for an identity: %v, want the seed", err)
	}
	more, err := own.Add(opened, Way{Name: "more", Kind: KindPassphrase}, ToPassphrase(right.Passphrase, cheap))
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []Openers{right, {Identities: []age.Identity{key}}} {
		if got, err := written(t, more).Open(with); err != nil || got.Mnemonic.Reveal() != legal {
			t.Errorf("with a second way: %v, want the seed", err)
		}
	}
}

// A way that fails does not keep the others from opening, and is named.
func TestAWayThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	s, key, device := several(t)
	device.Unwrap[KindTPM] = func(string) ([]byte, error) { return nil, errors.New("PCR 7 changed") }
	device.Identities = []age.Identity{key}
	got, err := s.Open(device)
	if err != nil || got.By != "recovery" || len(got.Failed) != 1 || got.Failed[0].String() != "machine: PCR 7 changed" {
		t.Errorf("opened by %q after %q, %v, want recovery after machine", got.By, got.Failed, err)
	}
	device.Identities = []age.Identity{identity(t)}
	device.Passphrase = mustPassphrase(t, "wrong")
	_, err = s.Open(device)
	for _, want := range []string{"machine: PCR 7 changed", "recovery: none of the given identities",
		"passphrase: the passphrase does not open"} {
		if !errors.Is(err, ErrNothingOpens) || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing opens: %v, want %q", err, want)
		}
	}
	_, err = s.Open(Openers{})
	if !errors.Is(err, ErrNothingOpens) || !strings.Contains(err.Error(), "no passphrase is given") {
		t.Errorf("without anything: %v, want %v", err, ErrNothingOpens)
	}
	device.Unwrap[KindTPM] = func(string) ([]byte, error) { return []byte("not a key"), nil }
	if _, err := s.Open(Openers{Unwrap: device.Unwrap}); !errors.Is(err, ErrSeedFile) ||
		strings.Contains(err.Error(), "not a key") {
		t.Errorf("a device that gives another key: %v, want %v", err, ErrSeedFile)
	}
}

// A device or a program that answers with something else does not keep the other ways from opening the file.
func TestAWayThatGivesAnotherKeyIsPassedOver(t *testing.T) {
	t.Parallel()
	s, key, _ := several(t)
	for name, answer := range map[string]string{"no key": "not a key", "another key": identity(t).String()} {
		got, err := s.Open(Openers{Identities: []age.Identity{key}, Unwrap: map[Kind]func(string) ([]byte, error){
			KindTPM: func(string) ([]byte, error) { return []byte(answer), nil },
		}})
		if err != nil || got.By != "recovery" || got.Mnemonic.Reveal() != legal || len(got.Failed) != 1 ||
			got.Failed[0].Name != "machine" || strings.Contains(got.Failed[0].Why, answer) {
			t.Errorf("%s: opened by %q after %q, %v, want recovery after machine", name, got.By, got.Failed, err)
		}
	}
}

func TestWaysAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	s, _, device := several(t)
	opened, err := s.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"": ErrWayName, "A": ErrWayName, "-a": ErrWayName,
		strings.Repeat("a", 33): ErrWayName,
		"a b":                   ErrWayName, "recovery": ErrWayTaken} {
		if _, err := s.Add(opened, Way{Name: name, Kind: KindTPM}, nil); !errors.Is(err, want) {
			t.Errorf("a way named %q: %v, want %v", name, err, want)
		}
	}
	broken := errors.New("no device")
	if _, err := s.Add(opened, Way{Name: "x", Kind: KindTPM},
		func(string) (string, error) { return "", broken }); !errors.Is(err,
		broken) {
		t.Errorf("a device that fails: %v, want %v", err, broken)
	}
	if _, err := s.Remove("none"); !errors.Is(err, ErrNoWay) {
		t.Errorf("what is not there: %v, want %v", err, ErrNoWay)
	}
	less, err := s.Remove("passphrase")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := less.Open(Openers{Passphrase: mustPassphrase(t, "right")}); !errors.Is(err, ErrNothingOpens) {
		t.Errorf("the removed passphrase: %v, want %v", err, ErrNothingOpens)
	}
	if got, err := less.Open(device); err != nil || got.Mnemonic.Reveal() != legal {
		t.Errorf("what is left: %v, want the seed", err)
	}
	if _, err := less.Remove("recovery"); !errors.Is(err, ErrLastWay) {
		t.Errorf("all but the TPM: %v, want %v", err, ErrLastWay)
	}
	if _, err := parsed(t, mustSeal(t, legal, "right")).Remove("passphrase"); !errors.Is(err, ErrLastWay) {
		t.Errorf("the only way: %v, want %v", err, ErrLastWay)
	}
	for n := len(s.Ways()); n < maxWays; n++ {
		s, err = s.Add(opened, Way{Name: fmt.Sprintf("w%d", n), Kind: KindTPM},
			func(string) (string, error) { return "x", nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(opened, Way{Name: "many", Kind: KindTPM}, nil); !errors.Is(err, ErrWays) {
		t.Errorf("one more than %d: %v, want %v", maxWays, err, ErrWays)
	}
}
