package pushtest_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/rpc/push"
	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

func publish(t *testing.T) *pushtest.Publisher {
	t.Helper()
	p, err := pushtest.Publish(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// until publishes again and again until done is closed, because a publisher cannot know when a subscription has
// arrived.
func until(t *testing.T, p *pushtest.Publisher, done <-chan struct{}, parts ...[]byte) {
	t.Helper()
	for {
		select {
		case <-done:
			return
		case <-t.Context().Done():
			t.Fatal("the subscriber did not receive the messages")
		default:
			p.Send(parts...)
		}
	}
}

func TestSubscribersReceiveTheirTopics(t *testing.T) {
	t.Parallel()
	p := publish(t)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan struct{}), make(chan error, 1)
	n := 0
	go func() {
		ended <- push.Config{}.ZMQ(ctx, p.URL(), []string{"hashblock"}, func() {
			if n++; n == 3 {
				close(heard)
			}
		})
	}()
	until(t, p, heard, []byte("hashblock"), make([]byte, 300), []byte{1, 0, 0, 0})
	if cancel(); !errors.Is(<-ended, context.Canceled) {
		t.Errorf("the subscription ended for another reason than its context, want %v", context.Canceled)
	}
	if p.Subscribed("rawblock") != 0 {
		t.Error("a topic without subscribers has one")
	}
}

func TestCloseEndsSubscriptions(t *testing.T) {
	t.Parallel()
	p := publish(t)
	opened, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- push.Config{}.ZMQ(t.Context(), p.URL(), []string{"a"}, func() { opened <- struct{}{} })
	}()
	<-opened
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the subscription ended without a reason")
	}
}

// subscriber uses libzmq itself, through its Python binding.
const subscriber = `
import sys, zmq
s = zmq.Context().socket(zmq.SUB)
s.setsockopt(zmq.RCVTIMEO, 20000)
s.setsockopt(zmq.HEARTBEAT_IVL, 100)
s.connect(sys.argv[1])
s.subscribe(b"hashblock")
for _ in range(5): print(*[len(part) for part in s.recv_multipart()])
`

// libzmq itself subscribes to the publisher, with heartbeats.
func TestLibzmqReceivesFromThePublisher(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Python with pyzmq")
	}
	t.Parallel()
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), candidate, "-c", "import zmq").Run() == nil {
			python = candidate
			break
		}
	}
	if python == "" {
		t.Fatalf("this test needs Python with pyzmq: run go run ./test -install pyzmq, or leave such tests out with "+
			"-short, want not %q", "")
	}
	p := publish(t)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), python, "-c", subscriber, p.URL())
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		failed = cmd.Wait()
	}()
	until(t, p, done, []byte("hashblock"), make([]byte, 300), []byte{1, 0, 0, 0})
	if want := strings.Repeat("9 300 4\n", 5); failed != nil || out.String() != want {
		t.Errorf("the subscriber received %q (%v), want five blocks\n%s", out.String(), failed, errs.String())
	}
}
