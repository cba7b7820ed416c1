package signer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// A signer freezes itself after so many different transactions that no honest service asks for.
//
// They are counted by outgoing transaction, so that one which its chain has the service build again and again, as where
// bytes contain a recent block, does not stop everything: a customer could order it. Anyone who gives all of them one
// name is counted by what they ask for, proofs and reservations included.
const (
	mostSuspect = 3
	mostAsked   = 30
	suspectTime = 10 * time.Minute
)

// suspiciousReasons are the reasons of refusals that neither a customer nor a limit nor a configuration causes: only a
// service that is broken, or in other hands, has such a transaction signed.
var suspiciousReasons = []Reason{ReasonUnreadable, ReasonTooLarge, ReasonUnpaid, ReasonExternal, ReasonChange,
	ReasonSource, ReasonDigest, ReasonReservations, ReasonProof}

// itself is the name of the signer where it freezes by itself.
const itself = "the signer itself"

// suspicion is what makes a signer freeze itself. It is lost with the process; each refusal stands without it.
type suspicion struct {
	report func(f memory.Freeze, err error) // nil: it does not freeze itself

	mu     sync.Mutex
	recent []suspect
}

// suspect is a transaction that was refused for a suspicious reason.
type suspect struct {
	at       time.Time
	outgoing bursar.ID
	digest   [sha256.Size]byte
	reason   Reason
}

// FreezeItself makes the signer freeze, durably, when it is shown two amounts of one outpoint, when its state is older
// than what a service has seen of it, when it is shown a signature that is said to be a person's and is not, and when
// it refuses three different transactions within ten minutes that no honest service asks for. It calls report with each
// such freeze. Call it before the first signature is asked for.
func (s *Signer) FreezeItself(report func(f memory.Freeze, err error)) { s.suspicion.report = report }

// consider freezes the signer if a refusal gives reason to.
func (s *Signer) consider(ctx context.Context, c *check, err error) {
	var refused *RefusalError
	if s.suspicion.report == nil || !errors.As(err, &refused) {
		return
	}
	// While a thaw waits, each new reason to freeze ends it. The state is not asked, for which a freezing command may
	// wait.
	if _, frozen, err := s.evaluator.keeper.Gate().Frozen(); err != nil || frozen && s.ThawsAt().IsZero() {
		return
	}
	why := ""
	switch {
	case refused.Reason == ReasonOutpoint, refused.Reason == ReasonSetBack, refused.Reason == ReasonForged:
		why = fmt.Sprintf("%s: %s", refused.Reason, refused.Detail)
	case slices.Contains(suspiciousReasons, refused.Reason):
		why = s.suspicion.add(c, refused)
	}
	if why == "" {
		return
	}
	f := memory.Freeze{At: time.Now().UTC(), Who: itself, Why: shortened(why)}
	s.suspicion.report(f, s.freeze(context.WithoutCancel(ctx), f))
}

// add remembers a refusal, and returns why that is enough; "" if it is not.
func (s *suspicion) add(c *check, refused *RefusalError) string {
	now := c.bounds.Now()
	asked := c.unsigned
	asked.Orders = nil // approvals come one by one, and nothing about them is suspicious
	text, err := json.Marshal([]any{c.request, asked})
	if err != nil {
		text = []byte(c.request.ID.String())
	}
	one := suspect{now, c.request.ID, sha256.Sum256(text), refused.Reason}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = slices.DeleteFunc(s.recent, func(other suspect) bool {
		return now.Sub(other.at) > suspectTime || other.digest == one.digest // the same transaction asked for again
	})
	s.recent = append(s.recent, one)
	different := map[bursar.ID]bool{}
	var reasons []string
	for _, r := range s.recent {
		if !different[r.outgoing] || !slices.Contains(reasons, string(r.reason)) {
			reasons = append(reasons, string(r.reason))
		}
		different[r.outgoing] = true
	}
	if len(different) < mostSuspect && len(s.recent) < mostAsked {
		return ""
	}
	count := len(s.recent)
	s.recent = nil
	return fmt.Sprintf("%d transactions within %d minutes that no honest service asks for (%s): the service is broken "+
		"or in other hands. The last was outgoing transaction %s on %s: %s", count, suspectTime/time.Minute,
		strings.Join(reasons, ", "), refused.OutgoingID, refused.Chain, refused.Detail)
}

// maxWhy bounds the text of a freeze that quotes a request.
const maxWhy = 600

func shortened(text string) string {
	if len(text) <= maxWhy {
		return text
	}
	return strings.ToValidUTF8(text[:maxWhy], "") + "…"
}
