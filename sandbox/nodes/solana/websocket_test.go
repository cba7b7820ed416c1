package solana_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bursar/bursar/sandbox/nodes/solana"
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

// subscribe is ask for what must be taken; it returns the subscription.
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

// want fails the test unless the next notification is of a subscription and reads so.
func (e *ear) want(id json.Number, method, result string) {
	e.Helper()
	got, told := e.next(id)
	if got != method || text(e, told) != result {
		e.Fatalf("%s tells %s, want %s %s", got, text(e, told), method, result)
	}
}

// silent fails the test if anything was told: an answer comes after all that was told before it.
func (e *ear) silent() {
	e.Helper()
	e.ask("slotUnsubscribe", 0)
	if len(e.unread) > 0 {
		e.Fatalf("unasked came %s", text(e, e.unread))
	}
}

// A signature is told of once, at the level that was asked for, with the transaction's own error.
func TestSignatureSubscription(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 4})
	e := listen(t, n.WebSocketURL())
	there := n.NewAddress()
	pay := spend{from: w, to: there, lamports: sol, blockhash: latest(t, n, "finalized")}
	id, code, message, _ := pay.send(t, n, object{})
	if code != 0 {
		t.Fatal(message)
	}
	processed := e.subscribe("signatureSubscribe", id, object{"commitment": "processed"})
	confirmed := e.subscribe("signatureSubscribe", id, object{"commitment": "confirmed"})
	finalized := e.subscribe("signatureSubscribe", id)
	e.silent()
	tell := func(level string) string {
		return `{"context":{"apiVersion":"4.2.2","slot":` + text(t, get(t, n, "getSlot", object{"commitment": level})) +
			`},"value":{"err":null}}`
	}
	mine(t, n, 1)
	e.want(processed, "signatureNotification", tell("processed"))
	mine(t, n, 1)
	e.want(confirmed, "signatureNotification", tell("confirmed"))
	e.silent()
	mine(t, n, 3)
	e.want(finalized, "signatureNotification", tell("finalized"))
	if answer := text(t, e.ask("signatureUnsubscribe", finalized)); !strings.Contains(answer, "Invalid subscription id") {
		t.Errorf("after it has told: %s", answer)
	}
	late := e.subscribe("signatureSubscribe", id, object{"commitment": "finalized"}) // it happened long ago
	e.want(late, "signatureNotification", tell("finalized"))

	failed, err := n.PayFailed(there, sol)
	if err != nil {
		t.Fatal(err)
	}
	watched := e.subscribe("signatureSubscribe", failed,
		object{"commitment": "processed", "enableReceivedNotification": true})
	if _, told := e.next(watched); told.(object)["value"] != "receivedSignature" {
		t.Errorf("of the receipt is told %s", text(t, told))
	}
	mine(t, n, 1)
	if _, told := e.next(watched); text(t, told.(object)["value"]) != `{"err":{"InstructionError":[2,{"Custom":1}]}}` {
		t.Errorf("of the failure is told %s", text(t, told))
	}
}

// A signature that a reorganisation drops is not told of at a level that it has not reached.
func TestSignatureSubscriptionThroughAReorganisation(t *testing.T) {
	t.Parallel()
	n, _ := funded(t, solana.Config{FinalityDepth: 6})
	e := listen(t, n.WebSocketURL())
	dropped, err1 := n.Pay(n.NewAddress(), sol)
	kept, err2 := n.Pay(n.NewAddress(), sol)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	first, second := e.subscribe("signatureSubscribe", dropped), e.subscribe("signatureSubscribe", kept)
	mine(t, n, 2)
	if err := n.Reorg(2, []string{dropped}); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 8)
	if method, _ := e.next(second); method != "signatureNotification" {
		t.Errorf("it tells %s", method)
	}
	e.silent()
	if answer := e.ask("signatureUnsubscribe", first); answer["result"] != true {
		t.Errorf("what waits for ever can be ended: %s", text(t, answer))
	}
}

// Slots are told of as they are made, those of a reorganisation too, and roots as they become final, each once.
func TestSlotAndRootSubscriptions(t *testing.T) {
	t.Parallel()
	n, _ := funded(t, solana.Config{FinalityDepth: 3})
	e, other := listen(t, n.WebSocketURL()), listen(t, n.WebSocketURL())
	slots, roots := e.subscribe("slotSubscribe"), other.subscribe("rootSubscribe")
	from := n.FinalHeight()
	mine(t, n, 20)
	var told []uint64
	for range 20 {
		method, result := e.next(slots)
		slot := result.(object)
		number, err := slot["slot"].(json.Number).Int64()
		if method != "slotNotification" || err != nil || slot["parent"] == nil || slot["root"] == nil {
			t.Fatalf("%s tells %s", method, text(t, result))
		}
		if len(told) > 0 && text(t, slot["parent"]) != fmt.Sprint(told[len(told)-1]) {
			t.Fatalf("slot %d follows %s, told before was %d", number, slot["parent"], told[len(told)-1])
		}
		told = append(told, uint64(number))
	}
	if told[19] != n.Height() {
		t.Errorf("the last slot is %d, the node at %d", told[19], n.Height())
	}
	listed := get(t, n, "getBlocks", from+1, n.FinalHeight()).([]any)
	if len(listed) < 15 {
		t.Fatalf("%d blocks became final", len(listed))
	}
	for _, slot := range listed {
		other.want(roots, "rootNotification", text(t, slot))
	}
	if err := n.Finalize(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		other.next(roots)
	}
	mine(t, n, 2)
	if err := n.Reorg(2, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 + 3 {
		e.next(slots)
	}
	if answer := e.ask("slotUnsubscribe", slots); answer["result"] != true {
		t.Errorf("unsubscribing is answered by %s", text(t, answer))
	}
	mine(t, n, 1)
	e.silent()
}

// An account is told of when it has changed as of the level, and when it is gone.
func TestAccountSubscription(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 3})
	e := listen(t, n.WebSocketURL())
	there := n.NewAddress()
	early := e.subscribe("accountSubscribe", there, object{"commitment": "confirmed", "encoding": "base64"})
	final := e.subscribe("accountSubscribe", w.address(), object{"encoding": "base64"})
	hash := latest(t, n, "finalized")
	if _, code, message, _ := (spend{from: w, to: there, lamports: 2*sol - 5000, blockhash: hash}).send(t, n,
		object{}); code != 0 {
		t.Fatal(message)
	}
	mine(t, n, 1)
	e.silent()
	mine(t, n, 1)
	method, told := e.next(early)
	value := told.(object)["value"].(object)
	if method != "accountNotification" || text(t, value["lamports"]) != "1999995000" ||
		value["owner"] != strings.Repeat("1", 32) ||
		text(t, value["data"]) != `["","base64"]` || text(t, value["space"]) != "0" {
		t.Errorf("%s tells %s", method, text(t, told))
	}
	mine(t, n, 1)
	e.silent()
	mine(t, n, 1)
	if _, told := e.next(final); text(t, told.(object)["value"].(object)["lamports"]) != "0" {
		t.Errorf("of an account that is gone is told %s", text(t, told))
	}
	mine(t, n, 3)
	e.silent()
}

