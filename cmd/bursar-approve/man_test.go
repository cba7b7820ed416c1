package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/docs/man/mantest"
)

func TestTheManualPageHasEveryCommand(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&session{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var page, says bytes.Buffer
	if code := run(context.Background(), &session{out: &page, err: &says}, []string{"man"}); code != 0 || says.Len() > 0 {
		t.Fatalf("bursar-approve man exits with %d and says %q, want 0 and nothing", code, &says)
	}
	mantest.Check(t, parser.Model, page.String())
}
