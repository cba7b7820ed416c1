package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"testing"
)

// thirdParty is a running program of third-party client libraries, with keys of its own on one chain.
type thirdParty struct {
	receiver string // the address where it wants to be paid

	requests  io.WriteCloser
	answers   *bufio.Scanner
	complaint bytes.Buffer // read after the program has ended
}

// meet starts a third-party client, which runs until the test ends. Its arguments are all that it knows.
func meet(t *testing.T, notified map[string]any) *thirdParty {
	t.Helper()
	s := &thirdParty{}
	command := exec.Command("node", "javascript/client.mjs")
	command.Stderr = &s.complaint
	var err error
	if s.requests, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.answers = bufio.NewScanner(output)
	s.answers.Buffer(nil, maxAnswer)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended already
		_ = command.Wait()         // it was killed
		if t.Failed() && s.complaint.Len() > 0 {
			t.Logf("the third-party client reports: %s", &s.complaint)
		}
	})
	var said struct{ Receiver string }
	s.ask(t, notified, &said)
	s.receiver = said.Receiver
	return s
}

// ask sends one request and reads its answer. A third-party client that does not get what it waits for gives up by
// itself.
func (s *thirdParty) ask(t *testing.T, request map[string]any, out any) {
	t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.requests.Write(append(text, '\n')); err != nil {
		t.Fatalf("ask the third-party client: %v", err)
	}
	if !s.answers.Scan() {
		t.Fatalf("the third-party client ended: %v", errors.Join(s.answers.Err(), io.EOF))
	}
	var refusal struct{ Error string }
	if err := errors.Join(json.Unmarshal(s.answers.Bytes(), &refusal),
		json.Unmarshal(s.answers.Bytes(), out)); err != nil {
		t.Fatalf("the third-party client answers %q: %v", s.answers.Bytes(), err)
	}
	if refusal.Error != "" {
		t.Fatalf("the third-party client cannot do %s:\n%s", text, refusal.Error)
	}
}

// share is one part of a payment.
type share struct {
	Address string `json:"address"`
	Amount  string `json:"amount"`
	Units   string `json:"units,omitempty"` // in place of the amount
}

// pay makes the third-party client pay in one transaction, and returns its hash.
func (s *thirdParty) pay(t *testing.T, form string, shares []share) string {
	t.Helper()
	var did struct{ HashID string }
	s.ask(t, map[string]any{"action": "pay", "form": form, "payments": shares}, &did)
	return did.HashID
}

// verdict is what a third-party client finds in a final and successful transaction, all of it by its own means.
type verdict struct {
	HashID   string   // of its bytes
	Signers  []string // the signers, by its signatures
	Receiver string
	Amount   string
	Balance  string // balance of the receiver
	Forged   int    // how many copies with one bit changed were tried, one for each byte
	Refused  int    // how many of them had an invalid signature
}

func (s *thirdParty) check(t *testing.T, hashID string) verdict {
	t.Helper()
	var v verdict
	s.ask(t, map[string]any{"action": "check", "hashID": hashID}, &v)
	return v
}
