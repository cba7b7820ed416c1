package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/token"
	"github.com/bursar/bursar/signer/tpm"
)

// IdentityFileVariable names a file with identities of age, one a line: keys (AGE-SECRET-KEY-1…) and those that a
// plugin keeps (AGE-PLUGIN-…).
const IdentityFileVariable = "BURSAR_IDENTITY_FILE"

const maxIdentities = 64 << 10 // bytes of such a file

// Errors of identities and recipients. None quotes what it is about: it could be a key.
var (
	ErrIdentities = errors.New("the file of identities cannot be used: it needs lines AGE-SECRET-KEY-1… or AGE-PLUGIN-…")
	ErrRecipient  = errors.New("that is no recipient of age: age1…, as age-keygen or a plugin prints it")
	ErrDebugged   = errors.New("AGEDEBUG would show what plugins say, which can be the key: unset it")
)

// File is a seed file that was opened.
type File struct {
	Content []byte // as it is on the disk
	Sealed  signer.Sealed
	Opened  signer.Opened
	Openers signer.Openers
}

// OpenFile opens the seed file with what there is: the passphrase; the identities of BURSAR_IDENTITY_FILE, or of
// systemd's credential bursar-identity; the TPM of signer.tpm; the program of signer.token_command. notify is given
// what a plugin wants people to know, such as that a key waits for a touch; nil: nothing is shown.
func OpenFile(cfg config.Config, getenv func(string) string, notify func(text string)) (File, error) {
	passphrase, missing := Passphrase(cfg, getenv)
	if missing != nil && !errors.Is(missing, signer.ErrNoPassphrase) {
		return File{}, missing
	}
	sealed, err := sealedSeed(cfg, passphrase)
	if errors.Is(err, fs.ErrNotExist) && missing == nil {
		err = fmt.Errorf("there is no seed file %s: create one with `bursar seed new`, or restore yours with "+
			"`bursar seed restore`", cfg.SeedFile)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && missing != nil && sealed.OnlyPassphrase() {
		err = missing
	}
	if err != nil {
		return File{}, err
	}
	identities, err := identitiesOf(cfg, getenv, notify)
	if err == nil && missing != nil && len(identities) == 0 && !sealed.Container() {
		err = missing
	}
	if err != nil {
		return File{}, err
	}
	file := File{Sealed: sealed, Openers: openers(cfg, passphrase, identities)}
	if file.Content, err = sealed.Bytes(); err != nil {
		return File{}, err
	}
	file.Opened, err = sealed.Open(file.Openers)
	return file, err
}

// openers adds the devices of the configuration. A TPM that is not there says so when it is asked.
func openers(cfg config.Config, passphrase signer.Passphrase, identities []age.Identity) signer.Openers {
	device := TPM(cfg)
	return signer.Openers{
		Passphrase: passphrase,
		Identities: identities,
		Unwrap: map[signer.Kind]func(string) ([]byte, error){
			signer.KindTPM: func(sealed string) ([]byte, error) { return tpm.Unseal(device, sealed) },
			signer.KindToken: func(sealed string) ([]byte, error) {
				return token.Open(context.Background(), cfg.Signer.TokenCommand, nil, sealed)
			},
		},
	}
}

// TPM returns the device of a configuration's TPM.
func TPM(cfg config.Config) string {
	if cfg.Signer.TPM != "" {
		return cfg.Signer.TPM
	}
	return tpm.Device
}

// identitiesOf reads the identities of the environment; none if there is no such file.
func identitiesOf(cfg config.Config, getenv func(string) string, notify func(string)) ([]age.Identity, error) {
	path := getenv(IdentityFileVariable)
	if path == "" {
		if path = filepath.Join(getenv(credentials), identityOf); getenv(credentials) == "" || !exists(path) {
			return nil, nil
		}
	} else if err := private(cfg.Network, path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the identities: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIdentities+1))
	defer clear(text)
	if err != nil {
		return nil, fmt.Errorf("read the identities: %w", err)
	}
	if len(text) > maxIdentities {
		return nil, fmt.Errorf("read %s: %w", path, ErrIdentities)
	}
	list, err := parseIdentities(text, getenv, notify)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return list, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func parseIdentities(text []byte, getenv func(string) string, notify func(string)) (list []age.Identity, err error) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if bytes.HasPrefix(line, []byte("AGE-PLUGIN-")) {
			if getenv("AGEDEBUG") != "" {
				return nil, ErrDebugged
			}
			identity, err := plugin.NewIdentity(string(line), screen(notify))
			if err != nil {
				return nil, ErrIdentities
			}
			list = append(list, identity)
			continue
		}
		some, err := age.ParseIdentities(bytes.NewReader(line))
		if err != nil {
			return nil, ErrIdentities
		}
		list = append(list, some...)
	}
	if len(list) == 0 {
		return nil, ErrIdentities
	}
	return list, nil
}

// screen shows what plugins say. What they ask for is refused: nobody sits before a service.
func screen(notify func(string)) *plugin.ClientUI {
	if notify == nil {
		notify = func(string) {}
	}
	return &plugin.ClientUI{
		DisplayMessage: func(name, message string) error {
			notify(fmt.Sprintf("age-plugin-%s: %.300s", name, message))
			return nil
		},
		WaitTimer: func(name string) { notify("waiting for age-plugin-" + name) },
	}
}

// Recipient reads a recipient of age. One of a plugin runs it when something is sealed. The error is ErrRecipient or
// ErrDebugged.
func Recipient(text string, getenv func(string) string, notify func(string)) (age.Recipient, error) {
	if list, err := age.ParseRecipients(strings.NewReader(text)); err == nil && len(list) == 1 {
		return list[0], nil
	}
	recipient, err := plugin.NewRecipient(text, screen(notify))
	if err != nil {
		return nil, ErrRecipient
	}
	if getenv("AGEDEBUG") != "" {
		return nil, ErrDebugged
	}
	return recipient, nil
}

// PassphraseIn reads another passphrase from a file, which others may not read. A weak one is refused on mainnet.
func PassphraseIn(cfg config.Config, path string) (passphrase signer.Passphrase, weak bool, err error) {
	return NewPassphrase(cfg, func(name string) string {
		return map[string]string{signer.PassphraseFileVariable: path}[name]
	})
}
