package solana_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

// TestSignatureSubscription checks that a signature is notified once, at the requested level, with the transaction's
// own error.
func TestSignatureSubscription(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 4})
	e := listen(t, n.WebSocketURL())
	there := n.NewAddress()
	pay := plan{from: w, to: there, lamports: sol, blockhash: latest(t, n, "finalized")}
	id, code, message, _ := pay.send(t, n, object{})
	if code != 0 {
		t.Fatal(message)
	}
	processed := e.subscribe("signatureSubscribe", id, object{"commitment": "processed"})
	confirmed := e.subscribe("signatureSubscribe", id, object{"commitment": "confirmed"})
	finalized := e.subscribe("signatureSubscribe", id)
	e.silent()
	want := func(level string) string {
		return `{"context":{"apiVersion":"4.2.2","slot":` + text(t, get(t, n, "getSlot", object{"commitment": level})) +
			`},"value":{"err":null}}`
	}
	mine(t, n, 1)
	e.want(processed, "signatureNotification", want("processed"))
	mine(t, n, 1)
	e.want(confirmed, "signatureNotification", want("confirmed"))
	e.silent()
	mine(t, n, 3)
	e.want(finalized, "signatureNotification", want("finalized"))
	if answer := text(t, e.ask("signatureUnsubscribe", finalized)); !strings.Contains(answer, "Invalid subscription id") {
		t.Errorf("after its notification: %s, want %q in it", answer, "Invalid subscription id")
	}
	late := e.subscribe("signatureSubscribe", id, object{"commitment": "finalized"}) // it happened long ago
	e.want(late, "signatureNotification", want("finalized"))

	failed, err := n.PayFailed(there, sol)
	if err != nil {
		t.Fatal(err)
	}
	watched := e.subscribe("signatureSubscribe", failed,
		object{"commitment": "processed", "enableReceivedNotification": true})
	if _, notified := e.next(watched); notified.(object)["value"] != "receivedSignature" {
		t.Errorf("the notification of receipt is %s, want %q", text(t, notified), "receivedSignature")
	}
	mine(t, n, 1)
	_, notified := e.next(watched)
	if text(t, notified.(object)["value"]) != `{"err":{"InstructionError":[2,{"Custom":1}]}}` {
		t.Errorf("the notification of the failure is %s, want %q", text(t, notified),
			`{"err":{"InstructionError":[2,{"Custom":1}]}}`)
	}
}

// TestASignatureThatAReorgDropsIsNotNotified checks that a signature that a reorg drops is not notified at a
// level that it has not reached.
func TestASignatureThatAReorgDropsIsNotNotified(t *testing.T) {
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
		t.Errorf("got notification %s, want %q", method, "signatureNotification")
	}
	e.silent()
	if answer := e.ask("signatureUnsubscribe", first); answer["result"] != true {
		t.Errorf("a subscription that waits for ever cannot be ended: %s", text(t, answer))
	}
}

// TestSlotAndRootSubscriptions checks that slots are notified as they are made, those of a reorg too, and roots as
// they become final, each once.
func TestSlotAndRootSubscriptions(t *testing.T) {
	t.Parallel()
	n, _ := funded(t, solana.Config{FinalityDepth: 3})
	e, other := listen(t, n.WebSocketURL()), listen(t, n.WebSocketURL())
	slots, roots := e.subscribe("slotSubscribe"), other.subscribe("rootSubscribe")
	from := n.FinalHeight()
	mine(t, n, 20)
	var notified []uint64
	for range 20 {
		method, result := e.next(slots)
		slot := result.(object)
		number, err := slot["slot"].(json.Number).Int64()
		if method != "slotNotification" || err != nil || slot["parent"] == nil || slot["root"] == nil {
			t.Fatalf("%s notifies %s", method, text(t, result))
		}
		if len(notified) > 0 && text(t, slot["parent"]) != fmt.Sprint(notified[len(notified)-1]) {
			last := notified[len(notified)-1]
			t.Fatalf("slot %d follows %s, the one notified before was %d", number, slot["parent"], last)
		}
		notified = append(notified, uint64(number))
	}
	if notified[19] != n.Height() {
		t.Errorf("the last slot is %d, the node at %d", notified[19], n.Height())
	}
	listed := get(t, n, "getBlocks", from+1, n.FinalHeight()).([]any)
	if len(listed) < 15 {
		t.Fatalf("%d blocks became final, want at least 15", len(listed))
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
		t.Errorf("unsubscribing is answered by %s, want true", text(t, answer))
	}
	mine(t, n, 1)
	e.silent()
}

