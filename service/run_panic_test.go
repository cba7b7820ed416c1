package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

// Work beside the chains and the API is restarted after a panic and logs it; any other end is final.
func TestWorkThatPanicsIsRestarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, runs, errEnd := &Service{log: slog.New(slog.NewTextHandler(&log, nil))}, 0, errors.New("it ended")
		err := s.enduring(t.Context(), "token check", func(context.Context) error {
			if runs++; runs < 3 {
				panic("an unforeseen answer")
			}
			return errEnd
		})()
		if !errors.Is(err, errEnd) || runs != 3 {
			t.Fatalf("%d runs end with %v, want %v and 3", runs, err, errEnd)
		}
		if text := log.String(); strings.Count(text, "an unforeseen answer") < 2 ||
			!strings.Contains(text, "token check") {
			t.Errorf("the log does not say what happened:\n%s", text)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = s.enduring(ctx, "nothing", func(context.Context) error { cancel(); panic("at the end") })()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the context it ends with %v, want %v", err, context.Canceled)
		}
	})
}
