package chain_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/chain"
)

// Callers that come while a question is asked share the next answer, which was asked for after they came.
func TestCallersShareAnAnswerThatIsNewerThanTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s chain.Shared[int]
		asked := 0
		proceed := make(chan struct{})
		ask := func(context.Context) (int, error) {
			asked++
			number := asked
			<-proceed
			return number, nil
		}
		answers := make([]int, 11)
		var group sync.WaitGroup
		caller := func(i int) {
			group.Go(func() {
				var err error
				if answers[i], err = s.Ask(t.Context(), ask); err != nil {
					t.Error(err)
				}
			})
		}
		caller(0)
		synctest.Wait()
		for i := range 10 {
			caller(i + 1)
		}
		synctest.Wait()
		close(proceed)
		group.Wait()
		if asked != 2 || answers[0] != 1 {
			t.Errorf("11 callers, 10 of them during the first question, asked %d times, want 2; the first got answer %d, want 1",
				asked, answers[0])
		}
		for i, got := range answers[1:] {
			if got != 2 {
				t.Errorf("caller %d got answer %d, want the second", i+1, got)
			}
		}
		if got, err := s.Ask(t.Context(), ask); err != nil || got != 3 {
			t.Errorf("a later caller got answer %d, %v, want the third: none is kept", got, err)
		}
	})
}

// An answer that is kept is given again until it is as old as it may be; an error is not.
func TestAnAnswerIsKeptForAsLongAsItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := chain.Shared[int]{Keep: time.Second}
		asked, down := 0, errors.New("down")
		ask := func(context.Context) (int, error) {
			<-time.After(100 * time.Millisecond) // an answer is as old as its question
			if asked++; asked == 1 {
				return 0, down
			}
			return asked, nil
		}
		if _, err := s.Ask(t.Context(), ask); !errors.Is(err, down) {
			t.Errorf("the first answer is %v, want %v", err, down)
		}
		for i, want := range []int{2, 2, 2, 3} {
			if got, err := s.Ask(t.Context(), ask); err != nil || got != want {
				t.Errorf("answer %d is %d, %v, want %d", i, got, err, want)
			}
			<-time.After(300 * time.Millisecond)
		}
	})
}

// An error and a panic reach every caller of that answer and nobody else; a caller whose context ends waits no longer.
func TestASharedQuestionThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s chain.Shared[int]
		down := errors.New("down")
		if _, err := s.Ask(t.Context(), func(context.Context) (int, error) { return 0, down }); !errors.Is(err, down) {
			t.Errorf("an error gives %v, want %v", err, down)
		}
		_, err := s.Ask(t.Context(), func(context.Context) (int, error) { panic("odd answer") })
		if err == nil || !strings.Contains(err.Error(), "odd answer") {
			t.Errorf("a panic gives %v, want an error that names it", err)
		}
		proceed := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := s.Ask(ctx, func(context.Context) (int, error) { <-proceed; return 7, nil })
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller whose context ended got %v, want %v", err, context.Canceled)
		}
		close(proceed)
		if got, err := s.Ask(t.Context(), func(context.Context) (int, error) { return 8, nil }); err != nil || got != 8 {
			t.Errorf("the next caller got %d, %v, want 8", got, err)
		}
	})
}
