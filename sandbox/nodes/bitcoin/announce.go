package bitcoin

import (
	"context"
	"encoding/binary"
	"encoding/hex"

	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

// announcer publishes the best block as bitcoind does with -zmqpubhashblock.
type announcer struct {
	*pushtest.Publisher
	best   chainhash.Hash
	number uint32 // sequence number of the next message
}

// openAnnouncer starts publishing on a free port of loopback.
func (n *Node) openAnnouncer(ctx context.Context) error {
	p, err := pushtest.Publish(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.host.OnClose(p.Close)
	n.announcer = &announcer{Publisher: p, best: n.tip().hash}
	return nil
}

// Announces is the address where blocks are announced: a ZeroMQ publisher of hashblock, tcp://127.0.0.1:port.
func (n *Node) Announces() string { return n.announcer.URL() }

// announce publishes the best block if it has changed (Bitcoin Core, zmq/zmqpublishnotifier.cpp: the hash as it is
// printed, then a number). The caller still holds the lock, so a subscriber that calls at once waits until the chain
// has changed.
func (n *Node) announce() {
	if n.announcer == nil || n.tip().hash == n.announcer.best {
		return
	}
	n.announcer.best = n.tip().hash
	hash, err := hex.DecodeString(n.announcer.best.String())
	if err != nil {
		return // it is hexadecimal: decoding never fails
	}
	n.announcer.Send([]byte("hashblock"), hash, binary.LittleEndian.AppendUint32(nil, n.announcer.number))
	n.announcer.number++
}
