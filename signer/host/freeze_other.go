//go:build !unix

package host

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/signer"
)

// freezeOnSignal does nothing where the system has no such signal.
func freezeOnSignal(context.Context, *signer.Signer, *slog.Logger) {}
