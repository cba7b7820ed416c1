package outgoing

import (
	"context"

	"github.com/bursar/bursar/store"
)

// signable holds back everything that has to be signed where the service has no signer. Nothing is reserved for it, so
// that a signer that is configured later finds nothing to release. What was signed before is sent.
func (s *Sender) signable(_ context.Context, _ *store.Tx, p attempt) error {
	if !s.Unsignable || p.step == stepSend {
		return nil
	}
	return &WaitError{Reason: "this service has no signer: set signer.address"}
}
