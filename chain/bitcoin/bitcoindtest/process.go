// Package bitcoindtest runs a real bitcoind, or Litecoin's litecoind, on a private chain for tests.
//
// It owns the process, its data directory and an outsider's wallet in it, all of which end with the test. It does not
// know the adapter: everything that it reports about the chain comes from the node.
package bitcoindtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/chain/rpc"
)

const (
	user, password = "test", "test"
	wallet         = "outsider"
	patience       = 60 * time.Second // timeout of a start or a stop on a busy machine
)

// Node is a node with mature UTXOs in an outsider's wallet. Its methods fail the test if the node refuses.
type Node struct {
	URL      string // with credentials
	software software
	binary   string
	folder   string
	port     int
	cmd      *exec.Cmd
	exited   chan struct{} // closed when cmd has ended
	output   bytes.Buffer
	rpc      *rpc.Client
	wallet   *rpc.Client
}

// Start runs a bitcoind until the end of the test.
func Start(t testing.TB) *Node {
	t.Helper()
	return start(t, bitcoind())
}

// Announcing is a bitcoind that publishes its blocks over ZeroMQ.
type Announcing struct {
	*Node
	Announces []string // its publishers' addresses: hashes over TCP, whole blocks over a Unix socket
}

// StartAnnouncing runs a bitcoind that announces blocks until the end of the test.
func StartAnnouncing(t testing.TB) *Announcing {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{fmt.Sprintf("tcp://127.0.0.1:%d", port), "ipc://" + filepath.Join(t.TempDir(), "zmq")}
	s := bitcoind()
	s.options = append(s.options, "-zmqpubhashblock="+urls[0], "-zmqpubrawblock="+urls[1])
	return &Announcing{Node: start(t, s), Announces: urls}
}

// StartPruned runs until the end of the test a bitcoind that has pruned the older of its blocks, in small files
// (-fastprune), and has no transaction index. It returns the lowest block that is kept.
func StartPruned(t testing.TB) (n *Node, lowest uint64) {
	t.Helper()
	s := bitcoind()
	s.options = append(s.options, "-txindex=0", "-prune=1", "-fastprune")
	s.copied = false // other options write other files
	n = start(t, s)
	for range 11 { // the newest 288 blocks are always kept, and a file has about that many
		n.Mine(t, 50)
	}
	n.Call(t, nil, "pruneblockchain", 360)
	var info struct {
		Lowest uint64 `json:"pruneheight"`
	}
	n.Call(t, &info, "getblockchaininfo")
	if info.Lowest < 2 {
		t.Fatalf("%s has pruned nothing", s.name)
	}
	return n, info.Lowest
}

func start(t testing.TB, s software) *Node {
	t.Helper()
	if s.copied && chains.folder != "" {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(chainOf(t, s))); err != nil {
			t.Fatal(err)
		}
		return startIn(t, s, folder)
	}
	n := startIn(t, s, t.TempDir())
	s.prepare(t, n)
	return n
}

// startIn runs a node in a data directory.
func startIn(t testing.TB, s software, folder string) *Node {
	t.Helper()
	n := &Node{software: s, binary: s.find(t), folder: folder}
	t.Cleanup(n.kill)
	var err error
	for range 5 { // another process may have taken the port in the meantime
		if err = n.run(t.Context()); err == nil {
			return n
		}
	}
	t.Fatalf("start %s: %v\n%s", n.binary, err, n.output.String())
	return nil
}

// run starts the process on a free port and waits until it answers.
func (n *Node) run(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	n.port = port
	if n.rpc == nil || n.URL != n.url() {
		n.URL = n.url()
		if n.rpc, err = rpc.New(rpc.Config{URLs: []string{n.URL}, Version: rpc.V1, MinPause: time.Millisecond}); err != nil {
			return err
		}
		if n.wallet, err = n.clientOf(wallet); err != nil {
			return err
		}
	}
	return n.launch(ctx)
}

// clientOf returns a client of one of the node's wallets.
func (n *Node) clientOf(wallet string) (*rpc.Client, error) {
	return rpc.New(rpc.Config{URLs: []string{n.URL + "/wallet/" + wallet}, Version: rpc.V1, MinPause: time.Millisecond})
}

func (n *Node) url() string { return fmt.Sprintf("http://%s:%s@127.0.0.1:%d", user, password, n.port) }

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// launch starts the process on the node's port. Neither the mempool nor the wallet restores transactions after a stop.
func (n *Node) launch(ctx context.Context) error {
	n.output.Reset()
	n.cmd = exec.CommandContext(ctx, n.binary, "-regtest", "-datadir="+n.folder, "-server",
		"-rpcuser="+user, "-rpcpassword="+password, fmt.Sprintf("-rpcport=%d", n.port), "-rpcbind=127.0.0.1",
		"-rpcallowip=127.0.0.1", "-rpcworkqueue=64", "-listen=0", "-dnsseed=0", "-connect=0", "-txindex=1",
		"-fallbackfee=0.0001", "-persistmempool=0", "-walletbroadcast=0", "-keypool=10", "-dbcache=4",
		"-printtoconsole=0", "-nodebuglogfile")
	n.cmd.Args = append(n.cmd.Args, n.software.options...)
	n.cmd.Stdout, n.cmd.Stderr = &n.output, &n.output
	if err := n.cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	n.exited = exited
	go func(cmd *exec.Cmd) {
		defer close(exited)
		_ = cmd.Wait() // its output shows how it ended
	}(n.cmd)
	if err := n.await(ctx); err != nil {
		n.kill()
		return err
	}
	return nil
}

// await polls until the node answers, or has exited.
func (n *Node) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := n.rpc.Call(ctx, "getblockcount", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-n.exited:
			return errors.New("the node exited")
		case <-ctx.Done():
			return fmt.Errorf("the node does not answer: %w", err)
		}
	}
}

// restart stops the node and starts it again on the same chain, with an empty mempool.
func (n *Node) restart(t testing.TB) {
	t.Helper()
	n.stop(t)
	if err := n.launch(t.Context()); err != nil {
		t.Fatalf("start %s again: %v\n%s", n.software.name, err, n.output.String())
	}
}

// stop asks the node to end and waits until it has written everything.
func (n *Node) stop(t testing.TB) {
	t.Helper()
	n.call(t, n.rpc, nil, "stop")
	select {
	case <-n.exited:
	case <-time.After(patience):
		t.Fatalf("%s does not stop", n.software.name)
	}
}

// kill ends the process and waits for its end, so that its directory can be removed.
func (n *Node) kill() {
	if n.exited == nil {
		return
	}
	_ = n.cmd.Process.Kill()
	<-n.exited
}
