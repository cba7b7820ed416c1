package sshsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

const namespace = "approval@bursar"

var message = []byte("bursar-test/1\nunits: 1500000\n")

// softKey is an ed25519 key.
func softKey(t *testing.T, seed byte) (ssh.Signer, Key) {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := NewKey(signer.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	return signer, key
}

// skKey signs as a security key does, with flags of the test's choice.
type skKey struct {
	key         ed25519.PrivateKey
	application string
	flags       byte
	rest        []byte // appended to the signature
}

func (k skKey) PublicKey() ssh.PublicKey {
	public, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Kind        string
		Public      []byte
		Application string
	}{ssh.KeyAlgoSKED25519, k.key.Public().(ed25519.PublicKey), k.application}))
	if err != nil {
		panic(err)
	}
	return public
}

func (k skKey) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	application, digest := sha256.Sum256([]byte(k.application)), sha256.Sum256(data)
	details := ssh.Marshal(skDetails{k.flags, 7})
	signed := append(append(append([]byte{}, application[:]...), details...), digest[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(k.key, signed),
		Rest: append(details, k.rest...)}, nil
}

func securityKey(flags byte) skKey {
	return skKey{key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32)), application: "ssh:", flags: flags}
}

// wrap makes a signature of the parts that a test wants, signed correctly.
func wrap(t *testing.T, signer ssh.Signer, change func(w *wrapped)) string {
	t.Helper()
	made, err := signer.Sign(nil, toSign(namespace, message))
	if err != nil {
		t.Fatal(err)
	}
	w := wrapped{version, signer.PublicKey().Marshal(), namespace, "", hash, ssh.Marshal(made)}
	change(&w)
	return armor(append([]byte(magic), ssh.Marshal(w)...))
}

func TestWhatIsSignedVerifies(t *testing.T) {
	t.Parallel()
	soft, _ := softKey(t, 1)
	for _, signer := range []ssh.Signer{soft, securityKey(flagPresent | flagVerified)} {
		text, err := Sign(signer, namespace, message)
		if err != nil {
			t.Fatal(err)
		}
		key, err := Verify(text, namespace, message)
		if want, _ := NewKey(signer.PublicKey()); err != nil || key != want {
			t.Errorf("got %v, %v, want %v", key, err, want)
		}
		if _, err := Verify(strings.ReplaceAll(text, "\n", "\r\n"), namespace, message); err != nil {
			t.Errorf("with the line ends of a mail: %v", err)
		}
		if _, err := Verify(text, namespace, append(message, '\n')); !errors.Is(err, ErrInvalid) {
			t.Errorf("over another message: got %v, want %v", err, ErrInvalid)
		}
		for _, other := range []string{"order@bursar", "approval@bursa", "", "file"} {
			if _, err := Verify(text, other, message); !errors.Is(err, ErrNamespace) {
				t.Errorf("for %q: got %v, want %v", other, err, ErrNamespace)
			}
		}
	}
	if _, err := Sign(soft, "", message); !errors.Is(err, ErrMalformed) {
		t.Errorf("without a namespace: got %v, want %v", err, ErrMalformed)
	}
}

// A name is part of what is signed: one that is written over the right one does not help.
func TestANamespaceCannotBeWrittenOver(t *testing.T) {
	t.Parallel()
	soft, _ := softKey(t, 1)
	text := wrap(t, soft, func(w *wrapped) { w.Namespace = "policy@bursar" })
	if _, err := Verify(text, "policy@bursar", message); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want %v", err, ErrInvalid)
	}
}

func TestASecurityKeyMustBeTouchedAndVerifyItsOwner(t *testing.T) {
	t.Parallel()
	for flags, want := range map[byte]error{
		0: ErrNoTouch, flagVerified: ErrNoTouch, flagPresent: ErrUnverified, 0x81: ErrUnverified,
		flagPresent | flagVerified: nil, 0xc5: nil,
	} {
		if _, err := Sign(securityKey(flags), namespace, message); !errors.Is(err, want) {
			t.Errorf("flags %#x: got %v, want %v", flags, err, want)
		}
	}
	// Flags that are written over those that were signed do not verify.
	made, _ := securityKey(flagPresent).Sign(nil, toSign(namespace, message))
	made.Rest[0] |= flagVerified
	text := wrap(t, securityKey(flagPresent), func(w *wrapped) { w.Signature = ssh.Marshal(made) })
	if _, err := Verify(text, namespace, message); !errors.Is(err, ErrInvalid) {
		t.Errorf("with raised flags: got %v, want %v", err, ErrInvalid)
	}
	site := securityKey(flagPresent | flagVerified)
	site.application = "bank.example"
	if _, err := Sign(site, namespace, message); !errors.Is(err, ErrKey) {
		t.Errorf("a key of a web site: got %v, want %v", err, ErrKey)
	}
}

