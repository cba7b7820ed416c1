package replicas

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/verdict"
)

// Screener is a screening service as bad as one can be: it loses answers, sends them too late and again, lets passes
// expire at once, wants reviews, and says another thing each time it is asked. What it says depends on what it is asked
// and how often, not on the order in which it is asked at once.
type Screener struct {
	Well bool // it passes everything

	now   func() time.Time
	key   ed25519.PrivateKey
	mu    sync.Mutex
	asked map[bursar.ID]int             // by subject, how often
	late  map[bursar.ID]screening.Reply // by subject, an answer to an earlier question

	passed map[bursar.ID]bool // by subject: it passed, or an operator released it
}

// Screens reports whether payments are screened: with every seventh seed.
func (w *Harness) Screens() bool { return w.Seed%7 == 5 }

func newScreener(now func() time.Time) *Screener {
	return &Screener{now: now, key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), asked: map[bursar.ID]int{},
		late: map[bursar.ID]screening.Reply{}, passed: map[bursar.ID]bool{}}
}

// screening is what a process screens with; nil: nothing.
func (w *Harness) screening() *service.Screening {
	if !w.Screens() {
		return nil
	}
	return &service.Screening{Service: w.Screener, Key: w.Screener.key.Public().(ed25519.PublicKey)}
}

var errNoAnswer = errors.New("the screening service does not answer")

// Ask implements screening.Asker.
func (s *Screener) Ask(_ context.Context, request string) (screening.Reply, error) {
	q, err := verdict.ParseRequest(request)
	if err != nil {
		return screening.Reply{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[q.Subject]++
	if s.Well {
		return s.says(q, verdict.Pass, time.Hour), nil
	}
	sum := sha256.Sum256(append(q.Subject[:], byte(s.asked[q.Subject])))
	switch sum[0] % 10 {
	case 0:
		return screening.Reply{}, errNoAnswer
	case 1: // its answer comes when the next question is asked
		s.late[q.Subject] = s.says(q, verdict.Pass, time.Hour)
		return screening.Reply{}, errNoAnswer
	case 2:
		if reply, is := s.late[q.Subject]; is {
			return reply, nil
		}
		return screening.Reply{}, errNoAnswer
	case 3:
		return s.says(q, verdict.Review, time.Hour), nil
	case 4:
		return s.says(q, verdict.Pass, time.Second), nil
	case 5:
		if q.Kind == verdict.OfPayout {
			return s.says(q, verdict.Reject, time.Hour), nil
		}
	}
	return s.says(q, verdict.Pass, time.Hour), nil
}

func (s *Screener) says(q verdict.Request, said verdict.Verdict, lasts time.Duration) screening.Reply {
	if said == verdict.Pass {
		s.passed[q.Subject] = true
	}
	now := s.now().UTC().Truncate(time.Second)
	text := verdict.Answer{Instance: q.Instance, Subject: q.Subject, Request: approval.HashOf(q.Text()), Verdict: said,
		List: "1", Created: now, Expires: now.Add(lasts)}.Text()
	return screening.Reply{Text: text, Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(text)))}
}

// Release notes that an operator released a deposit or a payout.
func (s *Screener) Release(subject bursar.ID) { s.passed[subject] = true }

// Passed reports whether a deposit or a payout ever passed, or was released.
func (s *Screener) Passed(subject bursar.ID) bool { return s.passed[subject] }
