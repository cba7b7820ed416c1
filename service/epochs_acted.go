package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// verbEpoch is the verb of the log of acts where a service begins to lead a chain in another epoch of the seed.
const verbEpoch = "epoch.follow"

// beganEpochs is a remote signer that says who began which epoch.
type beganEpochs interface {
	BegunEpochs(ctx context.Context) ([]signer.BegunEpoch, error)
}

// begunEpochs returns what the signer's log says of epochs. What is not known is for no act a reason to wait.
func (s *Service) begunEpochs(ctx context.Context) []signer.BegunEpoch {
	var list []signer.BegunEpoch
	var err error
	switch from := s.parts.Signer.(type) {
	case beganEpochs:
		list, err = from.BegunEpochs(ctx)
	case *signer.Signer:
		var begun signer.Begun
		begun, err = from.Begun(ctx)
		list = begun.Epochs
	}
	if err != nil {
		s.log.Warn("signer did not report who started the epoch", "error", err)
	}
	return list
}

// actOnEpoch makes the log of acts say that this service leads a chain in the epoch of its keys, once for each chain
// and epoch whatever number of replicas there are and whichever of them ends in between: the row of the chain and the
// act are of one transaction, under the lease.
func (s *Service) actOnEpoch(ctx context.Context, lease store.Lease, w *worker) error {
	e := s.Keys.Epoch()
	if e == 0 {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, haltTime)
	begun := s.begunEpochs(asking)
	cancel()
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		first, err := tx.Leases().ActOnEpoch(ctx, lease)
		if err != nil || !first {
			return err
		}
		return tx.Acts().Append(ctx, s.epochAct(w, e, begun))
	})
	if err != nil {
		return fmt.Errorf("note that epoch %d is followed: %w", e, err)
	}
	return nil
}

// epochAct says for one chain which hot wallet took over from which, and by which entry of the signer's log.
func (s *Service) epochAct(w *worker, e chain.Epoch, begun []signer.BegunEpoch) store.Act {
	a := store.Act{Actor: "the service", Verb: verbEpoch, Object: "chain " + string(w.chain.Capabilities().ID),
		Became: fmt.Sprintf("epoch %d, hot wallet %s", e, w.hot.Base)}
	if before := len(w.old); before > 0 {
		a.Was = fmt.Sprintf("epoch %d, hot wallet %s", w.old[before-1].Key.Epoch(), w.old[before-1].Base)
	} else {
		a.Became += ", as before"
	}
	for _, one := range begun {
		if one.Epoch == e {
			a.Reason = one.Why
			a.Evidence = fmt.Sprintf("entry %d of the signer's log: begun by %s at %s", one.Entry, one.Who,
				one.At.UTC().Format("2006-01-02T15:04:05Z"))
		}
	}
	if a.Evidence == "" {
		a.Evidence = "the signer does not say which entry of its log began it"
	}
	return a
}
