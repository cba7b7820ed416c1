package solana_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// ear is a client of the WebSocket.
type ear struct {
	*testing.T
	ctx    context.Context
	conn   *websocket.Conn
	asked  int
	unread []object // notifications that came before an answer
}

func listen(t *testing.T, url string) *ear {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return &ear{T: t, ctx: ctx, conn: conn}
}

func (e *ear) say(message string) {
	e.Helper()
	if err := e.conn.Write(e.ctx, websocket.MessageText, []byte(message)); err != nil {
		e.Fatal(err)
	}
}

func (e *ear) read() object {
	e.Helper()
	_, raw, err := e.conn.Read(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	var message object
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	if err := decoder.Decode(&message); err != nil {
		e.Fatal(err)
	}
	return message
}

// ask calls a method and returns its answer.
func (e *ear) ask(method string, params ...any) object {
	e.Helper()
	e.asked++
	if params == nil {
		params = []any{}
	}
	e.say(text(e, object{"jsonrpc": "2.0", "id": e.asked, "method": method, "params": params}))
	for {
		message := e.read()
		if message["id"] == nil {
			e.unread = append(e.unread, message)
			continue
		}
		if text(e, message["id"]) != fmt.Sprint(e.asked) {
			e.Fatalf("%s is answered by %s", method, text(e, message))
		}
		return message
	}
}

// subscribe is ask for a subscription that must be accepted; it returns its number.
func (e *ear) subscribe(method string, params ...any) json.Number {
	e.Helper()
	answer := e.ask(method, params...)
	id, taken := answer["result"].(json.Number)
	if !taken {
		e.Fatalf("%s is answered by %s", method, text(e, answer))
	}
	return id
}

// next returns the method and the result of the next notification, which must be of a subscription.
func (e *ear) next(id json.Number) (string, any) {
	e.Helper()
	var message object
	if len(e.unread) > 0 {
		message, e.unread = e.unread[0], e.unread[1:]
	} else {
		message = e.read()
	}
	params, is := message["params"].(object)
	if !is || params["subscription"] != id || message["id"] != nil {
		e.Fatalf("next is %s, want one of subscription %s", text(e, message), id)
	}
	return message["method"].(string), params["result"]
}

// want fails the test unless the next notification is of a subscription and has this content.
func (e *ear) want(id json.Number, method, result string) {
	e.Helper()
	got, notified := e.next(id)
	if got != method || text(e, notified) != result {
		e.Fatalf("%s notifies %s, want %s %s", got, text(e, notified), method, result)
	}
}

// silent fails the test if there was any notification: an answer comes after all earlier notifications.
func (e *ear) silent() {
	e.Helper()
	e.ask("slotUnsubscribe", 0)
	if len(e.unread) > 0 {
		e.Fatalf("unexpected notification %s", text(e, e.unread))
	}
}
