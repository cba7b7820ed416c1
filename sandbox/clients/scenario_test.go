package clients

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed scenario.json
var scenario []byte

// step is one step of the scenario: a call of the client, a payment from outside, an outside address, or the webhook
// of an event. Texts contain names in two braces, which steps before have saved.
type step struct {
	Call    string            `json:"call"`
	Values  json.RawMessage   `json:"values"`
	Key     string            `json:"key"` // idempotency key
	Pay     json.RawMessage   `json:"pay"`
	Address string            `json:"address"` // currency
	Webhook string            `json:"webhook"` // ID of the event
	Want    map[string]any    `json:"want"`    // by path in the result
	Until   map[string]any    `json:"until"`   // the same, of a call that is repeated until it is so
	Refused map[string]any    `json:"refused"`
	Save    map[string]string `json:"save"` // paths, by name
}

// customer is an account of the service.
type customer struct{ AccountID, APIKey, APISecret, WebhookSecret string }

// player plays calls with a client of one language: a line with a call, a line with the result or the error.
type player interface {
	ask(ctx context.Context, line []byte) ([]byte, error)
}

// playScenario has the clients of every language play scenario.json, each as a customer of its own: what the
// file wants is what each of them gets.
func playScenario(t *testing.T, dist string) {
	t.Helper()
	s := start(t, "--chains", "bitcoin")
	for language, begin := range map[string]func(*testing.T, customer) player{
		"Go": func(t *testing.T, c customer) player {
			p, err := newGoPlayer(s.API, c)
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		"TypeScript": func(t *testing.T, c customer) player {
			return startPlayer(t, nil, "node", "javascript/player.mjs", dist, s.API, c.APIKey, c.APISecret, c.WebhookSecret)
		},
		"PHP": func(t *testing.T, c customer) player {
			return startPlayer(t, nil, "php", "php/player.php", s.API, c.APIKey, c.APISecret, c.WebhookSecret)
		},
		"Python": func(t *testing.T, c customer) player {
			path := []string{"PYTHONPATH=" + filepath.Join("..", "..", "clients", "python"), "PYTHONDONTWRITEBYTECODE=1"}
			return startPlayer(t, path, "python3", "python/player.py", s.API, c.APIKey, c.APISecret, c.WebhookSecret)
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			var c customer
			s.control(t, "/account", map[string]any{"name": language}, &c)
			var hook struct{ URL string }
			s.control(t, "/webhooks/url", nil, &hook)
			(&performance{s, begin(t, c), map[string]string{"hook": hook.URL}}).play(t)
		})
	}
	playExamples(t, s, dist)
	playSnippets(t, s, dist)
	playShops(t, s, dist)
}

// performance is the scenario played by one client.
type performance struct {
	*sandbox
	player
	names map[string]string
}

func (p *performance) play(t *testing.T) {
	t.Helper()
	var steps []json.RawMessage
	if err := json.Unmarshal(scenario, &steps); err != nil {
		t.Fatal(err)
	}
	for i, raw := range steps {
		for name, value := range p.names {
			raw = bytes.ReplaceAll(raw, []byte("{{"+name+"}}"), []byte(value))
		}
		var s step
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		result, err := p.step(t, s)
		if err != nil {
			t.Fatalf("step %d, %s: %v", i+1, raw, err)
		}
		for name, path := range s.Save {
			p.names[name] = fmt.Sprint(at(result, path))
		}
	}
}

// step carries out one step and compares what came of it.
func (p *performance) step(t *testing.T, s step) (result any, err error) {
	t.Helper()
	switch {
	case s.Pay != nil:
		p.control(t, "/pay", s.Pay, &result)
		return result, nil
	case s.Address != "":
		p.control(t, "/address", map[string]any{"currency": s.Address}, &result)
		return result, nil
	case s.Webhook != "":
		return p.webhook(t, s)
	case s.Until != nil:
		p.eventually(t, "bitcoin", s.Call, func() error {
			result, err = p.do(t, s.Call, s.Values, s.Key, nil)
			return errors.Join(err, differs(result, s.Until))
		})
		return result, nil
	}
	result, err = p.do(t, s.Call, s.Values, s.Key, s.Refused)
	return result, errors.Join(err, differs(result, s.Want))
}