// TestAccountSubscription checks that an account is notified when it has changed as of the level, and when it no
// longer exists.
func TestAccountSubscription(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 3})
	e := listen(t, n.WebSocketURL())
	there := n.NewAddress()
	early := e.subscribe("accountSubscribe", there, object{"commitment": "confirmed", "encoding": "base64"})
	final := e.subscribe("accountSubscribe", w.address(), object{"encoding": "base64"})
	hash := latest(t, n, "finalized")
	if _, code, message, _ := (plan{from: w, to: there, lamports: 2*sol - 5000, blockhash: hash}).send(t, n,
		object{}); code != 0 {
		t.Fatal(message)
	}
	mine(t, n, 1)
	e.silent()
	mine(t, n, 1)
	method, notified := e.next(early)
	value := notified.(object)["value"].(object)
	if method != "accountNotification" || text(t, value["lamports"]) != "1999995000" ||
		value["owner"] != strings.Repeat("1", 32) ||
		text(t, value["data"]) != `["","base64"]` || text(t, value["space"]) != "0" {
		t.Errorf("%s notifies %s", method, text(t, notified))
	}
	mine(t, n, 1)
	e.silent()
	mine(t, n, 1)
	if _, notified := e.next(final); text(t, notified.(object)["value"].(object)["lamports"]) != "0" {
		t.Errorf("the notification of a deleted account is %s, want %q", text(t, notified), "0")
	}
	mine(t, n, 3)
	e.silent()
}

// TestInvalidSubscriptionsAreRefused checks that errors in a message are answered, that messages without an id are
// not, and that a connection has limits.
func TestInvalidSubscriptionsAreRefused(t *testing.T) {
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
			t.Errorf("%s of %v is answered by %s, want %q in it and %v in it", test.method, test.params, answer, `"error"`,
				test.want)
		}
	}
	e.say(`{"jsonrpc":"2.0","method":"ping"}`) // as clients keep their connections alive
	e.silent()
	for message, code := range map[string]string{`rubbish`: "-32700", `{"id":1,"method":"slotSubscribe"}`: "-32600"} {
		e.say(message)
		if answer := text(t, e.read()); !strings.Contains(answer, code) {
			t.Errorf("%s is answered by %s, want %v in it", message, answer, code)
		}
	}
	for range 1000 {
		e.subscribe("rootSubscribe")
	}
	if answer := text(t, e.ask("rootSubscribe")); !strings.Contains(answer, "limit reached") {
		t.Errorf("the 1001st is answered by %s, want %q in it", answer, "limit reached")
	}
	mine(t, n, 5) // more than may wait for a client that does not read
	for {
		if _, _, err := e.conn.Read(e.ctx); err != nil {
			if e.ctx.Err() != nil {
				t.Error("a client that does not read is not disconnected")
			}
			break
		}
	}
}

// TestWebSocketPorts checks that WebSockets are served on the JSON-RPC port and on the one after it, and end with the
// node.
func TestWebSocketPorts(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	same := strings.Replace(n.URL(), "http", "ws", 1)
	if after := portAfter(t, same); n.WebSocketURL() != after {
		t.Errorf("WebSockets are at %s, JSON-RPC at %s, want %v", n.WebSocketURL(), n.URL(), after)
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
			t.Errorf("a connection outlives the node: %v, want an error and nil", err)
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

// TestWebSocketPortTaken checks that WebSockets are on the JSON-RPC port alone if the port after it is in use.
func TestWebSocketPortTaken(t *testing.T) {
	t.Parallel()
	for range 100 {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		before := taken.Addr().(*net.TCPAddr).Port - 1
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(before))
		n, err := solana.Start(t.Context(), solana.Config{Options: host.Options{Listen: address}})
		if err != nil {
			continue // the port before it is in use
		}
		defer n.Close()
		if n.WebSocketURL() != strings.Replace(n.URL(), "http", "ws", 1) {
			t.Errorf("with the next port in use WebSockets are at %s, JSON-RPC at %s", n.WebSocketURL(), n.URL())
		}
		listen(t, n.WebSocketURL()).subscribe("slotSubscribe")
		return
	}
	t.Fatal("no port was free below one that was in use")
}
