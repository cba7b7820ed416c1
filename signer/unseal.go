package signer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

// Openers is what a process has to open a seed file with. The zero Openers has nothing.
type Openers struct {
	Passphrase Passphrase
	Identities []age.Identity
	// Unwrap opens what is sealed for a TPM or a token; a kind that is missing is not tried.
	Unwrap map[Kind]func(sealed string) ([]byte, error)
}

// Opened is a seed file that was opened.
type Opened struct {
	Mnemonic Mnemonic
	By       string   // name of the way
	Failed   []Failed // what was tried before

	key   fileKey       // of a container
	again age.Recipient // of an age file: seals to what opened it
}

// Failed is a way that did not open a seed file, and why.
type Failed struct {
	Name string
	Kind Kind
	Why  string
}

// String returns the name and the reason.
func (f Failed) String() string { return f.Name + ": " + f.Why }

// fileKey is the key of a container, an identity of age. It never prints itself.
type fileKey struct {
	redacted
	text vault[string]
}

func (k fileKey) reveal() string {
	if text := k.text.open(); text != nil {
		return *text
	}
	return ""
}

// ErrNothingOpens means that nothing that the process has opens the seed file.
var (
	ErrNothingOpens = errors.New("nothing that is given here opens the seed file")
	errOtherKey     = errors.New("what it gives is not the key of the seed file, or the seed in it is damaged")
)

// Open opens the file with the first way that can be gone. The cheap ones are tried first, the passphrase last. The
// error is ErrSeedFile, ErrSeedFileVersion, ErrNothingOpens with what each way says, or for a file with a passphrase
// alone one of Open.
func (s Sealed) Open(with Openers) (Opened, error) {
	if s.whole != nil {
		return s.openWhole(with)
	}
	opened := Opened{}
	var wrong error // of a way that gives another key
	for _, kind := range []Kind{KindTPM, KindAge, KindToken, KindPassphrase} {
		for _, way := range s.ways {
			if way.Kind != kind {
				continue
			}
			key, err := way.open(with)
			if err != nil {
				opened.Failed = append(opened.Failed, Failed{way.Name, way.Kind, err.Error()})
				continue
			}
			if opened.Mnemonic, err = s.seedBy(key); err != nil {
				opened.Failed, wrong = append(opened.Failed, Failed{way.Name, way.Kind, errOtherKey.Error()}), err
				continue
			}
			opened.By = way.Name
			opened.key = fileKey{text: conceal(&key)}
			return opened, nil
		}
	}
	if wrong != nil {
		return Opened{}, fmt.Errorf("open the seed file: %w", wrong)
	}
	var why []string
	for _, f := range opened.Failed {
		why = append(why, f.String())
	}
	return Opened{}, fmt.Errorf("open the seed file: %w: %s", ErrNothingOpens, strings.Join(why, "; "))
}

// OpenBy opens a container by one way alone. The error says why it does not open.
func (s Sealed) OpenBy(name string, with Openers) (Opened, error) {
	alone := Sealed{ways: slices.DeleteFunc(s.Ways(), func(w Way) bool { return w.Name != name }), seed: s.seed}
	return alone.Open(with)
}

// open returns the key of the container.
func (w Way) open(with Openers) (string, error) {
	var key []byte
	var err error
	switch unwrap := with.Unwrap[w.Kind]; {
	case w.Kind == KindPassphrase && with.Passphrase.reveal() == "":
		err = errors.New("no passphrase is given")
	case w.Kind == KindPassphrase:
		key, err = with.openPassphrase([]byte(w.Sealed))
	case w.Kind == KindAge && len(with.Identities) == 0:
		err = errors.New("no identity is given")
	case w.Kind == KindAge:
		key, _, err = with.openIdentity([]byte(w.Sealed))
	case unwrap == nil:
		err = fmt.Errorf("no %s is configured", w.Kind)
	default:
		key, err = unwrap(w.Sealed)
	}
	defer clear(key)
	return string(key), err
}

// seedBy opens the seed with the key of the container.
func (s Sealed) seedBy(key string) (Mnemonic, error) {
	identity, err := age.ParseX25519Identity(key)
	if err != nil {
		return Mnemonic{}, ErrSeedFile // the error could quote the key
	}
	content, err := decrypt([]byte(s.seed), identity)
	if err != nil {
		return Mnemonic{}, ErrSeedFile
	}
	defer clear(content)
	return readSeedFile(content)
}

// openWhole opens an age file that holds the seed.
func (s Sealed) openWhole(with Openers) (Opened, error) {
	if s.OnlyPassphrase() || len(with.Identities) == 0 {
		mnemonic, err := Open(s.whole, with.Passphrase)
		if err != nil {
			return Opened{}, err
		}
		again, err := s.samePassphrase(with.Passphrase)
		return Opened{Mnemonic: mnemonic, By: string(KindPassphrase), again: again}, err
	}
	content, identity, err := with.openIdentity(s.whole)
	if err != nil {
		return Opened{}, fmt.Errorf("open the seed file: %w: %w", ErrNothingOpens, err)
	}
	defer clear(content)
	mnemonic, err := readSeedFile(content)
	if err != nil {
		return Opened{}, fmt.Errorf("open the seed file: %w", err)
	}
	return Opened{Mnemonic: mnemonic, By: string(KindAge), again: recipientOf(identity)}, nil
}

func (s Sealed) samePassphrase(passphrase Passphrase) (age.Recipient, error) {
	recipient, err := age.NewScryptRecipient(passphrase.reveal())
	if err != nil {
		return nil, ErrEmptyPassphrase
	}
	factor, err := WorkFactor(s.whole)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(factor)
	return recipient, nil
}

func recipientOf(identity age.Identity) age.Recipient {
	switch i := identity.(type) {
	case *age.X25519Identity:
		return i.Recipient()
	case *age.HybridIdentity:
		return i.Recipient()
	case *plugin.Identity:
		return i.Recipient()
	}
	return nil
}

func (with Openers) openPassphrase(sealed []byte) ([]byte, error) {
	identity, err := age.NewScryptIdentity(with.Passphrase.reveal())
	if err != nil {
		return nil, ErrEmptyPassphrase
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	return decrypt(sealed, identity)
}

// openIdentity opens an age file with the first identity that does.
func (with Openers) openIdentity(sealed []byte) ([]byte, age.Identity, error) {
	err := errors.New("none of the given identities is its own")
	for _, identity := range with.Identities {
		asked := &asked{identity: identity}
		content, wrong := decrypt(sealed, asked)
		switch {
		case wrong == nil:
			return content, identity, nil
		case asked.err != nil:
			err = asked.err
		case !asked.refused: // it is no age file, or is damaged behind the header
			return nil, nil, wrong
		}
	}
	return nil, nil, err
}

// asked remembers what an identity answered. The age library would mention what a plugin says in an error that can
// quote the file.
type asked struct {
	identity age.Identity
	refused  bool
	err      error // of a plugin
}

// Unwrap is age.Identity's.
func (a *asked) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := a.identity.Unwrap(stanzas)
	a.refused = errors.Is(err, age.ErrIncorrectIdentity)
	if p, is := a.identity.(*plugin.Identity); is && err != nil && !a.refused {
		a.err = fmt.Errorf("age-plugin-%s: %.300s", p.Name(), err.Error()) // bounded, and so not wrapped
		return nil, age.ErrIncorrectIdentity
	}
	return key, err
}
