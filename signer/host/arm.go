package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Arm makes a signer freeze itself when it is attacked, and when its process gets SIGUSR1, and thaw when a thaw that
// waits is due, until ctx ends.
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
	go awaitThaw(ctx, s, log)
}

// thawEvery is how often a signer looks whether a thaw that waits is due.
const thawEvery = 2 * time.Second

// awaitThaw carries out the thaw that people signed, once its time has come.
func awaitThaw(ctx context.Context, s *signer.Signer, log *slog.Logger) {
	ticker := time.NewTicker(thawEvery)
	defer ticker.Stop()
	var said time.Time
	for {
		ended, err := s.ThawDue(ctx, time.Now())
		switch waits := s.ThawWaits(); {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Error("the thaw that waits could not be carried out; the signer stays frozen", "error", err)
		case ended > 0:
			log.Warn("signer thawed: the time of its thaw has come", "freezes", ended)
			said = time.Time{}
		case !waits.At.Equal(said) && !waits.At.IsZero():
			log.Warn("signer " + waits.Text())
			said = waits.At
		case waits.At.IsZero() && !said.IsZero():
			why, err := s.Frozen()
			log.Warn("no thaw waits any more", "frozen", why, "error", err)
			said = time.Time{}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
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
