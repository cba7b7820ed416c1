package host

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Arm makes a signer freeze itself when it is attacked, and when its process gets SIGUSR1, until ctx ends.
func Arm(ctx context.Context, s *signer.Signer, log *slog.Logger) {
	s.FreezeItself(func(f memory.Freeze, err error) {
		if err != nil {
			log.Error("signer froze itself, until it restarts: that is not on the disk", "reason", f.Why, "error", err)
			return
		}
		log.Error("signer froze itself; find out who controls the service, then `bursar signer thaw`", "reason", f.Why)
	})
	freezeOnSignal(ctx, s, log)
}
