package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/proof"
)

// witnessedFor is how old the newest cosigned checkpoint may be before the start warns.
const witnessedFor = 35 * 24 * time.Hour

// AgreeWitness compares the log with the newest checkpoint that a witness cosigned, where the configuration names one.
// A log that does not hold it was changed or set back: the signer freezes, and the error is proof.ErrChanged. What
// cannot be read is an error too: anyone who removes the file would remove the witness.
func AgreeWitness(
	ctx context.Context, cfg config.Config, keeper memory.Keeper, keys *signer.Keys, log *slog.Logger,
) error {
	if cfg.Signer.Witness == "" {
		return nil
	}
	signed, err := os.ReadFile(cfg.Signer.Witnessed)
	if err != nil {
		return fmt.Errorf("read what the witness cosigned (signer.witnessed): %w", err)
	}
	key, err := proof.Key(proof.Name(keys.Fingerprint()), keys.LogKey())
	if err != nil {
		return err
	}
	size, at, err := proof.Holds(ctx, keeper, string(signed), key, cfg.Signer.Witness)
	if errors.Is(err, proof.ErrChanged) {
		err = fmt.Errorf("%w; an older copy of the state was put back, or it was replaced: find out which; see "+
			"docs/operations/signer.md#a-witness", err)
		return errors.Join(err, keeper.Gate().Shut(memory.Freeze{At: time.Now().UTC(), Who: "the signer itself",
			Why: err.Error()}))
	}
	if err != nil {
		return fmt.Errorf("check what the witness cosigned: %w", err)
	}
	if time.Since(at) > witnessedFor {
		log.Warn("the witness cosigned the signer's log long ago: have it cosign a new checkpoint", "entries", size, "at", at)
	}
	return nil
}
