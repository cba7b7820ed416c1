package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bursar/bursar/marks"
)

// marks handles a request for the marks, and raises them first if asked to.
func (s *Server) marks(w http.ResponseWriter, r *http.Request) {
	var q marksQuestion
	if !s.read(w, r, &q) {
		return
	}
	var a marksAnswer
	var err error
	switch {
	case q.Raise == nil:
		a.Marks, err = s.Marks.Load(r.Context())
	case q.Create:
		a.Marks, err = s.Marks.Create(r.Context(), *q.Raise)
	default:
		a.Marks, err = s.Marks.Raise(r.Context(), *q.Raise)
	}
	a.Missing, a.Full = errors.Is(err, marks.ErrMissing), errors.Is(err, marks.ErrFull)
	if a.Missing || a.Full {
		a.Marks, err = marks.State{}, nil
	}
	if err != nil {
		s.Log.Error("marks could not be stored", "error", err)
		http.Error(w, "the marks could not be stored", http.StatusInternalServerError)
		return
	}
	s.answer(w, http.StatusOK, a)
}

// remoteMarks is a keeper of marks at the signer.
type remoteMarks struct{ client *Client }

// Marks returns a keeper over the marks at the signer. Its errors are marks.ErrMissing and marks.ErrUnusable if the
// signer says so, and ErrUnavailable if it does not answer.
func (c *Client) Marks() marks.Keeper { return remoteMarks{c} }

func (m remoteMarks) Load(ctx context.Context) (marks.State, error) {
	return m.ask(ctx, marksQuestion{})
}

func (m remoteMarks) Raise(ctx context.Context, by marks.State) (marks.State, error) {
	return m.ask(ctx, marksQuestion{Raise: &by})
}

func (m remoteMarks) Create(ctx context.Context, s marks.State) (marks.State, error) {
	return m.ask(ctx, marksQuestion{Raise: &s, Create: true})
}

func (m remoteMarks) ask(ctx context.Context, q marksQuestion) (marks.State, error) {
	var a marksAnswer
	if err := m.client.ask(ctx, pathMarks, q, &a); err != nil {
		return marks.State{}, fmt.Errorf("ask the signer for the marks: %w", err)
	}
	if a.Missing {
		return marks.State{}, fmt.Errorf("%w: there is no file of marks beside the signer's seed file", marks.ErrMissing)
	}
	if a.Full {
		return marks.State{}, fmt.Errorf("ask the signer for the marks: %w", marks.ErrFull)
	}
	return a.Marks, nil
}
