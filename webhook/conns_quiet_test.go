package webhook

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answering serves raw text as the response to each request, over any number of connections.
func answering(t *testing.T, after func(net.Conn), text string) (url string, connections *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer conn.Close()
				for reader := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(conn, text)
					after(conn)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/", connections
}

// A receiver may close a connection over which nothing is sent, and whatever it sends without being asked would be
// taken for the response to the next request. Neither makes an attempt fail.
func TestAConnectionThatIsNotQuietIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 204 No Content\r\n\r\n"
	for name, after := range map[string]func(net.Conn){
		"it was closed": func(c net.Conn) { c.Close() },
		"more came": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{}, 9)
			url, connections := answering(t, func(c net.Conn) { after(c); done <- struct{}{} }, answer)
			d := New(Config{AllowNetworks: loopback})
			t.Cleanup(d.client.CloseIdleConnections)
			for i := range 3 {
				if a := post(d, url); a.code != 204 {
					t.Fatalf("attempt %d: %+v, want 204", i+1, a)
				}
				<-done
			}
			if got := connections.Load(); got != 3 {
				t.Errorf("%d connections were made, want 3", got)
			}
		})
	}
}

func TestWhatComesBeforeTheResponse(t *testing.T) {
	t.Parallel()
	const hint, end = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"
	long := "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", maxHeader+8<<10) + "\r\n\r\n"
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"hints":                     {strings.Repeat(hint, 2) + end, 204},
		"as many as may be":         {strings.Repeat(hint, mostInformational) + end, 204},
		"one too many":              {strings.Repeat(hint, mostInformational+1) + end, 0},
		"a header that is too long": {long, 0},
		"another protocol":          {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", 101},
		"an older version":          {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := answering(t, func(net.Conn) {}, c.text)
			d := New(Config{AllowNetworks: loopback})
			t.Cleanup(d.client.CloseIdleConnections)
			if a := post(d, url); a.code != c.code {
				t.Errorf("%+v, want the status %d", a, c.code)
			}
		})
	}
}

// corked writes what it is given in one piece with the last of it, once that is uncorked.
type corked struct {
	net.Conn
	kept []byte
	on   bool
}

func (c *corked) Write(b []byte) (int, error) {
	if c.kept = append(c.kept, b...); c.on {
		return len(b), nil
	}
	_ = c.SetWriteDeadline(time.Time{}) // the end of TLS sets one
	_, err := c.Conn.Write(c.kept)
	c.kept = nil
	return len(b), err
}

// What came with a response over TLS may have been read from the socket already, and is there all the same: a second
// response, or the word that nothing will follow.
func TestWhatCameWithAResponseOverTLSEndsItsConnection(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, after := range map[string]func(*tls.Conn) error{
		"a second response": func(c *tls.Conn) error {
			_, err := io.WriteString(c, answer)
			return err
		},
		"its end": (*tls.Conn).CloseWrite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known, _ := counted(t, true, func(http.ResponseWriter, *http.Request) {})
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
			var taken, connections atomic.Int64
			go func() {
				for {
					under, err := listener.Accept()
					if err != nil {
						return
					}
					connections.Add(1)
					go func() {
						defer under.Close()
						wire := &corked{Conn: under}
						conn := tls.Server(wire, known.TLS)
						for reader := bufio.NewReader(conn); ; {
							r, err := http.ReadRequest(reader)
							if err != nil {
								return
							}
							_, _ = io.Copy(io.Discard, r.Body)
							taken.Add(1)
							wire.on = true
							_, _ = io.WriteString(conn, answer)
							_ = after(conn)
							wire.on = false
							_, _ = wire.Write(nil)
						}
					}()
				}
			}()
			host := listener.Addr().String()
			d, p := posterTo(t, known, true)
			p.noteOlder(host)
			for i := range int64(3) {
				if a := post(d, "https://"+host); a.code != 200 {
					t.Fatalf("attempt %d: %+v, want 200", i+1, a)
				}
				if got := taken.Load(); got != i+1 {
					t.Fatalf("attempt %d succeeded, and the receiver took %d requests", i+1, got)
				}
			}
			if got := connections.Load(); got != 3 {
				t.Errorf("%d connections were made, want 3", got)
			}
		})
	}
}
