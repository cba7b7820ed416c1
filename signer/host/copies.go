package host

import (
	"context"
	"log/slog"
	"strings"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// NoticedBy says, in words, what notices an older copy of the state where the database and what else the service keeps
// are set back with it to the same day; "" is nothing.
//
// The attack: somebody with a backup of everything puts it back as a whole. The service then has seen nothing that the
// state does not hold, and the limits are there again. Only what is outside of the backup shows it.
func NoticedBy(ctx context.Context, cfg config.Config, file *memory.File) (string, error) {
	var by []string
	bound, err := file.Bound(ctx)
	switch {
	case err != nil:
		return "", err
	case bound != "" && cfg.Signer.CounterRequired:
		by = append(by, "a counter in the TPM")
	case bound != "":
		by = append(by, "a counter in the TPM, of copies from after `bursar signer bind` (signer.counter demands one of all)")
	}
	if cfg.Signer.Witness != "" {
		by = append(by, "a witness, back to what it cosigned last")
	}
	return strings.Join(by, "; "), nil
}

// SayNoticedBy logs NoticedBy: on mainnet as a warning where it is nothing.
func SayNoticedBy(ctx context.Context, cfg config.Config, file *memory.File, log *slog.Logger) error {
	by, err := NoticedBy(ctx, cfg, file)
	switch {
	case err != nil:
		return err
	case by != "":
		log.Info("an older copy of the signer's state is noticed, also if the service is set back with it", "by", by)
	case cfg.Network == config.Mainnet:
		log.Warn("an older copy of the signer's state is noticed by the service alone, and not if that is set back with " +
			"it: " + CopiesAdvice)
	}
	return nil
}

// CopiesAdvice is what to do where nothing notices that all was set back.
const CopiesAdvice = "`bursar signer bind` and signer.counter, or signer.witness; see " +
	"docs/operations/signer.md#a-counter-in-the-tpm"
