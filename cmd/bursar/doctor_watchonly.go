package main

import (
	"context"
	"errors"

	"github.com/bursar/bursar/service"
	protocol "github.com/bursar/bursar/signer/remote"
)

// watchOnlyCheck is the name of the check of a service that runs with a watch-only file.
const watchOnlyCheck = "watch-only"

// watchOnly looks at the file of public keys of a service without the seed and at its signer, and reports whether the
// signer can be asked for more. Without one, or while it is unreachable, deposits are received and nothing is paid: a
// warning.
func (e *healthCheck) watchOnly(ctx context.Context, keys service.Keys) (reachable bool) {
	if e.cfg.Signer.WatchOnly == "" {
		return true
	}
	signs, remote := keys.(interface {
		Meet(ctx context.Context) error
	})
	if !remote {
		e.advise(watchOnlyCheck, resultWarning, "set signer.address once withdrawals are to be paid",
			"fingerprint %s; there is no signer: withdrawals, refunds and sweeps wait", keys.Fingerprint())
		return false
	}
	switch err := signs.Meet(ctx); {
	case errors.Is(err, protocol.ErrUnavailable):
		e.advise(watchOnlyCheck, resultWarning, seedAdvice["signer"],
			"fingerprint %s; the signer is unreachable: withdrawals, refunds and sweeps wait: %v", keys.Fingerprint(), err)
		return false
	case err != nil:
		e.advise(watchOnlyCheck, resultFailed, seedAdvice[watchOnlyCheck], "%v", err)
		return false
	}
	return true
}
