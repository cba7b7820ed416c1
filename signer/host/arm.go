package host

import (
	"context"
	"log/slog"
	"time"

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
	go noteRefusals(ctx, s, log)
}

// noteRefusals writes into the log of a signer what it refused, each minute; anyone who ends the signer writes the
// rest.
func noteRefusals(ctx context.Context, s *signer.Signer, log *slog.Logger) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.FlushRefusals(ctx, false); err != nil && ctx.Err() == nil {
			log.Warn("what was refused is not in the signer's log", "error", err)
		}
	}
}
