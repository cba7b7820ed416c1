package solana

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxFeeds limits WebSocket connections.
	maxFeeds = 256
	// maxSubscriptions limits the subscriptions of one connection.
	maxSubscriptions = 1000
	// maxUnsent limits the messages that wait for a client. A slower one is disconnected, as a node does: it knows
	// then that it missed something, and connects again.
	maxUnsent = 1024
	// writeTime limits how long a client may take to receive a message.
	writeTime = 30 * time.Second
)

// feed is a WebSocket connection with its subscriptions.
type feed struct {
	out  chan []byte
	drop context.CancelFunc       // ends the connection
	subs map[uint64]*subscription // guarded by the node's lock
}

// webSocket serves one connection until it ends, is cut off, or the node is closed.
func (n *Node) webSocket(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.Background()) // a hijacked connection has no context of its own
	defer cancel()
	f := &feed{out: make(chan []byte, maxUnsent), drop: cancel, subs: map[uint64]*subscription{}}
	if !n.admit(f) {
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	defer n.dismiss(f)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // open to any page
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxBody)
	go func() {
		defer cancel()
		f.send(ctx, conn)
	}()
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		n.hear(f, text)
	}
}

// admit counts a connection, unless there are too many or the node is closed.
func (n *Node) admit(f *feed) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || len(n.feeds) >= maxFeeds {
		return false
	}
	n.feeds[f] = true
	return true
}

func (n *Node) dismiss(f *feed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.feeds, f)
}

// dropFeeds closes every connection and refuses new ones.
func (n *Node) dropFeeds() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for f := range n.feeds {
		f.drop()
	}
	return nil
}

func (f *feed) send(ctx context.Context, conn *websocket.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-f.out:
			limited, cancel := context.WithTimeout(ctx, writeTime)
			err := conn.Write(limited, websocket.MessageText, text)
			cancel()
			if err != nil {
				return
			}
		}
	}
}

// queue sends a message after those that already wait.
func (f *feed) queue(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		f.drop()
		return
	}
	select {
	case f.out <- text:
	default:
		f.drop()
	}
}

// hear answers one message. One without an id gets no answer: clients keep connections alive with such messages.
func (n *Node) hear(f *feed, text []byte) {
	var req request
	if err := json.Unmarshal(text, &req); err != nil {
		f.queue(reply(nil, nil, fail(codeParse, "Parse error")))
		return
	}
	if req.ID == nil {
		return
	}
	if req.Version != "2.0" || req.Method == "" {
		f.queue(reply(req.ID, nil, fail(codeInvalidRequest, "Invalid request")))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	result, err := n.subscribe(f, req.Method, params(req.Params))
	f.queue(reply(req.ID, result, err))
	n.describe(nil) // notifies about what has already happened
}
