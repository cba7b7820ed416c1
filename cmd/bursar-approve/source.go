package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
)

// maxList bounds what is read from a service.
const maxList = 16 << 20

// fetchTime bounds one request.
const fetchTime = 30 * time.Second

// listed is what the service says waits, as GET /approvals and `bursar approval list --json` write it.
type listed struct {
	Instance string  `json:"instance"`
	Policy   string  `json:"policy"`
	Orders   []asked `json:"orders"`

	policy roster.Policy
}

// asked is one payment that waits. Only Text is signed; the rest is what the service says.
type asked struct {
	Text      string       `json:"text"`
	Approvals []signedText `json:"approvals"`
	Status    string       `json:"status"`
	TxID      string       `json:"txID"`
	Reason    string       `json:"reason"`

	order approval.Order
}

type signedText struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

func isURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// read reads what waits from a service or a file, and parses all that can be signed.
func (s *session) read(ctx context.Context, source string) (l listed, err error) {
	var text []byte
	if isURL(source) {
		text, err = s.request(ctx, http.MethodGet, source, nil)
	} else {
		text, err = os.ReadFile(source)
	}
	if err != nil {
		return l, fmt.Errorf("read what waits: %w", err)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("read what waits: %w", err)
	}
	if l.Policy == "" {
		return l, errors.New("the signer has no policy: nothing waits for approvals")
	}
	if l.policy, err = roster.Read(l.Policy); err != nil {
		return l, fmt.Errorf("the policy: %w", err)
	}
	for i, one := range l.Orders {
		if l.Orders[i].order, err = approval.ParseOrder(one.Text); err != nil {
			return l, fmt.Errorf("order %d: %w", i+1, err)
		}
	}
	return l, nil
}

// request sends one request and returns the body of its answer.
func (s *session) request(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("read the URL of the service: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.PasswordFile != "" {
		if r.URL.Scheme != "https" && !isLoopback(r.URL.Hostname()) {
			return nil, fmt.Errorf("the password is sent over https, or to this machine, alone; %w", errUsage)
		}
		content, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read the password: %w", err)
		}
		password, _, _ := strings.Cut(string(content), "\n")
		r.SetBasicAuth("approver", strings.TrimSuffix(password, "\r"))
	}
	refuse := func(*http.Request, []*http.Request) error { return errors.New("the service must not redirect") }
	transport, err := s.transport(r.URL.Scheme)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Timeout: fetchTime, CheckRedirect: refuse, Transport: transport}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxList+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", r.URL.Redacted(), err)
	case len(text) > maxList:
		return nil, fmt.Errorf("the answer of %s exceeds %d MiB", r.URL.Redacted(), maxList>>20)
	case answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNoContent:
		return nil, fmt.Errorf("HTTP %d: %s", answer.StatusCode, quoted(string(bytes.TrimSpace(text))))
	}
	return text, nil
}

// isLoopback reports whether a host is this machine, which a tunnel ends at.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// deliver posts a signed approval to where the list came from, or writes it beside the list's file.
func (s *session) deliver(ctx context.Context, source, file, text, signature string) error {
	if !isURL(source) {
		if err := os.WriteFile(file, []byte(text+signature), 0o600); err != nil {
			return fmt.Errorf("write the approval: %w", err)
		}
		s.say("Written to %s: `bursar approval add %s` on the service's machine reads it.", file, file)
		return nil
	}
	body, err := json.Marshal(signedText{text, signature})
	if err != nil {
		return err
	}
	if _, err := s.request(ctx, http.MethodPost, source, body); err != nil {
		return fmt.Errorf("the approval was signed and not delivered: %w", err)
	}
	s.say("Delivered.")
	return nil
}
