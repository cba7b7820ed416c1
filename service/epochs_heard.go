package service

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// alarmEpoch is open while the signer is in another epoch than this service, and the service cannot follow it by
// itself.
const alarmEpoch = "signer_epoch"

// heardEpochs is what a remote signer said of epochs while this service runs.
type heardEpochs struct {
	inForce atomic.Uint32 // the newest epoch that the signer proved to be in force
	once    sync.Once
	next    chan struct{} // closed once the keys of a later epoch can be had by opening the service again
	alarmed bool          // only watchHalts reads and writes it
	asked   time.Time     // likewise
}

// followsEpochs is a signer that another process runs: an epoch may begin there while this service runs.
type followsEpochs interface {
	HeardEpoch() (e chain.Epoch, said bool)
	ProvenEpoch(ctx context.Context) (chain.Epoch, error)
}

// NewEpoch is closed once the signer has begun an epoch and its keys can be had: the caller then ends Run, closes the
// service and opens it again. Everything that a service knows of hot wallets follows from its keys, so that none of it
// is changed under way.
//
// Until then, and for as long as the caller does nothing, this service gives out no address of the epoch that ended,
// and is refused whatever it asks to be signed for its hot wallet. Once a service of the new epoch runs beside it, it
// has no chain's lease any more.
func (s *Service) NewEpoch() <-chan struct{} { return s.epochs.next }

// epochPace is how often a signer that is said to be in another epoch is asked to prove it.
const epochPace = 5 * time.Second

// hearEpoch compares the epoch of a remote signer with that of the keys. What the signer says in passing is only a
// reason to ask: what counts is signed with the key of its log, which the database knows.
func (s *Service) hearEpoch(ctx context.Context) error {
	from, able := s.parts.Signer.(followsEpochs)
	if !able {
		return nil
	}
	heard, said := from.HeardEpoch()
	if !said {
		return nil
	}
	have := s.Keys.Epoch()
	if heard == have {
		return s.alarmOfEpoch(ctx, have)
	}
	if now := time.Now(); now.Sub(s.epochs.asked) >= epochPace {
		s.epochs.asked = now
		asking, cancel := context.WithTimeout(ctx, haltTime)
		defer cancel()
		proven, err := from.ProvenEpoch(asking)
		if err != nil {
			return fmt.Errorf("the signer says that epoch %d is in force: %w", heard, err)
		}
		return s.epochProven(ctx, proven)
	}
	return nil
}

// epochProven acts on an epoch that is in force at the signer.
func (s *Service) epochProven(ctx context.Context, e chain.Epoch) error {
	have := s.Keys.Epoch()
	if e > have {
		s.epochs.inForce.Store(uint32(e))
	}
	if e > have && !s.parts.KeysFromFile {
		s.epochs.once.Do(func() {
			s.log.Warn("the signer has begun an epoch: the service begins it too", "epoch", e, "before", have)
			close(s.epochs.next)
		})
		return nil
	}
	return s.alarmOfEpoch(ctx, e)
}

// alarmOfEpoch raises an alarm if the signer's epoch is not that of the keys, again and again since another replica may
// close it, and closes it once it is.
func (s *Service) alarmOfEpoch(ctx context.Context, e chain.Epoch) error {
	have := s.Keys.Epoch()
	if e == have && !s.epochs.alarmed {
		return nil
	}
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if e == have {
			return tx.Alarms().Resolve(ctx, alarmEpoch, s.Keys.Fingerprint())
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmEpoch, Ref: s.Keys.Fingerprint(), Message: epochsDiffer(e,
			have)})
	})
	if err != nil {
		return fmt.Errorf("note that the signer is in epoch %d: %w", e, err)
	}
	s.epochs.alarmed = e != have
	return nil
}

// epochsDiffer says what to do where the signer is in another epoch.
func epochsDiffer(signer, have chain.Epoch) string {
	if signer > have {
		return fmt.Sprintf("the signer has begun epoch %d, and signer.watch_only is of epoch %d: no new address is given "+
			"out and nothing is paid until this service has a new file, made with `bursar seed export-watch-only` on the "+
			"signer's machine, and was started again with it", signer, have)
	}
	return fmt.Sprintf("the signer is in epoch %d, and this service in %d: the signer's files are older than the "+
		"service's. Nothing is paid until the signer has those of epoch %d again", signer, have, have)
}

// epochEnded reports whether this process must not give out a key index: it is of an epoch whose keys this process
// does not have, or of one that has ended, as in a database that was set back; or the signer has begun a later epoch
// than that of the keys.
func (s *Service) epochEnded(index uint32) bool {
	have := s.Keys.Epoch()
	return chain.EpochOf(index) != have || chain.Epoch(s.epochs.inForce.Load()) > have
}

// closeEpochAlarm closes what an earlier run of this service, or another replica, raised: they were of another epoch.
func (s *Service) closeEpochAlarm(ctx context.Context) {
	err := s.DB.Do(ctx, func(tx *store.Tx) error { return tx.Alarms().Resolve(ctx, alarmEpoch, s.Keys.Fingerprint()) })
	if err != nil {
		s.log.Warn("an alarm of another epoch was not closed", "error", err)
	}
}
