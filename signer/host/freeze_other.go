//go:build !unix

package host

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/signer"
)

// FreezeOnSignal does nothing where the system has no such signal.
func FreezeOnSignal(context.Context, *signer.Signer, *slog.Logger) {}