func TestOtherFormsAreRefused(t *testing.T) {
	t.Parallel()
	soft, _ := softKey(t, 1)
	trailing := securityKey(flagPresent | flagVerified)
	trailing.rest = []byte{0}
	whole := wrap(t, soft, func(*wrapped) {})
	raw, err := dearmor(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another hash":              wrap(t, soft, func(w *wrapped) { w.Hash = "sha256" }),
		"a reserved field":          wrap(t, soft, func(w *wrapped) { w.Reserved = "x" }),
		"a version before":          wrap(t, soft, func(w *wrapped) { w.Version = 0 }),
		"a later version":           wrap(t, soft, func(w *wrapped) { w.Version = 2 }),
		"bytes behind the blob":     armor(append(raw[:len(raw):len(raw)], 0)),
		"bytes behind the sig":      wrap(t, soft, func(w *wrapped) { w.Signature = append(w.Signature, 0) }),
		"bytes behind the sk sig":   wrap(t, trailing, func(*wrapped) {}),
		"bytes behind the key":      wrap(t, soft, func(w *wrapped) { w.PublicKey = append(w.PublicKey, 0) }),
		"no magic":                  armor(raw[1:]),
		"nothing":                   armor(nil),
		"text before":               "\n" + whole,
		"text behind":               whole + "\n",
		"two":                       whole + whole,
		"a footer alone":            footer + "\n",
		"a stray carriage return":   strings.Replace(whole, "\n", "\r", 2),
		"other base64":              strings.Replace(whole, "\n"+footer, "=\n"+footer, 1),
		"too long":                  header + "\n" + strings.Repeat("A", MaxLength) + "\n" + footer + "\n",
		"empty":                     "",
		"a key of another kind":     wrap(t, soft, func(w *wrapped) { w.PublicKey = securityKey(5).PublicKey().Marshal() }),
		"a signature of other kind": wrap(t, securityKey(5), func(w *wrapped) { w.PublicKey = soft.PublicKey().Marshal() }),
	} {
		if _, err := Verify(text, namespace, message); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v, want %v", name, err, ErrMalformed)
		}
	}
	_, other := softKey(t, 2)
	if _, err := Verify(wrap(t, soft, func(w *wrapped) { w.PublicKey = other.blob() }), namespace,
		message); !errors.Is(err, ErrInvalid) {
		t.Errorf("with another's key: got %v, want %v", err, ErrInvalid)
	}
}

// The vectors of OpenSSH are read as OpenSSH reads them, as far as their keys are accepted here.
func TestVectorsOfOpenSSH(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("testdata", "openssh", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	signed := []byte(read("signed-data"))
	for name, want := range map[string]error{"ed25519": nil, "ed25519_sk": ErrUnverified, "ecdsa": ErrKey, "rsa": ErrKey} {
		key, err := Verify(read(name+".sig"), read("namespace"), signed)
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
		if public := strings.Join(strings.Fields(read("ed25519.pub"))[:2], " "); want == nil && key.String() != public {
			t.Errorf("%s: got key %q, want %q", name, key, public)
		}
	}
	// The signature of the security key is right but for what it says of its owner.
	w, err := parse(read("ed25519_sk.sig"))
	if err != nil {
		t.Fatal(err)
	}
	var s ssh.Signature
	key, keyErr := keyOf(w.PublicKey)
	if err := errors.Join(keyErr, ssh.Unmarshal(w.Signature, &s)); err != nil {
		t.Fatal(err)
	}
	if err := key.public().Verify(toSign(read("namespace"), signed), &s); err != nil {
		t.Errorf("the bare signature of the security key: %v", err)
	}
}

func TestAKeyHasOneSpelling(t *testing.T) {
	t.Parallel()
	_, key := softKey(t, 1)
	if got, err := ParseKey(key.String()); err != nil || got != key {
		t.Errorf("got %v, %v, want %v", got, err, key)
	}
	for _, text := range []string{"", key.String() + " ann@desk", " " + key.String(), key.String() + "\n",
		strings.Replace(key.String(), " ", "  ", 1), "ssh-rsa" + strings.TrimPrefix(key.String(), "ssh-ed25519"),
		key.Kind(), key.Kind() + " " + base64.StdEncoding.EncodeToString(append(key.blob(), 0))} {
		if got, err := ParseKey(text); err == nil {
			t.Errorf("%q is %v, want a refusal", text, got)
		}
	}
}

func TestSignaturesAreSplitFromTheirText(t *testing.T) {
	t.Parallel()
	soft, _ := softKey(t, 1)
	one, err := Sign(soft, namespace, message)
	if err != nil {
		t.Fatal(err)
	}
	before, list, err := Split(string(message) + one + one)
	if err != nil || before != string(message) || len(list) != 2 || list[0] != one || list[1] != one {
		t.Errorf("got %q, %d signatures, %v, want %v and 2 of them and %v", before, len(list), err, string(message), one)
	}
	if before, list, err = Split("text alone"); err != nil || before != "text alone" || len(list) != 0 {
		t.Errorf("without signatures: got %q, %d, %v", before, len(list), err)
	}
	for _, text := range []string{string(message) + one + "more", one + "\n" + one, string(message) + one[:len(one)-2]} {
		if _, _, err := Split(text); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v, want %v", text, err, ErrMalformed)
		}
	}
}

// Whatever is accepted has one spelling.
func FuzzParse(f *testing.F) {
	soft, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		f.Fatal(err)
	}
	text, err := Sign(soft, namespace, message)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parse(text)
		if err != nil {
			return
		}
		raw, err := dearmor(text)
		if err != nil || !bytes.Equal(raw, append([]byte(magic), ssh.Marshal(w)...)) {
			t.Errorf("%q reads as %+v and is written differently (%v)", text, w, err)
		}
	})
}
