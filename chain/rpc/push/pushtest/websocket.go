package pushtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// WebSocket serves WebSockets until the end of the test: for each message it sends what answer returns, in order, and
// it closes the connection after a message without an answer. It returns its ws:// URL.
func WebSocket(t testing.TB, answer func(asked string) []string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // Accept has already answered
		}
		defer conn.CloseNow()
		for {
			_, asked, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			said := answer(string(asked))
			for _, message := range said {
				if conn.Write(r.Context(), websocket.MessageText, []byte(message)) != nil {
					return
				}
			}
			if len(said) == 0 {
				_ = conn.Close(websocket.StatusGoingAway, "")
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "ws", 1)
}
