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
// that then is not used is removed again. One that the state names stays whatever failed after that, and ErrBound says
// so: the next start raises it.
func BindCounter(ctx context.Context, cfg config.Config, now memory.Init, who, why string) error {
	counter, _, err := tpm.MakeCounter(ctx, TPM(cfg))
	if err != nil {
		return err
	}
	return bind(ctx, cfg, now, counter, who, why)
}

// ErrBound is returned where the state is bound to its new counter, and that was not raised.
var ErrBound = errors.New("the state is bound to its counter, which could not be raised yet: the next start raises it")

// removable is a counter that can be removed again.
type removable interface {
	memory.Counter
	Remove(ctx context.Context) error
}

// bind binds the state to a new counter, or removes the counter.
//
// The failure: the TPM fails between the commit that binds the state and the raise. A state that names a counter which
// was removed never opens again without `bursar signer begin-again`, which an honest copy from before would.
func bind(ctx context.Context, cfg config.Config, now memory.Init, counter removable, who, why string) error {
	err := memory.Bind(ctx, StateFile(cfg), now, counter, who, why)
	if err == nil {
		return nil
	}
	name, unknown := boundTo(context.WithoutCancel(ctx), cfg)
	switch {
	case unknown != nil: // a counter that nothing uses does no harm
		return errors.Join(err, fmt.Errorf("the counter %s stays, because the state does not say whether it is bound to "+
			"it: %w", counter.Name(), unknown))
	case name == counter.Name():
		return fmt.Errorf("%w: %w", ErrBound, err)
	}
	return errors.Join(err, counter.Remove(context.WithoutCancel(ctx)))
}

// boundTo returns the name of the counter that the state is bound to; "" is none.
func boundTo(ctx context.Context, cfg config.Config) (name string, err error) {
	file, err := memory.Join(ctx, StateFile(cfg))
	if err != nil {
		return "", err
	}
	name, err = file.Bound(ctx)
	return name, errors.Join(err, file.Close())
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
