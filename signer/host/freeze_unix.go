//go:build unix

package host

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/bursar/bursar/signer"
)

// freezeOnSignal freezes a signer when its process gets SIGUSR1, until ctx ends: for a machine on which no command can
// be run as the signer's user, or whose disk is stalled. It holds at once, and is durable as soon as the disk writes.
func freezeOnSignal(ctx context.Context, s *signer.Signer, log *slog.Logger) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(got)
		for {
			select {
			case <-ctx.Done():
				return
			case <-got:
			}
			err := s.Freeze(context.WithoutCancel(ctx), "a signal", "the process got SIGUSR1")
			if err != nil {
				log.Error("signer frozen by SIGUSR1 until it restarts: that is not on the disk", "error", err)
				continue
			}
			log.Error("signer frozen by SIGUSR1; `bursar signer thaw` ends it")
		}
	}()
}
