package main

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

// signerState looks at what the signer of this process remembers, beside a running one. That of a remote signer cannot
// be seen from here.
func (e *healthCheck) signerState(ctx context.Context) {
	const check = "signer state"
	if e.cfg.Signer.Remote() {
		return
	}
	s := command.SignerStatus{}
	file, err := memory.Join(ctx, host.StateFile(e.cfg))
	if errors.Is(err, memory.ErrMissing) {
		if e.cfg.Network == config.Mainnet {
			e.advise(check, resultWarning, "to begin with unused limits, `bursar signer init --unused` before the first start: "+
				"see docs/operations/signer.md", "none yet: the first start creates it, with all limits used up until their windows have passed")
			return
		}
		e.note(check, resultOK, "none yet: the first start creates it")
		return
	}
	if err == nil {
		err = errors.Join(s.Summary(ctx, file), file.Close())
	}
	switch {
	case err != nil:
		e.advise(check, resultFailed, "see docs/operations/signer.md", "%v", err)
	case len(s.Frozen) > 0:
		e.advise(check, resultFailed, "investigate, then `bursar signer thaw`", "frozen %s", s.Frozen[0])
	case s.ColdSince != nil && time.Since(*s.ColdSince) < command.ColdFor:
		e.advise(check, resultWarning, "wait: hourly limits hold payments back for an hour, daily ones for a day, weekly ones "+
			"for a week", "began cold at %s", moment(*s.ColdSince))
	default:
		e.note(check, resultOK, "entries in its log: %d, latest at %s", s.Entry, moment(s.LatestAt))
	}
}
