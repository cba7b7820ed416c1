package solana

import (
	"maps"
	"slices"
)

// notification is a message that does not answer a call.
type notification struct {
	Version string           `json:"jsonrpc"`
	Method  string           `json:"method"`
	Params  notificationBody `json:"params"`
}

type notificationBody struct {
	Result       any    `json:"result"`
	Subscription uint64 `json:"subscription"`
}

// slotInfo is the notification of slotSubscribe about a block.
type slotInfo struct {
	Parent uint64 `json:"parent"`
	Root   uint64 `json:"root"`
	Slot   uint64 `json:"slot"`
}

// describe sends subscribers what they have not been sent: the blocks that were just made, and the changes of
// signatures and accounts. It runs after every change, under the lock.
func (n *Node) describe(fresh []*block) {
	roots := n.newRoots()
	for f := range n.feeds {
		for _, id := range slices.Sorted(maps.Keys(f.subs)) {
			s := f.subs[id]
			push := func(result any) {
				f.queue(notification{"2.0", s.kind + "Notification", notificationBody{result, id}})
			}
			switch s.kind {
			case ofSlot:
				for _, x := range fresh {
					push(slotInfo{n.bank.parent(x).slot, n.bank.at(finalized).slot, x.slot})
				}
			case ofRoot:
				for _, x := range roots {
					push(x.slot)
				}
			case ofAccount:
				n.notifyAccount(s, push)
			case ofSignature:
				if n.notifySignature(s, push) {
					delete(f.subs, id) // it notifies once
				}
			}
		}
	}
}

// newRoots returns the blocks that were finalized since the last call.
func (n *Node) newRoots() []*block {
	from := min(n.notifiedRoot, n.bank.final) // a rollback removes roots
	n.notifiedRoot = n.bank.final
	return n.bank.blocks[from+1 : n.bank.final+1]
}

// notifyAccount notifies about an account that has changed, as of the subscription's level.
func (n *Node) notifyAccount(s *subscription, push func(any)) {
	now := n.bank.accountAt(n.bank.place(s.level), s.key)
	if now.same(s.last) {
		return
	}
	s.last = now
	view, err := n.viewAccount(s.key, s.options)
	if err != nil {
		return // the options were checked before
	}
	if view == nil { // the account no longer exists
		view = &accountView{Data: []string{"", "base64"}, RentEpoch: never}
	}
	push(n.in(s.level, view))
}

// notifySignature notifies about a transaction that has reached the subscription's level, and reports whether it did.
func (n *Node) notifySignature(s *subscription, push func(any)) bool {
	t := n.find(s.id, s.level)
	if known := n.pool.has(s.id) || n.bank.byID[s.id] != nil; s.receipt && !s.received && known {
		s.received = true
		push(n.in(processed, "receivedSignature"))
	}
	if t == nil {
		return false
	}
	push(n.in(s.level, map[string]any{"err": t.err}))
	return true
}
