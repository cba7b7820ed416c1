package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// node serves one WebSocket with play.
func node(t *testing.T, play func(ctx context.Context, conn *websocket.Conn)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		play(r.Context(), conn)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "ws", 1)
}

// heads returns the subscription to the new heads of an Ethereum node.
func heads(t *testing.T) Subscription {
	t.Helper()
	s, err := JSONRPC("eth_subscribe", "eth_subscription", "newHeads")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(ctx context.Context, t *testing.T, conn *websocket.Conn, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := conn.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			t.Error(err)
		}
	}
}

// The answers of go-ethereum v1.17 by its documentation (geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub).
const (
	gethAccepts = `{"jsonrpc":"2.0","id":1,"result":"0x9cef478923ff08bf67fde6c64013158d"}`
	gethHead    = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9cef478923ff08bf67fde6c64013158d","result":{"number":"0x1b4"}}}`
)

func TestWebSocketAnnouncesHeads(t *testing.T) {
	t.Parallel()
	url := node(t, func(ctx context.Context, conn *websocket.Conn) {
		_, asked, err := conn.Read(ctx)
		if want := `{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`; err != nil ||
			string(asked) != want {
			t.Errorf("the request is %s (%v), want %s", asked, err, want)
		}
		say(ctx, t, conn, gethAccepts, gethHead, `{"jsonrpc":"2.0","method":"other"}`, gethHead)
		_ = conn.Close(websocket.StatusGoingAway, "restart")
	})
	n := 0
	err := Config{}.WebSocket(t.Context(), url, heads(t), func() { n++ })
	if n != 3 || websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("%d announcements with that of the subscription itself, ended by %v, want 3 and %v", n, err,
			websocket.StatusGoingAway)
	}
}

func TestWebSocketEnds(t *testing.T) {
	t.Parallel()
	for why, play := range map[string]func(ctx context.Context, conn *websocket.Conn){
		"eth_subscribe is refused: notifications not supported (code -32601)": func(ctx context.Context,
			conn *websocket.Conn) {
			say(ctx, t, conn, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"notifications not supported"}}`)
			_, _, _ = conn.Read(ctx)
			_, _, _ = conn.Read(ctx)
		},
		"unreadable message": func(ctx context.Context, conn *websocket.Conn) {
			say(ctx, t, conn, gethAccepts, "<html>")
			_, _, _ = conn.Read(ctx)
			_, _, _ = conn.Read(ctx)
		},
		"read limited at": func(ctx context.Context, conn *websocket.Conn) {
			say(ctx, t, conn, gethAccepts)
			_ = conn.Write(ctx, websocket.MessageText, make([]byte, maxMessage+1))
			_, _, _ = conn.Read(ctx)
			_, _, _ = conn.Read(ctx)
		},
		ErrSilent.Error(): func(ctx context.Context, conn *websocket.Conn) {
			say(ctx, t, conn, gethAccepts)
			for ctx.Err() == nil { // a message that is not an announcement does not extend the silence
				if conn.Write(ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","method":"other"}`)) != nil {
					return
				}
			}
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			var c Config
			if why == ErrSilent.Error() {
				c.Silence = 200 * time.Millisecond
			}
			err := c.WebSocket(t.Context(), node(t, play), heads(t), func() {})
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("got error %v, want %q", err, why)
			}
		})
	}
}

func TestWebSocketEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := node(t, func(ctx context.Context, conn *websocket.Conn) {
		say(ctx, t, conn, gethAccepts)
		_, _, _ = conn.Read(ctx)
		_, _, _ = conn.Read(ctx)
	})
	if err := (Config{}).WebSocket(ctx, url, heads(t), cancel); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The credentials of the URL and the headers reach the node and are in no error.
func TestWebSocketKeepsItsCredentials(t *testing.T) {
	t.Parallel()
	const password, key, query, header = "hunter2+/x", "0123456789abcdef", "q-secret", "h-secret"
	var seen http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		http.Redirect(w, r, "http://other.example/"+key+"?k="+query+"&"+r.Header.Get("Authorization"), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	url := strings.Replace(server.URL, "http://", "ws://alice:hunter2%2B%2Fx@", 1) + "/v3/" + key + "?apikey=" + query
	c := Config{Headers: map[string]string{"X-Key": header}}
	err := c.WebSocket(t.Context(), url, heads(t), func() { t.Error("announced") })
	if seen.Get("X-Key") != header || !strings.HasPrefix(seen.Get("Authorization"), "Basic ") {
		t.Errorf("the node got the headers %v, want both credentials", seen)
	}
	server.Close()
	text := fmt.Sprint(err, c.WebSocket(t.Context(), url, heads(t), nil),
		c.WebSocket(t.Context(), url+"%zz", heads(t), nil),
		c.ZMQ(t.Context(), url, nil, nil), Name(url))
	for _, secret := range []string{"hunter2", key, query, header} {
		if strings.Contains(text, secret) {
			t.Errorf("the credential %q is in %s", secret, text)
		}
	}
	if !strings.Contains(text, strings.TrimPrefix(server.URL, "http://")) {
		t.Errorf("the host is not in %s", text)
	}
}

func TestNameShowsNoCredential(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"ws://u:p@node.example:8546/":      "ws://node.example:8546",
		"wss://node.example/v3/key?a=b":    "wss://node.example/…",
		"tcp://127.0.0.1:28332":            "tcp://127.0.0.1:28332",
		"ipc:///run/bitcoind/blocks":       "ipc:///…",
		"ws://u:p/w@node.example":          "an unreadable URL",
		"":                                 "an unreadable URL",
		"tcp://u:p@127.0.0.1:28332?secret": "tcp://127.0.0.1:28332/…",
	} {
		if got := Name(raw); got != want {
			t.Errorf("Name(%s) = %s, want %s", raw, got, want)
		}
	}
}
