package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// programs are the binaries that are measured.
type programs struct{ bursar, sandbox, self string }

func build(ctx context.Context, dir string) (programs, error) {
	self, err := os.Executable()
	if err != nil {
		return programs{}, fmt.Errorf("find this program: %w", err)
	}
	p := programs{bursar: filepath.Join(dir, "bursar"), sandbox: filepath.Join(dir, "sandbox"), self: self}
	for path, pkg := range map[string]string{p.bursar: "./cmd/bursar", p.sandbox: "./sandbox"} {
		command := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
		if out, err := command.CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return p, nil
}

// process is a program of this run; it ends when the run ends.
type process struct {
	name    string
	command *exec.Cmd
	lines   *bufio.Reader // its standard output
	log     *bytes.Buffer
	input   io.Closer
}

// start starts a program. It outlives the context, until stop.
func start(ctx context.Context, name, program string, env []string, args ...string) (*process, error) {
	command := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	p := &process{name: name, command: command, log: &bytes.Buffer{}}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = p.log
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.lines = bufio.NewReader(out)
	return p, nil
}

// line returns the next line of the standard output.
func (p *process) line() (string, error) {
	text, err := p.lines.ReadString('\n')
	if err != nil {
		p.stop()
		return "", fmt.Errorf("%s ended: %w\n%s", p.name, err, lastLines(p.log.String(), 20))
	}
	return strings.TrimSpace(text), nil
}

// stop ends the process and waits for it; one that does not end by itself is killed.
func (p *process) stop() {
	_ = p.input.Close()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { _ = p.command.Process.Kill() })
	defer kill.Stop()
	_, _ = io.Copy(io.Discard, p.lines)
	_ = p.command.Wait()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// account is what POST /account of the sandbox's control answers.
type account struct {
	AccountID string `json:"accountID"`
	Key       string `json:"apiKey"`
	Secret    string `json:"apiSecret"`
}

// deployment is the service with a chain: the sandbox runs the chain and its remote control, and the real binary the
// service.
type deployment struct {
	api      string // host:port
	control  string // http://host:port
	admin    string
	chain    *process
	service  *process
	account  account
	database string
}

func deploy(ctx context.Context, p programs, dir, database string) (*deployment, error) {
	api, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	admin, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	d := &deployment{api: api, admin: admin, database: database}
	d.chain, err = start(ctx, "sandbox", p.sandbox, nil, "--json", "--apart", "--chains", "bitcoin", "--blocks", "manual",
		"--data", dir, "--database", database, "--listen", api, "--admin", admin, "--control", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	text, err := d.chain.line()
	if err != nil {
		return nil, err
	}
	var info struct {
		Control string `json:"control"`
		account
	}
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		d.chain.stop()
		return nil, fmt.Errorf("the sandbox says %.200q: %w", text, err)
	}
	d.control, d.account = info.Control, info.account
	d.service, err = start(ctx, "bursar", p.bursar, []string{
		"BURSAR_PASSPHRASE_FILE=" + filepath.Join(dir, "passphrase"),
		"BURSAR_WEBHOOKS_ALLOW_NETWORKS=127.0.0.0/8",
	}, "serve", "--config", filepath.Join(dir, "bursar.yaml"), "--log-level", "warn")
	if err != nil {
		d.chain.stop()
		return nil, err
	}
	err = until(ctx, 60*time.Second, func() error {
		return exchange(ctx, http.MethodGet, "http://"+api+"/readyz", nil, nil, &struct{}{})
	})
	if err != nil {
		d.stop()
		return nil, fmt.Errorf("the service did not become ready: %w\n%s", err, lastLines(d.service.log.String(), 20))
	}
	return d, nil
}

func (d *deployment) stop() {
	d.service.stop()
	d.chain.stop()
}

// post sends a request to the remote control of the chain and decodes its answer.
func (d *deployment) post(ctx context.Context, path string, body, answer any) error {
	return exchange(ctx, http.MethodPost, d.control+path, nil, body, answer)
}

// call sends a request to the API for an account and decodes the answer's response.
func (d *deployment) call(ctx context.Context, a account, method, path string, body, response any) error {
	var answer struct {
		Response json.RawMessage `json:"response"`
	}
	header := http.Header{"X-Api-Key": {a.Key}, "X-Api-Secret": {a.Secret}}
	if err := exchange(ctx, method, "http://"+d.api+"/api/v1"+path, header, body, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.Response, response)
}

func exchange(ctx context.Context, method, url string, header http.Header, body, answer any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s %.300s", method, url, got.Status, text)
	}
	return json.Unmarshal(text, answer)
}

// freePort returns an address of loopback on which nothing listens now.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

var errNotYet = errors.New("not yet")
