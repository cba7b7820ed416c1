package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"

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
	if !a.Missing && !a.Full {
		s.answered.name(q, &a)
	}
	s.answer(w, http.StatusOK, a)
}

// answeredMarks is the last answer with marks. The journal in it has megabytes: a client that has that answer, and
// whose raise alone has changed the marks since, gets no other copy.
type answeredMarks struct {
	mu    sync.Mutex
	marks marks.State
	id    string
}

// name gives an answer its name, and leaves out marks that follow from what the client has and asks for.
func (last *answeredMarks) name(q marksQuestion, a *marksAnswer) {
	last.mu.Lock()
	defer last.mu.Unlock()
	a.Known = q.Raise != nil && q.Known != "" && q.Known == last.id &&
		reflect.DeepEqual(last.marks.Raised(*q.Raise), a.Marks)
	last.marks, last.id = a.Marks, rand.Text()
	if a.Name = last.id; a.Known {
		a.Marks = marks.State{}
	}
}

// remoteMarks is a keeper of marks at the signer. It has the last answer of the signer.
type remoteMarks struct {
	client *Client

	mu   sync.Mutex
	last marksAnswer
}

// Marks returns a keeper over the marks at the signer. Its errors are marks.ErrMissing and marks.ErrUnusable if the
// signer says so, and ErrUnavailable if it does not answer.
func (c *Client) Marks() marks.Keeper { return &remoteMarks{client: c} }

func (m *remoteMarks) Load(ctx context.Context) (marks.State, error) {
	return m.ask(ctx, marksQuestion{})
}

func (m *remoteMarks) Raise(ctx context.Context, by marks.State) (marks.State, error) {
	return m.ask(ctx, marksQuestion{Raise: &by})
}

func (m *remoteMarks) Create(ctx context.Context, s marks.State) (marks.State, error) {
	return m.ask(ctx, marksQuestion{Raise: &s, Create: true})
}

func (m *remoteMarks) ask(ctx context.Context, q marksQuestion) (marks.State, error) {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	q.Known = last.Name
	var a marksAnswer
	if err := m.client.ask(ctx, pathMarks, q, &a); err != nil {
		m.forget() // an earlier version of the signer, which started since, does not understand a name
		return marks.State{}, fmt.Errorf("ask the signer for the marks: %w", err)
	}
	if a.Missing {
		return marks.State{}, fmt.Errorf("%w: there is no file of marks beside the signer's seed file", marks.ErrMissing)
	}
	if a.Full {
		return marks.State{}, fmt.Errorf("ask the signer for the marks: %w", marks.ErrFull)
	}
	if a.Known {
		if q.Raise == nil || q.Known == "" {
			return marks.State{}, fmt.Errorf("%w: the signer has left out marks that were not raised", marks.ErrUnusable)
		}
		by, err := received(*q.Raise)
		if err != nil {
			return marks.State{}, err
		}
		a.Marks = last.Marks.Raised(by)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = a
	return a.Marks, nil
}

func (m *remoteMarks) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = marksAnswer{}
}

// received returns a raise as the signer reads it.
func received(by marks.State) (s marks.State, err error) {
	text, err := json.Marshal(by)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}
