package xrpl

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
)

// announced limits the messages that wait for a slow client. Ledgers beyond that are not announced to it.
const announced = 256

// webSocket serves one connection: commands in, answers and closed ledgers out.
func (n *Node) webSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // open to any page
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxBody)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-n.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	out := make(chan []byte, announced)
	defer n.unsubscribe(out)
	go func() {
		defer cancel()
		send(ctx, conn, out)
	}()
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		select {
		case out <- n.command(text, out):
		case <-ctx.Done():
			return
		}
	}
}

func send(ctx context.Context, conn *websocket.Conn, out <-chan []byte) {
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-out:
			limited, cancel := context.WithTimeout(ctx, 30*time.Second)
			err := conn.Write(limited, websocket.MessageText, text)
			cancel()
			if err != nil {
				return
			}
		}
	}
}

// command answers one message.
func (n *Node) command(text []byte, out chan []byte) []byte {
	var head struct {
		ID      json.RawMessage `json:"id"`
		Command string          `json:"command"`
		Version int             `json:"api_version"`
	}
	answer := object{"type": "response", "status": "success"}
	if err := json.Unmarshal(text, &head); err != nil || head.Command == "" {
		answer["status"], answer["error"], answer["type"] = "error", "missingCommand", "response"
		return encodeObject(answer)
	}
	if head.ID != nil {
		answer["id"] = head.ID
	}
	if head.Version > 0 {
		answer["api_version"] = head.Version
	}
	result, refused := n.subscription(head.Command, text, out)
	if result == nil && refused == nil {
		result, refused = n.answer(head.Command, text)
	}
	if refused != nil {
		for key, value := range refused.object(head.Command, text) {
			answer[key] = value
		}
		return encodeObject(answer)
	}
	answer["result"] = result
	return encodeObject(answer)
}

func encodeObject(o object) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		return []byte(`{"type":"response","status":"error","error":"internal"}`)
	}
	return text
}

// subscription answers subscribe and unsubscribe, and nothing else. Only the ledger stream exists; others are
// accepted and stay silent.
func (n *Node) subscription(command string, text []byte, out chan []byte) (object, *refusal) {
	var q query
	if command != "subscribe" && command != "unsubscribe" {
		return nil, nil
	}
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, invalid("Invalid parameters.")
	}
	if !slices.Contains(q.Streams, "ledger") {
		return object{}, nil
	}
	if command == "unsubscribe" {
		n.unsubscribe(out)
		return object{}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[out] = true
	return n.ledgerMessage(n.shown()), nil
}

func (n *Node) unsubscribe(out chan []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.streams, out)
}

func (n *Node) ledgerMessage(l *ledger) object {
	return object{
		"fee_base": baseFee, "ledger_hash": l.hash.String(), "ledger_index": l.index, "ledger_time": l.close,
		"network_id":   n.cfg.NetworkID,
		"reserve_base": reserveBase, "reserve_inc": reserveOwner, "validated_ledgers": n.complete(),
	}
}

// announce notifies subscribers of the newest ledger. A subscriber that does not read misses it: the stream is a
// hint.
func (n *Node) announce() {
	if n.frozen > 0 || len(n.streams) == 0 {
		return
	}
	message := n.ledgerMessage(n.tip())
	message["type"], message["txn_count"] = "ledgerClosed", len(n.tip().txs)
	text := encodeObject(message)
	for out := range n.streams {
		select {
		case out <- text:
		default:
		}
	}
}