// do makes the player play one call. A refusal is compared with what the step wants of it.
func (p *performance) do(t *testing.T, call string, values any, key string, refused map[string]any) (any, error) {
	t.Helper()
	line, err := json.Marshal(map[string]any{"call": call, "values": values, "key": key})
	if err != nil {
		return nil, err
	}
	text, err := p.ask(t.Context(), line)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result any
		Error  any
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("the player answers %q: %w", text, err)
	}
	if (refused != nil) != (answer.Error != nil) {
		return nil, fmt.Errorf("the answer is %s, want a refusal: %v", text, refused != nil)
	}
	return answer.Result, differs(answer.Error, refused)
}

// webhook waits for the delivery of an event, has the client verify it, and once more with one byte more.
func (p *performance) webhook(t *testing.T, s step) (event any, err error) {
	t.Helper()
	type delivery struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	var found delivery
	p.eventually(t, "bitcoin", "webhook", func() error {
		var all struct{ Deliveries []delivery }
		p.control(t, "/webhooks", nil, &all)
		for _, d := range all.Deliveries {
			if d.Headers["webhook-id"] == s.Webhook {
				found = d
				return nil
			}
		}
		return fmt.Errorf("%d deliveries, none of event %s", len(all.Deliveries), s.Webhook)
	})
	if event, err = p.do(t, "verify", found, "", nil); err != nil {
		return nil, err
	}
	found.Body += " "
	_, err = p.do(t, "verify", found, "", map[string]any{"code": "signature"})
	return event, errors.Join(err, differs(event, s.Want))
}

// control asks the remote control.
func (s *sandbox) control(t *testing.T, path string, body, out any) {
	t.Helper()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	if err := ask(method, s.Control+path, nil, body, out); err != nil {
		t.Fatal(err)
	}
}

// differs compares a result with what is wanted of it, by path.
func differs(result any, want map[string]any) error {
	var all []error
	for path, value := range want {
		if got := at(result, path); got != value {
			all = append(all, fmt.Errorf("%s is %v, want %v", path, got, value))
		}
	}
	return errors.Join(all...)
}

// at returns what is at a path of names, places and length, nil if there is nothing.
func at(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[part]
		case []any:
			place, err := strconv.Atoi(part)
			switch {
			case part == "length":
				value = float64(len(inner))
			case err == nil && place < len(inner):
				value = inner[place]
			default:
				return nil
			}
		default:
			return nil
		}
	}
	return value
}

// process is a player of another language.
type process struct {
	requests io.WriteCloser
	answers  *bufio.Scanner
}

func startPlayer(t *testing.T, environment []string, program string, args ...string) player {
	t.Helper()
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), environment...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	requests, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start the player: %v (run %s)", err, install)
	}
	t.Cleanup(func() {
		ended := time.AfterFunc(startTime, func() { _ = command.Process.Kill() }) // it does not end by itself
		defer ended.Stop()
		if err := errors.Join(requests.Close(), command.Wait()); err != nil {
			t.Errorf("the player ended with %v\n%s", err, &complaint)
		}
	})
	p := &process{requests, bufio.NewScanner(output)}
	p.answers.Buffer(nil, maxAnswer)
	return p
}

func (p *process) ask(_ context.Context, line []byte) ([]byte, error) {
	if _, err := p.requests.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("ask the player: %w", err)
	}
	if !p.answers.Scan() {
		return nil, errors.Join(errors.New("the player ended"), p.answers.Err())
	}
	return p.answers.Bytes(), nil
}
