package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/control"
	"github.com/bursar/bursar/signer"
)

// passphrase opens the sandbox's seed file. It is not a secret: the seed holds nothing of value.
const passphrase = "sandbox"

// sealWork keeps opening the seed file to milliseconds, because the file protects nothing.
const sealWork = 8

// dataDir is the directory that holds everything. It is locked: a second sandbox is refused until the first one ends.
type dataDir struct {
	dir       string
	temporary bool
	lock      io.Closer
}

// openDataDir creates the named directory, or a temporary one if the name is empty.
func openDataDir(s settings) (dataDir, error) {
	if s.data == "" {
		dir, err := os.MkdirTemp("", "bursar-sandbox-")
		if err != nil {
			return dataDir{}, fmt.Errorf("create a temporary directory: %w", err)
		}
		return dataDir{dir: dir, temporary: true}, nil
	}
	dir, err := filepath.Abs(s.data)
	if err != nil {
		return dataDir{}, fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dataDir{}, fmt.Errorf("create the data directory: %w", err)
	}
	lock, err := storage.OpenFile(filepath.Join(dir, "lock"), false) // a portable lock that dies with the process
	if err != nil {
		return dataDir{}, fmt.Errorf("lock %s, which another sandbox may be using: %w", dir, err)
	}
	return dataDir{dir: dir, lock: lock}, nil
}

// close unlocks the directory, and removes it if it is temporary.
func (p dataDir) close() error {
	if p.temporary {
		return os.RemoveAll(p.dir)
	}
	return p.lock.Close()
}

func (p dataDir) file(name string) string { return filepath.Join(p.dir, name) }

// chainDir is the directory of one chain.
func (p dataDir) chainDir(id bursar.ChainID) (string, error) {
	dir := filepath.Join(p.dir, "chains", string(id))
	return dir, os.MkdirAll(dir, 0o700)
}

// seed creates the seed file, and the file with its passphrase for a `bursar` that runs on the same directory, if
// they do not exist yet.
func (p dataDir) seed() error {
	if err := p.write("passphrase", []byte(passphrase+"\n")); err != nil {
		return err
	}
	if _, err := os.Stat(p.file("seed.age")); err == nil {
		return nil
	}
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	if err != nil {
		return fmt.Errorf("create a seed: %w", err)
	}
	defer mnemonic.Wipe()
	phrase, err := signer.NewPassphrase(passphrase)
	if err != nil {
		return err
	}
	sealed, err := signer.SealWith(mnemonic, phrase, sealWork)
	if err != nil {
		return fmt.Errorf("seal the seed: %w", err)
	}
	if err := signer.WriteSeedFile(p.file("seed.age"), sealed); err != nil {
		return fmt.Errorf("store the seed: %w", err)
	}
	return nil
}

// getenv is the environment of the service.
func getenv(name string) string {
	if name == signer.PassphraseVariable {
		return passphrase
	}
	return ""
}

// account returns the account of an earlier start, or nil.
func (p dataDir) account() (*control.Account, error) {
	text, err := os.ReadFile(p.file("account.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the account: %w", err)
	}
	var account control.Account
	if err := json.Unmarshal(text, &account); err != nil {
		return nil, fmt.Errorf("read the account in %s: %w", p.file("account.json"), err)
	}
	return &account, nil
}

func (p dataDir) keepAccount(account control.Account) error {
	text, err := json.MarshalIndent(account, "", "  ")
	if err != nil {
		return err
	}
	return p.write("account.json", append(text, '\n'))
}

// receiver returns the address that the webhook receiver listened on at an earlier start, or "".
func (p dataDir) receiver() (string, error) {
	text, err := os.ReadFile(p.file("receiver"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the receiver's address: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// write writes a file that only its owner can read. The file is replaced as a whole or not at all.
func (p dataDir) write(name string, text []byte) error {
	file, err := os.OpenFile(p.file(name+".new"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), p.file(name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
