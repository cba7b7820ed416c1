package host

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// The environment of LoadCredential= of systemd, and the names of what is looked for there.
const (
	credentials = "CREDENTIALS_DIRECTORY"
	credential  = "bursar-passphrase"
	identityOf  = "bursar-identity"
)

// Errors of secrets that are not safe where they are. Each says what to do.
var (
	ErrReadable    = errors.New("others than its owner may read it")
	ErrEnvironment = errors.New("on mainnet the passphrase may not be in BURSAR_PASSPHRASE, which stays readable in " +
		"/proc and is inherited: put it into a file with mode 0600 and name that in BURSAR_PASSPHRASE_FILE, or use " +
		"LoadCredential=bursar-passphrase:FILE in the systemd unit")
	ErrSandboxSeed = errors.New("the seed file is that of a sandbox or as easy to open, which is refused on mainnet")
)

// Passphrase returns the passphrase of a configuration: from the variables, or from systemd's credential
// bursar-passphrase. The error is one of signer.PassphraseFrom, ErrEnvironment or ErrReadable.
func Passphrase(cfg config.Config, getenv func(string) string) (signer.Passphrase, error) {
	file := getenv(signer.PassphraseFileVariable)
	if getenv(signer.PassphraseVariable) != "" {
		if cfg.Network == config.Mainnet {
			return signer.Passphrase{}, ErrEnvironment
		}
		return signer.PassphraseFrom(getenv)
	}
	if folder := getenv(credentials); file == "" && folder != "" {
		path := filepath.Join(folder, credential) // systemd keeps others away from the folder
		if _, err := os.Stat(path); err == nil {
			return signer.PassphraseFrom(func(name string) string {
				return map[string]string{signer.PassphraseFileVariable: path}[name]
			})
		}
	}
	if err := private(cfg.Network, file); err != nil {
		return signer.Passphrase{}, err
	}
	return signer.PassphraseFrom(getenv)
}

// NewPassphrase is Passphrase for a seed that is about to be made. A weak one is refused on mainnet with
// signer.ErrWeakPassphrase; elsewhere weak says so.
func NewPassphrase(
	cfg config.Config, getenv func(string) string,
) (passphrase signer.Passphrase, weak bool, err error) {
	if passphrase, err = Passphrase(cfg, getenv); err != nil {
		return passphrase, false, err
	}
	err = passphrase.Strong()
	if cfg.Network == config.Mainnet {
		return passphrase, false, err
	}
	return passphrase, err != nil, nil
}

// sealedSeed reads the seed file and refuses one that is too easy to open for the network.
func sealedSeed(cfg config.Config, passphrase signer.Passphrase) (signer.Sealed, error) {
	if err := private(cfg.Network, cfg.SeedFile); err != nil {
		return signer.Sealed{}, err
	}
	content, err := signer.ReadSealed(cfg.SeedFile)
	if err != nil {
		return signer.Sealed{}, err
	}
	sealed, err := signer.ParseSealed(content)
	if err != nil || cfg.Network != config.Mainnet {
		return sealed, err
	}
	const remedy = "move it away and run `bursar seed restore` with its words and a strong passphrase, or `bursar seed " +
		"new`"
	if passphrase.IsSandboxs() {
		return signer.Sealed{}, fmt.Errorf("%w: its passphrase is the sandbox's; %s", ErrSandboxSeed, remedy)
	}
	if factor, has := sealed.LowestWorkFactor(); has && factor < signer.DefaultWorkFactor {
		return signer.Sealed{}, fmt.Errorf("%w: its work factor is %d, below %d; %s", ErrSandboxSeed, factor,
			signer.DefaultWorkFactor, remedy)
	}
	return sealed, nil
}

// private refuses a file that others than its owner may read or write, except on a private network. A file that is not
// there is private.
func private(network config.Network, path string) error {
	if network == config.Regtest {
		return nil
	}
	return readable(path)
}

func readable(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the rights of %s: %w", path, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && rights {
		return fmt.Errorf("%s has mode %04o: %w: chmod 600 %s", path, mode, ErrReadable, path)
	}
	return nil
}

// Private checks the files of the process with the seed that hold secrets or what was signed, with the given ones.
// Others may not read them; on a private network that is a warning.
func Private(cfg config.Config, log *slog.Logger, files ...string) error {
	files = append(files, cfg.SeedFile, StateFile(cfg), MarksFile(cfg), cfg.Signer.Key)
	return OwnersOnly(cfg.Network, log, files...)
}

// OwnersOnly checks that nobody but their owner may read or write files; on a private network that is a warning. A file
// that is not there, or has no name, is nobody's.
func OwnersOnly(network config.Network, log *slog.Logger, files ...string) error {
	for _, path := range files {
		err := readable(path)
		if err != nil && network != config.Regtest {
			return err
		}
		if err != nil {
			log.Warn("a file with a secret is not private", "error", err)
		}
	}
	return nil
}
