package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/bursar/bursar/client"
)

// optIn are the events of a charge that are sent only where the charge asks for them.
var optIn = []string{"pending", "partial", "overpaid", "expired", "cancelled", "refunded"}

// wallet makes the wallet that an event is about.
func (t *trigger) wallet(ctx context.Context) (w client.Wallet, err error) {
	answer := struct{ Wallet *client.Wallet }{&w}
	err = t.make(ctx, "wallet", map[string]string{"currency": string(t.cmd.Currency), "webhook": t.cmd.Webhook}, &answer)
	return w, err
}

// charge makes a charge that sends every event.
func (t *trigger) charge(ctx context.Context) (made client.Charge, err error) {
	values := map[string]string{
		"currency": string(t.cmd.Currency),
		"amount":   t.cmd.Amount,
		"webhook":  t.cmd.Webhook,
		"events":   strings.Join(optIn, ","),
	}
	if t.cmd.Event == "late" || t.cmd.Event == "expired" {
		values["expires"] = "60"
	}
	answer := struct{ Charge *client.Charge }{&made}
	if err = t.make(ctx, "charge", values, &answer); err == nil && len(made.Options) == 0 {
		err = errors.New("the charge has no currency in which it can be paid: leave `rule` as it is")
	}
	return made, err
}

// withdrawal makes a withdrawal to an address and returns its ID.
func (t *trigger) withdrawal(ctx context.Context, address, amount string) (string, error) {
	var answer struct{ Withdrawal client.Withdrawal }
	err := t.make(ctx, "account/withdraw",
		map[string]string{"currency": string(t.cmd.Currency), "amount": amount, "address": address}, &answer)
	return answer.Withdrawal.WithdrawalID, err
}

// overridable refuses overrides that are not NAME=VALUE, before anything is made.
func (cmd *triggerCommand) overridable() error {
	if _, err := readValues(cmd.Override); err != nil {
		return wrong("--override %v", err)
	}
	return nil
}

// make has the service make what an event is about, by a request with the parameters that --override and --edit leave
// of these. It is sent once.
func (t *trigger) make(ctx context.Context, path string, values map[string]string, answer any) error {
	overrides, err := readValues(t.cmd.Override)
	if err != nil {
		return err
	}
	for name := range overrides {
		values[name] = overrides.Get(name)
	}
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	if t.cmd.Edit {
		if values, err = t.edited(ctx, values); err != nil {
			return err
		}
	}
	form := url.Values{}
	for name, value := range values {
		form.Set(name, value)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.at.API, "/")+"/api/v1/"+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-API-KEY", t.at.Key)
	r.Header.Set("Idempotency-Key", rand.Text())
	if t.at.Secret != "" {
		r.Header.Set("X-API-SECRET", t.at.Secret)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := stay.Do(r) // a redirect would take the key to somebody else
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var said struct {
		Success  bool
		Response json.RawMessage
		Error    struct{ Code, Message, Field string }
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s answers %s, and not as the service does: %w", t.at.API, response.Status, err)
	case !said.Success:
		return &client.Error{Status: response.StatusCode, Code: client.Code(said.Error.Code), Field: said.Error.Field,
			Message: said.Error.Message}
	}
	return json.Unmarshal(said.Response, answer)
}

// edited has a person edit the parameters as JSON. An empty file gives up, as editors of messages have it.
func (t *trigger) edited(ctx context.Context, values map[string]string) (map[string]string, error) {
	editor := cmp.Or(t.call.Getenv("VISUAL"), t.call.Getenv("EDITOR"))
	if editor == "" {
		return nil, wrong("--edit takes an editor: put its name into EDITOR")
	}
	text, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "bursar-trigger-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", file.Name()) // an editor may have arguments
	c.Stdin, c.Stdout, c.Stderr = t.call.Stdin, t.call.Stderr, t.call.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("the editor %.100q: %w", editor, err)
	}
	if text, err = os.ReadFile(file.Name()); err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(text)) == "" {
		return nil, errors.New("the file is empty: nothing was asked for")
	}
	values = nil
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("what was edited is no object of JSON whose values are texts: %w", err)
	}
	return values, nil
}
