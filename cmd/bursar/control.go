package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// control is the remote control of a sandbox.
type control struct {
	base string
	key  string // of the account as which charges are paid
}

// localControl is where a sandbox's remote control listens if nothing else is asked for.
const localControl = "http://127.0.0.1:8082"

func (c *call) controlAt(url string) control {
	return control{base: strings.TrimSuffix(cmp.Or(url, c.Getenv("BURSAR_CONTROL"), localControl), "/")}
}

// controlWithin bounds one request to the remote control, which makes blocks before it answers.
const controlWithin = time.Minute

func (r control) get(ctx context.Context, path string, answer any) error {
	return r.do(ctx, http.MethodGet, path, nil, answer)
}

func (r control) post(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return r.do(ctx, http.MethodPost, path, body, answer)
}

func (r control) do(ctx context.Context, method, path string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, controlWithin)
	defer cancel()
	asked, err := http.NewRequestWithContext(ctx, method, r.base+"/"+path, bytes.NewReader(body))
	if err != nil {
		return wrong("--control is not a URL: %v", err)
	}
	asked.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(asked)
	if err != nil {
		return fmt.Errorf("no sandbox answers at %s: start one, or name its --control: %w", r.base, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var refusal struct{ Error string }
		if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
			return fmt.Errorf("%s is not a sandbox's remote control: it answers %s", r.base, response.Status)
		}
		return errors.New("the sandbox refuses: " + refusal.Error)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s is not a sandbox's remote control: %w", r.base, err)
	}
	return nil
}

// serves refuses a service that is not the sandbox's own: nothing is to be made at a real one.
func (r control) serves(ctx context.Context, api string) error {
	var own struct{ URL string }
	if err := r.get(ctx, "api/url", &own); err != nil {
		return err
	}
	if !sameServer(own.URL, api) {
		return wrong("the sandbox at %s is of %.200s, and the key is of %s: name the sandbox's service by --api or a "+
			"profile", r.base, own.URL, api)
	}
	return nil
}

// sameServer reports whether two URLs name one server, where all names of this machine are one.
func sameServer(one, two string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(two)
	return errors.Join(errA, errB) == nil && a.Host != "" && a.Scheme == b.Scheme && portOf(a) == portOf(b) &&
		machineOf(a) == machineOf(b)
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

func machineOf(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); name == "localhost" || err == nil && ip.IsLoopback() {
		return "localhost"
	}
	return name
}

// pay pays an address with coins of the sandbox and returns the transaction's hash.
func (r control) pay(ctx context.Context, code bursar.CurrencyCode, address, amount string) (string, error) {
	var paid struct{ HashID string }
	err := r.post(ctx, "pay", map[string]any{"currency": code, "address": address, "amount": amount}, &paid)
	return paid.HashID, err
}

// chainOf returns the chain of a currency and its height.
func (r control) chainOf(ctx context.Context, code bursar.CurrencyCode) (chain string, height uint64, err error) {
	var view struct {
		Chains map[string]struct {
			Height     uint64
			Currencies []bursar.CurrencyCode
		}
	}
	if err := r.get(ctx, "chains", &view); err != nil {
		return "", 0, err
	}
	for name, c := range view.Chains {
		if slices.Contains(c.Currencies, code) {
			return name, c.Height, nil
		}
	}
	return "", 0, fmt.Errorf("the sandbox has no chain of %s", code)
}
