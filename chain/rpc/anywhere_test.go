package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// panicking panics when an answer is read into it, as code does that met an answer nobody foresaw.
type panicking struct{}

func (*panicking) UnmarshalJSONFrom(*jsontext.Decoder) error { panic("an unforeseen answer") }

// Goroutines that read answers are this package's own, so that nobody above them catches a panic: each ends as an error
// of its own read, and the process lives.
func TestAPanicFailsItsReadOnly(t *testing.T) {
	t.Parallel()
	wantPanicked := func(t *testing.T, what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "panicked: an unforeseen answer") {
			t.Errorf("%s: %v, want an error and %q in it", what, err, "panicked: an unforeseen answer")
		}
	}
	t.Run("calls in place of a batch", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, Config{URLs: urlsOf(startNode(t, splittingLists(raw(413, ""), gives(`"a"`))))})
		wantPanicked(t, "the batch", c.Batch(t.Context(),
			[]*Request{{Method: "a", Out: &panicking{}}, {Method: "b", Out: &panicking{}}}))
	})
	t.Run("survey", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, Config{URLs: urlsOf(startNode(t, gives(`"a"`)))})
		err := c.Survey(t.Context(), func(context.Context, *Session) (uint64, error) { panic("an unforeseen answer") })
		wantPanicked(t, "the survey", err)
	})
	t.Run("visit", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, Config{URLs: urlsOf(startNode(t, gives(`"a"`)), startNode(t, gives(`"b"`)))})
		found := Visit(t.Context(), c, func(_ context.Context, s *Session, err error) error {
			if err == nil && s.Name() == c.Endpoints()[1].Name {
				panic("an unforeseen answer")
			}
			return err
		})
		if found[0] != nil {
			t.Errorf("the first: %v, want nil", found[0])
		}
		wantPanicked(t, "the second", found[1])
		Visit(t.Context(), c, func(context.Context, *Session, error) bool { panic("whatever it is told") })
	})
}

// A read that one endpoint cannot serve is served by the next, and the answers of all are reported where none can.
func TestAnywhereAsksEndpointsUntilOneHasTheData(t *testing.T) {
	t.Parallel()
	errOld := errors.New("it begins later")
	first, second := startNode(t, gives(`"a"`)), startNode(t, gives(`"b"`))
	read := func(lacking ...string) func(context.Context, *Session) (string, error) {
		return func(ctx context.Context, s *Session) (answer string, err error) {
			for _, name := range lacking {
				if name == s.Name() {
					return "", errOld
				}
			}
			return answer, s.Call(ctx, "old", nil, &answer)
		}
	}
	lacks := func(err error) bool { return errors.Is(err, errOld) }
	c := newClient(t, Config{URLs: urlsOf(first, second)})
	if got, err := Anywhere(t.Context(), c, read(), lacks); err != nil || got != "a" {
		t.Errorf("both have it: %q, %v, want \"a\"", got, err)
	}
	if got, err := Anywhere(t.Context(), c, read(first.URL), lacks); err != nil || got != "b" {
		t.Errorf("the second has it: %q, %v, want \"b\"", got, err)
	}
	_, err := Anywhere(t.Context(), c, read(first.URL, second.URL), lacks)
	if !errors.Is(err, ErrLacks) || !strings.Contains(err.Error(), first.URL) ||
		!strings.Contains(err.Error(), second.URL) {
		t.Errorf("neither has it: %v", err)
	}
	wantState(t, c, 0, StateUp)
	wantState(t, c, 1, StateUp)
	down := newClient(t, Config{URLs: urlsOf(first, startNode(t, hangUp))})
	if _, err := Anywhere(t.Context(), down, read(first.URL), lacks); errors.Is(err, ErrLacks) ||
		!errors.Is(err, ErrUnavailable) {
		t.Errorf("the second is away: %v", err)
	}
}
