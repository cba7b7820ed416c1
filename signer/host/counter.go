package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/tpm"
)

// Counter returns what opens the counter in the TPM of a configuration, for memory.File.Guard.
func Counter(cfg config.Config) func(name string) (memory.Counter, error) {
	return func(name string) (memory.Counter, error) { return tpm.CounterAt(TPM(cfg), name) }
}

// BindCounter makes a counter in the TPM and binds the state to it. No signer may use the state meanwhile. A counter
// that then is not used is removed again.
func BindCounter(ctx context.Context, cfg config.Config, now memory.Init, who, why string) error {
	counter, _, err := tpm.MakeCounter(ctx, TPM(cfg))
	if err != nil {
		return err
	}
	if err := memory.Bind(ctx, StateFile(cfg), now, counter, who, why); err != nil {
		return errors.Join(err, counter.Remove(ctx))
	}
	return nil
}

// guard compares the state with its counter. One that was set back freezes, so that nothing is signed before somebody
// has said why, and does not open.
func guard(ctx context.Context, cfg config.Config, file *memory.File) error {
	bound, err := file.Bound(ctx)
	if err != nil {
		return err
	}
	if bound == "" && cfg.Signer.CounterRequired {
		return fmt.Errorf("%w, which signer.counter demands: an older copy was put back, or it was never bound; "+
			"`bursar signer bind` binds it", memory.ErrUnbound)
	}
	err = file.Guard(ctx, Counter(cfg))
	if errors.Is(err, memory.ErrSetBack) {
		frozen := memory.Stop(StateFile(cfg), memory.Freeze{At: time.Now().UTC(), Who: "the signer itself", Why: err.Error()})
		err = errors.Join(fmt.Errorf("%w: find out which, then `bursar signer begin-again`; see "+
			"docs/operations/signer.md#a-counter-in-the-tpm", err), frozen)
	}
	return err
}
