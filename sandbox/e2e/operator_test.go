package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/store/storetest"
)

// operatorCLI is the service as an operator runs it, `bursar serve`, with a bitcoin node and a database that can be
// disconnected.
type operatorCLI struct {
	*testing.T
	dir, program string
	database     *line
	account      string
	vars         map[string]string // for the commands of the documentation
	stopDatabase bool
}

// newOperatorCLI starts a service and creates an account.
func newOperatorCLI(t *testing.T) *operatorCLI {
	t.Helper()
	o := &operatorCLI{T: t, dir: storetest.Folder(t), program: build(t).bursar, vars: map[string]string{}}
	curlrc(t, o.dir)
	node, err := chains.Start(t.Context(), "bitcoin",
		chains.Options{Manual: true, Mined: func() {}, Log: slog.New(slog.DiscardHandler)})
	o.need(err)
	t.Cleanup(func() { node.Close() })
	o.need(node.Mine(1))
	o.database = newLine(t, storetest.ServicePostgres(t))
	o.write("bursar.yaml", "listen: 127.0.0.1:0\nadmin_listen: off\nnetwork: regtest\npoll_interval: 100ms\ndatabase: "+
		o.database.through+
		"\nchains: {bitcoin: "+node.Settings+"}\ncurrencies: {BTC: {withdrawal_maximum: 500}}\n"+
		// two feeds that differ: no rate counts
		"prices: {feeds: {a: {rates: {EUR: {BTC: 60000}}}, b: {rates: {EUR: {BTC: 50000}}}}}\n")
	o.run("seed", "new")
	var made struct{ AccountID, APIKey, APISecret string }
	o.need(json.Unmarshal(o.run("account", "create", "--name", "shop", "--json"), &made))
	var status []struct{ HotAddress string }
	o.need(json.Unmarshal(o.run("chain", "status", "--json"), &status))
	address, err := node.NewAddress()
	o.need(err)
	o.account = made.AccountID
	o.vars["KEY"], o.vars["SECRET"], o.vars["HOT"], o.vars["ADDRESS"] = made.APIKey, made.APISecret, status[0].HotAddress,
		address
	o.vars["ACCOUNT"] = o.account
	o.vars["API"] = o.serve("bursar.yaml")
	return o
}

// public runs a service on a public network, where limits apply, and returns its address. Its node is unreachable.
func (o *operatorCLI) public() string {
	o.Helper()
	o.write("public.yaml",
		"listen: 127.0.0.1:0\nadmin_listen: off\nnetwork: testnet\ndatabase: sqlite:public.db\nseed_file: "+
			"seed.age\nsigner: {state: public.state}\nchains: {bitcoin: {rpc: ['http://127.0.0.1:1']}}\n") // one signer a state
	return o.serve("public.yaml")
}

func (o *operatorCLI) need(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *operatorCLI) write(name, text string) {
	o.Helper()
	o.need(os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600))
}

func (o *operatorCLI) command(args ...string) *exec.Cmd {
	c := exec.Command(o.program, args...)
	c.Dir, c.Env = o.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.dir, "BURSAR_PASSPHRASE=correct horse"}
	return c
}

// run runs an operator's command.
func (o *operatorCLI) run(args ...string) []byte {
	o.Helper()
	c := o.command(args...)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		o.Fatalf("bursar %v: %v\n%s", args, err, &complaint)
	}
	return out
}

// serve runs the service until the test ends and returns its address.
func (o *operatorCLI) serve(config string) string {
	o.Helper()
	c := o.command("serve", "--config", config, "--log-format", "json")
	errors, err := c.StderrPipe()
	o.need(err)
	o.need(c.Start())
	o.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may be gone already
		_ = c.Wait()                          // how it ends without a database is not part of this test
	})
	lines := bufio.NewScanner(errors)
	for lines.Scan() {
		var said struct{ Msg, Address string }
		o.need(json.Unmarshal(lines.Bytes(), &said))
		if said.Msg == "listening" {
			go func() { _, _ = io.Copy(io.Discard, errors) }()
			return said.Address
		}
	}
	o.Fatal("the service does not listen")
	return ""
}

// line is a connection to a database that can be cut.
type line struct {
	url, through string // open connections to the database
	listener     net.Listener

	mu   sync.Mutex
	open []net.Conn
	gone bool
}

// newLine opens a line to a database on a local socket.
func newLine(t *testing.T, database string) *line {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	far := u.Query().Get("host")
	near, err := os.MkdirTemp("", "line-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(near) })
	const socket = ".s.PGSQL.5432"
	l := &line{url: database, through: strings.Replace(database, far, near, 1)}
	if l.listener, err = net.Listen("unix", filepath.Join(near, socket)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.cut)
	go l.accept(filepath.Join(far, socket))
	return l
}

func (l *line) accept(far string) {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		other, err := net.Dial("unix", far)
		if err != nil || !l.keep(near, other) {
			near.Close()
			continue
		}
		go func() { _, _ = io.Copy(near, other) }()
		go func() { _, _ = io.Copy(other, near) }()
	}
}

func (l *line) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, conns...)
	return !l.gone
}

// cut ends every connection and refuses new ones.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	l.listener.Close()
	for _, conn := range l.open {
		conn.Close()
	}
}
