package solana

import "strings"

// The kinds of subscriptions, as their methods begin.
const (
	ofSignature = "signature"
	ofAccount   = "account"
	ofSlot      = "slot"
	ofRoot      = "root"
)

// subscription is one subscription of a client.
type subscription struct {
	kind     string
	level    level     // of a signature or an account
	id       signature // of a signature
	receipt  bool      // also notify when the node has received it
	key      key       // of an account
	options  options   // of an account
	last     account   // of an account: what was notified last
	received bool      // the notification of receipt was sent
}

// subscribe answers a method of the WebSocket, which has no other methods (Agave: rpc_pubsub).
func (n *Node) subscribe(f *feed, method string, p params) (any, error) {
	if kind, ends := strings.CutSuffix(method, "Unsubscribe"); ends && isKind(kind) {
		return n.unsubscribe(f, kind, p)
	}
	kind, begins := strings.CutSuffix(method, "Subscribe")
	if !begins || !isKind(kind) {
		return nil, fail(codeNoMethod, "Method not found")
	}
	if len(f.subs) >= maxSubscriptions {
		return nil, fail(codeInternal, "Internal Error: Subscription refused. Node subscription limit reached")
	}
	s, err := n.wanted(kind, p)
	if err != nil {
		return nil, err
	}
	n.subscribed++
	f.subs[n.subscribed] = s
	return n.subscribed, nil
}

func isKind(kind string) bool {
	return kind == ofSignature || kind == ofAccount || kind == ofSlot || kind == ofRoot
}

// wanted parses the parameters of a subscription.
func (n *Node) wanted(kind string, p params) (*subscription, error) {
	s := &subscription{kind: kind}
	if kind == ofSlot || kind == ofRoot {
		return s, nil
	}
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	s.level, s.options = o.Commitment, o
	if kind == ofAccount {
		if s.key, err = p.key(0); err != nil {
			return nil, err
		}
		if _, err := n.viewAccount(s.key, o); err != nil {
			return nil, err // an unknown encoding
		}
		s.last = n.bank.accountAt(n.bank.place(s.level), s.key)
		return s, nil
	}
	var text string
	if err := p.get(0, &text); err != nil {
		return nil, err
	}
	if s.id, err = paramSignature(text); err != nil {
		return nil, err
	}
	s.receipt = o.Received
	return s, nil
}

func (n *Node) unsubscribe(f *feed, kind string, p params) (any, error) {
	var id uint64
	if err := p.get(0, &id); err != nil {
		return nil, err
	}
	if s := f.subs[id]; s == nil || s.kind != kind {
		return nil, fail(codeParams, "Invalid subscription id.")
	}
	delete(f.subs, id)
	return true, nil
}
