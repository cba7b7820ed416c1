package signer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"filippo.io/age"
)

// Kind is what a way to open a seed file needs.
type Kind string

// The kinds of ways.
const (
	KindPassphrase Kind = "passphrase" // a passphrase
	KindAge        Kind = "age"        // an identity of age: a key, or one that a plugin keeps
	KindTPM        Kind = "tpm"        // the TPM of one machine, in one state
	KindToken      Kind = "token"      // a key of RSA that a PKCS#11 token keeps
)

// Way is one way to open a seed file.
type Way struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// To says to whom it is sealed: the recipient of age, the PCRs, or the digest of the token's key. It decides
	// nothing.
	To string `json:"to,omitempty"`
	// Sealed is the key of the seed file: as an armored age file, or for KindTPM and KindToken as base64.
	Sealed string `json:"sealed"`
}

const (
	containerVersion = 2
	maxWays          = 16
)

// Errors of the ways to open a seed file.
var (
	ErrWayName = errors.New("a way is named by 1 to 32 of a-z, 0-9 and -, beginning with a letter")
	ErrWays    = fmt.Errorf("a seed file has at most %d ways to open it", maxWays)
	ErrNoWay   = errors.New("the seed file has no such way")
	ErrLastWay = errors.New("the seed file must keep a passphrase or a recipient of age: a TPM or a token can be lost " +
		"with its machine")
	ErrWayTaken = errors.New("the seed file has a way of that name: choose another, or remove it first")
)

var wayName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// Sealed is a seed file that was read and not opened. It is either an age file that holds the seed, as Seal writes it,
// or a container: the seed, sealed to a key that is made for this file, and that key, sealed once for each way. All
// parts are armored age files, which any age program opens.
type Sealed struct {
	whole []byte // the file; nil: a container
	ways  []Way
	seed  string
}

// container is the file with several ways.
type container struct {
	Version int    `json:"version"`
	Ways    []Way  `json:"ways"`
	Seed    string `json:"seed"`
}

// ParseSealed reads a seed file. The error is ErrSeedFile or ErrSeedFileVersion.
func ParseSealed(file []byte) (Sealed, error) {
	if len(file) > maxSeedFile {
		return Sealed{}, fmt.Errorf("read the seed file: %w", ErrSeedFile)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		return Sealed{whole: bytes.Clone(file)}, nil
	}
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(file, &version) == nil && version.Version > containerVersion {
		return Sealed{}, fmt.Errorf("read the seed file: %w (%d)", ErrSeedFileVersion, version.Version)
	}
	var c container
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	// A decoding error is not returned: it could quote the content.
	if decoder.Decode(&c) != nil || decoder.Decode(new(any)) != io.EOF || !c.sound() {
		return Sealed{}, fmt.Errorf("read the seed file: %w", ErrSeedFile)
	}
	return Sealed{ways: c.Ways, seed: c.Seed}, nil
}

func (c container) sound() bool {
	if c.Version != containerVersion || len(c.Ways) == 0 || len(c.Ways) > maxWays || c.Seed == "" {
		return false
	}
	names := map[string]bool{}
	for _, w := range c.Ways {
		known := slices.Contains([]Kind{KindPassphrase, KindAge, KindTPM, KindToken}, w.Kind)
		if !wayName.MatchString(w.Name) || names[w.Name] || !known || w.Sealed == "" {
			return false
		}
		names[w.Name] = true
	}
	return true
}

// Bytes returns the file.
func (s Sealed) Bytes() ([]byte, error) {
	if s.whole != nil {
		return bytes.Clone(s.whole), nil
	}
	text, err := json.MarshalIndent(container{Version: containerVersion, Ways: s.ways, Seed: s.seed}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the seed file: %w", err)
	}
	return append(text, '\n'), nil
}

// Ways returns the ways to open the file. That of an age file is named after its kind.
func (s Sealed) Ways() []Way {
	if s.whole == nil {
		return slices.Clone(s.ways)
	}
	kind := KindAge
	if _, err := WorkFactor(s.whole); err == nil {
		kind = KindPassphrase
	}
	return []Way{{Name: string(kind), Kind: kind, Sealed: string(s.whole)}}
}

// Container reports whether the file may have several ways.
func (s Sealed) Container() bool { return s.whole == nil }

