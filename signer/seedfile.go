package signer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Work factors of the seed file: scrypt takes 2^n rounds and 2^n KiB of memory.
const (
	DefaultWorkFactor = 17 // 0.7 s on a small server, 128 MiB
	maxWorkFactor     = 20 // takes some seconds and 1 GiB: more is a damaged file or an attack
)

const (
	seedFileVersion = 1
	maxSeedFile     = 64 << 10 // bytes; a real one has about 700
)

// Errors of opening a seed file.
var (
	ErrWrongPassphrase = errors.New("the passphrase does not open the seed file: " +
		"check BURSAR_PASSPHRASE or BURSAR_PASSPHRASE_FILE, and that the file is the one sealed with it")
	ErrSeedFile = errors.New("the seed file is damaged or is not a seed file: restore it from its backup, or from " +
		"the words")
	ErrSeedFileVersion = errors.New("the seed file was written by a newer version")
)

type seedFile struct {
	Version  int    `json:"version"`
	Mnemonic string `json:"mnemonic"`
}

// Seal encrypts a mnemonic with a passphrase into an armored age file with the default work factor. Any age program
// opens it with the same passphrase.
func Seal(mnemonic Mnemonic, passphrase Passphrase) ([]byte, error) {
	return SealWith(mnemonic, passphrase, DefaultWorkFactor)
}

// SealWith is Seal with a work factor of 1 to 20.
func SealWith(mnemonic Mnemonic, passphrase Passphrase, workFactor int) ([]byte, error) {
	if workFactor < 1 || workFactor > maxWorkFactor {
		return nil, fmt.Errorf("seal the seed: the work factor is %d: 1 to %d are allowed", workFactor, maxWorkFactor)
	}
	if mnemonic.Reveal() == "" {
		return nil, fmt.Errorf("seal the seed: %w", ErrWordCount)
	}
	recipient, err := age.NewScryptRecipient(passphrase.reveal())
	if err != nil {
		return nil, fmt.Errorf("seal the seed: %w", ErrEmptyPassphrase)
	}
	recipient.SetWorkFactor(workFactor)
	content, err := json.Marshal(seedFile{Version: seedFileVersion, Mnemonic: mnemonic.Reveal()})
	if err != nil {
		return nil, fmt.Errorf("seal the seed: %w", err)
	}
	defer clear(content)
	sealed, err := encrypt(content, recipient)
	if err != nil {
		return nil, fmt.Errorf("seal the seed: %w", err)
	}
	return sealed, nil
}

func encrypt(content []byte, recipient age.Recipient) ([]byte, error) {
	var file bytes.Buffer
	armored := armor.NewWriter(&file)
	w, err := age.Encrypt(armored, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), armored.Close()); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// Open decrypts what Seal wrote. The error is ErrWrongPassphrase, ErrEmptyPassphrase, ErrSeedFileVersion or, for
// anything else, ErrSeedFile.
func Open(sealed []byte, passphrase Passphrase) (Mnemonic, error) {
	return openWith(sealed, passphrase, maxWorkFactor)
}

func openWith(sealed []byte, passphrase Passphrase, maxFactor int) (Mnemonic, error) {
	identity, err := age.NewScryptIdentity(passphrase.reveal())
	if err != nil {
		return Mnemonic{}, fmt.Errorf("open the seed file: %w", ErrEmptyPassphrase)
	}
	identity.SetMaxWorkFactor(maxFactor)
	content, err := decrypt(sealed, identity)
	if err != nil {
		return Mnemonic{}, fmt.Errorf("open the seed file: %w", err)
	}
	defer clear(content)
	mnemonic, err := readSeedFile(content)
	if err != nil {
		return Mnemonic{}, fmt.Errorf("open the seed file: %w", err)
	}
	return mnemonic, nil
}

// decrypt returns no error of the age library: it quotes lines of what it reads, and somebody may have put the words
// there in the clear.
func decrypt(sealed []byte, identity age.Identity) ([]byte, error) {
	if len(sealed) > maxSeedFile {
		return nil, ErrSeedFile
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(sealed)), identity)
	if isWrongPassphrase(err) {
		return nil, ErrWrongPassphrase
	}
	if err != nil {
		return nil, ErrSeedFile
	}
	content, err := io.ReadAll(r) // no longer than the file
	if err != nil {
		return nil, ErrSeedFile
	}
	return content, nil
}

// isWrongPassphrase distinguishes a wrong passphrase from a file that no passphrase opens; age reports both with one
// error. Damage in the few characters of the wrapped key cannot be distinguished from a wrong passphrase.
func isWrongPassphrase(err error) bool {
	var none *age.NoIdentityMatchError
	return errors.As(err, &none) && len(none.StanzaTypes) == 1 && none.StanzaTypes[0] == "scrypt"
}

// readSeedFile parses the decrypted JSON. A decoding error is not returned, because it could quote the content.
func readSeedFile(content []byte) (Mnemonic, error) {
	var file seedFile
	if json.Unmarshal(content, &file) != nil || file.Version < 1 {
		return Mnemonic{}, ErrSeedFile
	}
	if file.Version > seedFileVersion {
		return Mnemonic{}, fmt.Errorf("%w (%d)", ErrSeedFileVersion, file.Version)
	}
	mnemonic, err := ParseMnemonic(file.Mnemonic)
	if err != nil {
		return Mnemonic{}, fmt.Errorf("%w (%w)", ErrSeedFile, err)
	}
	return mnemonic, nil
}