// What is wrong with a message is answered, what wants no answer is not, and a connection has bounds.
func TestSubscriptionsThatAreNone(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{})
	e := listen(t, n.WebSocketURL())
	for _, test := range []struct {
		method string
		params []any
		want   string
	}{
		{"signatureSubscribe", nil, "-32602"},
		{"signatureSubscribe", []any{"x"}, "-32602"},
		{"signatureSubscribe", []any{w.address()}, "-32602"},
		{"accountSubscribe", []any{"x"}, "-32602"},
		{"accountSubscribe", []any{w.address(), object{"commitment": "soon"}}, "-32602"},
		{"accountSubscribe", []any{w.address(), object{"encoding": "morse"}}, ""},
		{"rootUnsubscribe", []any{1}, "Invalid subscription id"},
		{"rootUnsubscribe", nil, "-32602"},
		{"blockSubscribe", []any{"all"}, "-32601"},
		{"getSlot", nil, "-32601"},
	} {
		if answer := text(t, e.ask(test.method, test.params...)); !strings.Contains(answer, `"error"`) ||
			!strings.Contains(answer, test.want) {
			t.Errorf("%s of %v is answered by %s", test.method, test.params, answer)
		}
	}
	e.say(`{"jsonrpc":"2.0","method":"ping"}`) // as clients keep their connections alive
	e.silent()
	for message, code := range map[string]string{`rubbish`: "-32700", `{"id":1,"method":"slotSubscribe"}`: "-32600"} {
		e.say(message)
		if answer := text(t, e.read()); !strings.Contains(answer, code) {
			t.Errorf("%s is answered by %s", message, answer)
		}
	}
	for range 1000 {
		e.subscribe("rootSubscribe")
	}
	if answer := text(t, e.ask("rootSubscribe")); !strings.Contains(answer, "limit reached") {
		t.Errorf("the 1001st is answered by %s", answer)
	}
	mine(t, n, 5) // more than may wait for a client that does not read
	for {
		if _, _, err := e.conn.Read(e.ctx); err != nil {
			if e.ctx.Err() != nil {
				t.Error("a client that does not read is not cut off")
			}
			break
		}
	}
}

// WebSockets are served on the JSON-RPC port and on the one after it, and end with the node.
func TestWebSocketPorts(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	same := strings.Replace(n.URL(), "http", "ws", 1)
	if after := portAfter(t, same); n.WebSocketURL() != after {
		t.Errorf("WebSockets are at %s, JSON-RPC at %s", n.WebSocketURL(), n.URL())
	}
	var ears []*ear
	for _, url := range []string{same, n.WebSocketURL()} {
		e := listen(t, url)
		id := e.subscribe("slotSubscribe")
		mine(t, n, 1)
		e.next(id)
		e.ask("slotUnsubscribe", id)
		ears = append(ears, e)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range ears {
		if _, _, err := e.conn.Read(e.ctx); err == nil || e.ctx.Err() != nil {
			t.Errorf("a connection outlives the node: %v", err)
		}
	}
}

func portAfter(t *testing.T, url string) string {
	t.Helper()
	at := strings.LastIndexByte(url, ':') + 1
	port, err := strconv.Atoi(url[at:])
	if err != nil {
		t.Fatal(err)
	}
	return url[:at] + strconv.Itoa(port+1)
}

// Where the port after it is taken, they are on the JSON-RPC port alone.
func TestWebSocketPortTaken(t *testing.T) {
	t.Parallel()
	for range 100 {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		before := taken.Addr().(*net.TCPAddr).Port - 1
		n, err := solana.Start(t.Context(), solana.Config{Listen: net.JoinHostPort("127.0.0.1", strconv.Itoa(before))})
		if err != nil {
			continue // the port before it is somebody's
		}
		defer n.Close()
		if n.WebSocketURL() != strings.Replace(n.URL(), "http", "ws", 1) {
			t.Errorf("with the next port taken WebSockets are at %s, JSON-RPC at %s", n.WebSocketURL(), n.URL())
		}
		listen(t, n.WebSocketURL()).subscribe("slotSubscribe")
		return
	}
	t.Fatal("no port was free below one that was taken")
}
