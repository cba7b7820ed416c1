package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// account is what POST /account of the sandbox's control answers.
type account struct {
	AccountID string `json:"accountID"`
	Key       string `json:"apiKey"`
	Secret    string `json:"apiSecret"`
}

// deployment is the service with its chains: the sandbox runs the chains and their remote control, and the real binary
// the service. The service can be started and stopped again beside the chains.
type deployment struct {
	bursar   string // program
	dir      string // configuration, seed and account
	api      string // host:port
	control  string // http://host:port
	admin    string
	database string
	nodes    map[string]string // URL of each chain's node
	account  account
	chain    *process
	service  *process
	ready    time.Duration // from the start of the service's process until it was ready
}

// prepare starts chains and writes the service's configuration, seed and an account; the database has its schema then.
func prepare(ctx context.Context, p programs, dir, database string, chains []string) (*deployment, error) {
	api, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	admin, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	d := &deployment{bursar: p.bursar, dir: dir, api: api, admin: admin, database: database, nodes: map[string]string{}}
	d.chain, err = start(ctx, "sandbox", p.sandbox, nil, "--json", "--apart", "--chains", strings.Join(chains, ","),
		"--blocks", "manual", "--data", dir, "--database", database, "--listen", api, "--admin", admin,
		"--control", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	text, err := d.chain.line()
	if err != nil {
		return nil, err
	}
	var info struct {
		Control string `json:"control"`
		Chains  map[string]struct {
			RPC string `json:"rpc"`
		} `json:"chains"`
		account
	}
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		d.chain.stop()
		return nil, fmt.Errorf("the sandbox says %.200q: %w", text, err)
	}
	d.control, d.account = info.Control, info.account
	for name, c := range info.Chains {
		d.nodes[name] = c.RPC
	}
	return d, nil
}

// readyWithin bounds how long the service may take to start.
const readyWithin = 5 * time.Minute

// serve starts the service and waits until it is ready. Variables of the environment override the configuration.
func (d *deployment) serve(ctx context.Context, variables ...string) (err error) {
	env := append([]string{
		"BURSAR_PASSPHRASE_FILE=" + filepath.Join(d.dir, "passphrase"),
		"BURSAR_WEBHOOKS_ALLOW_NETWORKS=127.0.0.0/8",
		"BURSAR_LISTEN=" + d.api,
		"BURSAR_ADMIN_LISTEN=" + d.admin,
		"BURSAR_ADMIN_PPROF=on",
	}, variables...)
	began := time.Now()
	d.service, err = start(ctx, "bursar", d.bursar, env,
		"serve", "--config", filepath.Join(d.dir, "bursar.yaml"), "--log-level", "warn")
	if err != nil {
		return err
	}
	err = waitEvery(ctx, 2*time.Millisecond, readyWithin, func() error {
		return exchange(ctx, http.MethodGet, "http://"+d.api+"/readyz", nil, nil, &struct{}{})
	})
	d.ready = time.Since(began)
	if err != nil {
		d.halt()
		return fmt.Errorf("the service did not become ready: %w\n%s", err, lastLines(d.service.log.String(), 20))
	}
	return nil
}

// halt stops the service and leaves the chains running.
func (d *deployment) halt() {
	if d.service != nil {
		d.service.stop()
	}
}

func (d *deployment) stop() {
	d.halt()
	d.chain.stop()
}

// another returns a deployment of a further replica on the same database and chains, with marks of its own. It has no
// service yet.
func (d *deployment) another(ctx context.Context, dir string) (*deployment, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"bursar.yaml", "seed.age", "passphrase"} {
		text, err := os.ReadFile(filepath.Join(d.dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	r := *d
	r.dir, r.service = dir, nil
	var err error
	if r.api, err = freePort(ctx); err != nil {
		return nil, err
	}
	if r.admin, err = freePort(ctx); err != nil {
		return nil, err
	}
	return &r, r.command(ctx, "recovery", "join", "--config", filepath.Join(dir, "bursar.yaml"))
}

// command runs a command of the service's program to its end.
func (d *deployment) command(ctx context.Context, args ...string) error {
	return d.commandIn(ctx, []string{"BURSAR_PASSPHRASE_FILE=" + filepath.Join(d.dir, "passphrase")}, args...)
}

// commandIn is command with other variables of the environment.
func (d *deployment) commandIn(ctx context.Context, variables []string, args ...string) error {
	p, err := start(ctx, "bursar "+args[0], d.bursar, variables, args...)
	if err != nil {
		return err
	}
	_ = p.input.Close()
	_, _ = io.Copy(io.Discard, p.lines)
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, lastLines(p.log.String(), 20))
	}
	return nil
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
	if !success(got.StatusCode) {
		return fmt.Errorf("%s %s: %s %.300s", method, url, got.Status, text)
	}
	return json.Unmarshal(text, answer)
}

var errNotYet = errors.New("not yet")
