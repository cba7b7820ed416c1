package panics

import (
	"errors"
	"strings"
	"testing"
)

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	panicking := func() error { panic("no such block") }
	if err := Catch("a reader", panicking); err == nil || err.Error() != "a reader panicked: no such block" {
		t.Errorf("the error is %v, want the panic", err)
	}
	err := CatchWithStack("a reader", panicking)
	if err == nil || !strings.HasPrefix(err.Error(), "a reader panicked: no such block\n") ||
		!strings.Contains(err.Error(), "TestAPanicIsAnError") {
		t.Errorf("the error is %v, want the panic with its stack", err)
	}
}

func TestAnErrorOfTheWorkIsReturned(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		work := func() error { return want }
		one, two := Catch("it", work), CatchWithStack("it", work)
		if !errors.Is(one, want) || !errors.Is(two, want) {
			t.Errorf("the errors are %v and %v, want %v", one, two, want)
		}
	}
}