// OnlyPassphrase reports whether nothing but a passphrase opens the file.
func (s Sealed) OnlyPassphrase() bool {
	return !slices.ContainsFunc(s.Ways(), func(w Way) bool { return w.Kind != KindPassphrase })
}

// LowestWorkFactor returns the work factor of the passphrase that is cheapest to try; false if there is none.
func (s Sealed) LowestWorkFactor() (lowest int, has bool) {
	for _, w := range s.Ways() {
		if w.Kind != KindPassphrase {
			continue
		}
		factor, err := WorkFactor([]byte(w.Sealed))
		if err == nil && (!has || factor < lowest) {
			lowest, has = factor, true
		}
	}
	return lowest, has
}

// Add returns the file with one more way, which seal makes of the file's key; an age file becomes a container in which
// its own way remains. The error is ErrWayName, ErrWayTaken, ErrWays or one of seal.
func (s Sealed) Add(opened Opened, way Way, seal func(key string) (string, error)) (Sealed, error) {
	switch {
	case !wayName.MatchString(way.Name):
		return Sealed{}, fmt.Errorf("add the way %.40q: %w", way.Name, ErrWayName)
	case slices.ContainsFunc(s.Ways(), func(w Way) bool { return w.Name == way.Name }):
		return Sealed{}, fmt.Errorf("add the way %s: %w", way.Name, ErrWayTaken)
	case len(s.Ways()) >= maxWays:
		return Sealed{}, fmt.Errorf("add the way %s: %w", way.Name, ErrWays)
	}
	if s.whole != nil {
		var err error
		if s, err = s.contain(&opened); err != nil {
			return Sealed{}, err
		}
	}
	sealed, err := seal(opened.key.reveal())
	if err != nil {
		return Sealed{}, fmt.Errorf("add the way %s: %w", way.Name, err)
	}
	way.Sealed = sealed
	return Sealed{ways: append(s.Ways(), way), seed: s.seed}, nil
}

// contain makes a container of an age file that was opened, with a key of its own.
func (s Sealed) contain(opened *Opened) (Sealed, error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return Sealed{}, fmt.Errorf("make the key of the seed file: %w", err)
	}
	text := key.String()
	opened.key = fileKey{text: conceal(&text)}
	content, err := json.Marshal(seedFile{Version: seedFileVersion, Mnemonic: opened.Mnemonic.Reveal()})
	if err != nil {
		return Sealed{}, fmt.Errorf("seal the seed: %w", err)
	}
	defer clear(content)
	seed, err := encrypt(content, key.Recipient())
	if err != nil {
		return Sealed{}, fmt.Errorf("seal the seed: %w", err)
	}
	own, err := encrypt([]byte(text), opened.again)
	if err != nil {
		return Sealed{}, fmt.Errorf("seal the key of the seed file: %w", err)
	}
	way := s.Ways()[0]
	way.Sealed = string(own)
	if r, is := opened.again.(fmt.Stringer); is {
		way.To = r.String()
	}
	return Sealed{ways: []Way{way}, seed: string(seed)}, nil
}

// Remove returns the file without a way. Copies of the file that were made before keep it. The error is ErrNoWay or
// ErrLastWay.
func (s Sealed) Remove(name string) (Sealed, error) {
	ways := slices.DeleteFunc(s.Ways(), func(w Way) bool { return w.Name == name })
	if len(ways) == len(s.Ways()) {
		return Sealed{}, fmt.Errorf("remove the way %.40q: %w", name, ErrNoWay)
	}
	if !slices.ContainsFunc(ways, func(w Way) bool { return w.Kind == KindPassphrase || w.Kind == KindAge }) {
		return Sealed{}, fmt.Errorf("remove the way %s: %w", name, ErrLastWay)
	}
	return Sealed{ways: ways, seed: s.seed}, nil
}

// ToPassphrase seals the key of a seed file with a passphrase.
func ToPassphrase(passphrase Passphrase, workFactor int) func(key string) (string, error) {
	return func(key string) (string, error) {
		recipient, err := age.NewScryptRecipient(passphrase.reveal())
		if err != nil {
			return "", ErrEmptyPassphrase
		}
		recipient.SetWorkFactor(workFactor)
		return ToRecipient(recipient)(key)
	}
}

// ToRecipient seals the key of a seed file to a recipient of age.
func ToRecipient(recipient age.Recipient) func(key string) (string, error) {
	return func(key string) (string, error) {
		file, err := encrypt([]byte(key), recipient)
		return string(file), err
	}
}
