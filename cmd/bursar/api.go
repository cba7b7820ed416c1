package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxResponse is more than any response of the service.
const maxResponse = 16 << 20

type apiCommand struct {
	remote
	Method string   `arg:"" enum:"GET,POST,PUT,get,post,put" help:"GET, POST or PUT."`
	Path   string   `arg:"" help:"Path below /api/v1, such as account or wallet/deposits."`
	Values []string `arg:"" optional:"" help:"Parameters as name=value."`
	Key    string   `name:"idempotency-key" placeholder:"TEXT" help:"Idempotency-Key of a change: the same request with it is carried out once."`
}

// Help returns an example.
func (apiCommand) Help() string {
	return "The response is printed as indented JSON; the exit code is 1 unless it is a success. A withdrawal takes the " +
		"API secret from BURSAR_API_SECRET or the profile. A POST or PUT without --idempotency-key is sent once and never " +
		"again.\n\nExample:\n\n" +
		"    BURSAR_API_KEY=bk_… bursar api POST wallet currency=BTC webhook=https://shop.example/hook"
}

// Run sends the request and prints the response.
func (cmd *apiCommand) Run(ctx context.Context, c *call) error {
	values, err := readValues(cmd.Values)
	if err != nil {
		return usage(err)
	}
	r, err := cmd.request(ctx, c, values)
	if err != nil {
		return usage(err)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := stay.Do(r)
	if err != nil {
		return fmt.Errorf("no answer, and what became of a change is not known: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var text bytes.Buffer
	if json.Indent(&text, bytes.TrimSpace(body), "", "  ") != nil {
		text.Reset()
		text.Write(body)
	}
	if err := c.Say("%s", text.String()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func readValues(list []string) (url.Values, error) {
	values := url.Values{}
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not name=value", text)
		}
		if values.Has(name) {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		values.Set(name, value)
	}
	return values, nil
}

// request puts parameters into the body of a change, which no proxy logs.
func (cmd *apiCommand) request(ctx context.Context, c *call, values url.Values) (*http.Request, error) {
	at, err := cmd.target(c)
	if err != nil {
		return nil, err
	}
	if err := at.check(); err != nil {
		return nil, err
	}
	method := strings.ToUpper(cmd.Method)
	target := strings.TrimSuffix(at.API, "/") + "/api/v1/" + strings.Trim(cmd.Path, "/")
	var body io.Reader
	if method != http.MethodGet {
		body = strings.NewReader(values.Encode())
	} else if len(values) > 0 {
		target += "?" + values.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-API-KEY", at.Key)
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if at.Secret != "" && method != http.MethodGet {
		r.Header.Set("X-API-SECRET", at.Secret)
	}
	if cmd.Key != "" {
		r.Header.Set("Idempotency-Key", cmd.Key)
	}
	return r, nil
}
