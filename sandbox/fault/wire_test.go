package fault

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// announcing is a node that repeats each line that it receives, behind a proxy.
func announcing(t *testing.T, now func() time.Time) *Wire {
	t.Helper()
	node, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	go func() {
		for {
			conn, err := node.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	w, err := NewWire(t.Context(), "tcp://"+node.Addr().String(), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

type listener struct {
	*testing.T
	net.Conn
	in *bufio.Reader
}

func listen(t *testing.T, w *Wire) listener {
	t.Helper()
	conn, err := net.Dial("tcp", w.url.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return listener{t, conn, bufio.NewReader(conn)}
}

func (l listener) hears(line string) {
	l.Helper()
	_, err := io.WriteString(l, line+"\n")
	if err == nil {
		_ = l.SetReadDeadline(time.Now().Add(time.Minute))
		var got string
		if got, err = l.in.ReadString('\n'); got != line+"\n" {
			l.Errorf("received %q", got)
		}
	}
	if err != nil {
		l.Error(err)
	}
}

func (l listener) hearsNothing() {
	l.Helper()
	if _, err := io.WriteString(l, "x\n"); err != nil {
		l.Error(err)
	}
	_ = l.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	var late net.Error
	if got, err := l.in.ReadString('\n'); !errors.As(err, &late) || !late.Timeout() {
		l.Errorf("received %q (%v)", got, err)
	}
}

func (l listener) isReset() (noise int) {
	l.Helper()
	_ = l.SetReadDeadline(time.Now().Add(time.Minute))
	rest, err := io.ReadAll(l.in)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		l.Error(err)
	}
	return len(rest)
}

// cut subscribes at a proxy that resets every subscriber. The reset may come before the connection counts as
// established.
func cut(t *testing.T, w *Wire) {
	t.Helper()
	conn, err := net.Dial("tcp", w.url.Host)
	if errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if noise := (listener{t, conn, bufio.NewReader(conn)}).isReset(); noise > 0 {
		t.Errorf("received %d bytes, want 0", noise)
	}
}

func TestAWireMisbehaves(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	w := announcing(t, func() time.Time { return time.Unix(later.Load(), 0) })
	set := func(kind Kind) {
		t.Helper()
		if err := w.Set(kind, time.Minute); err != nil || w.Current() != kind {
			t.Fatalf("it is %q: %v, want %v", w.Current(), err, kind)
		}
	}
	first := listen(t, w)
	first.hears("a")
	set(Silent)
	first.hearsNothing()
	later.Add(60)
	if w.Current() != "" {
		t.Error("the fault does not end")
	}
	first.hears("b")
	set(Cut)
	first.isReset()
	cut(t, w)
	later.Add(60)
	second := listen(t, w)
	second.hears("c")
	set(Garbage)
	if second.isReset(); listen(t, w).isReset() == 0 {
		t.Error("received no random bytes")
	}
	if err := w.Set(Garbage, 0); err != nil {
		t.Error(err)
	}
	listen(t, w).hears("d")
	for _, err := range []error{w.Set("tired", 0), w.Set(Cut, -1), w.Set(Cut, 2*time.Hour)} {
		if err == nil {
			t.Error("an invalid fault is accepted, want an error")
		}
	}
}
