package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // callTracer and prestateTracer
	"github.com/ethereum/go-ethereum/rpc"
)

const (
	maxBody      = 5 << 20  // geth's own limit for a request
	maxBatch     = 1000     // geth's own limit for calls in a batch
	maxBatchSize = 25 << 20 // geth's own limit for the answer to a batch
)

// handler serves go-ethereum's own methods: eth, net, web3, txpool, and debug when tracing is on.
func (n *Node) handler() (http.Handler, error) {
	served := map[string]bool{"eth": true, "net": true, "web3": true, "txpool": true, "debug": n.cfg.Tracing}
	server := rpc.NewServer()
	server.SetHTTPBodyLimit(maxBody)
	server.SetBatchLimits(maxBatch, maxBatchSize)
	for _, api := range n.services() {
		if !served[api.Namespace] {
			continue
		}
		if err := server.RegisterName(api.Namespace, api.Service); err != nil {
			return nil, fmt.Errorf("register namespace %s: %w", api.Namespace, err)
		}
	}
	sockets, err := n.subscriptions()
	if err != nil {
		return nil, err
	}
	n.host.OnClose(func() error { sockets.Stop(); return nil })
	return upgraded(sockets.WebsocketHandler([]string{"*"}), n.gated(server)), nil
}

// services lists everything that could be served. A later service replaces the methods that it shares with an earlier
// one.
func (n *Node) services() []rpc.API {
	backend := n.eth.APIBackend
	list := n.eth.APIs()
	system := filters.NewFilterSystem(backend, filters.Config{})
	list = append(list, rpc.API{Namespace: "eth", Service: filters.NewFilterAPI(system)})
	list = append(list, tracers.APIs(backend)...)
	list = append(list, rpc.API{Namespace: "web3", Service: &web3{n.stack.Server().Name}})
	for _, api := range list {
		if s, ok := api.Service.(sender); ok {
			return append(list, rpc.API{Namespace: "eth", Service: &submission{n, s}})
		}
	}
	return list
}

// gated lets a request see whole blocks only. The body is read first: a slow client must not hold up Mine.
func (n *Node) gated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "cannot read the request body", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		n.gate.RLock()
		defer n.gate.RUnlock()
		next.ServeHTTP(w, r)
	})
}

// sender is the part of go-ethereum's transaction service that submission wraps.
type sender interface {
	SendRawTransaction(ctx context.Context, input hexutil.Bytes) (common.Hash, error)
}

// submission writes a transaction to the journal before go-ethereum sees it. It runs behind the gate.
type submission struct {
	node *Node
	next sender
}

// SendRawTransaction is eth_sendRawTransaction.
func (s *submission) SendRawTransaction(ctx context.Context, input hexutil.Bytes) (common.Hash, error) {
	if len(input) > 0 && input[0] == types.BlobTxType {
		return common.Hash{}, types.ErrTxTypeNotSupported // its blobs are gone when a reorg needs them again
	}
	if err := s.node.journal.Append(input); err != nil {
		return common.Hash{}, err
	}
	return s.next.SendRawTransaction(ctx, input)
}

// SendRawTransactionSync is eth_sendRawTransactionSync, which would wait behind the gate for a block that cannot
// come.
func (s *submission) SendRawTransactionSync(context.Context, hexutil.Bytes, *uint64) (common.Hash, error) {
	return common.Hash{}, errors.New("the sandbox does not wait for blocks: use eth_sendRawTransaction")
}

// web3 is go-ethereum's service of that name, which its package does not export.
type web3 struct{ name string }

// ClientVersion is web3_clientVersion.
func (w *web3) ClientVersion() string { return w.name }

// Sha3 is web3_sha3: Keccak-256.
func (*web3) Sha3(input hexutil.Bytes) hexutil.Bytes { return crypto.Keccak256(input) }
