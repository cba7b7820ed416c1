package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
)

// FuzzAnswer holds that whatever a node sends is either refused or understood as encoding/json understands it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`,
		`{"result":null,"error":{"code":-26,"message":"x","data":[1]},"id":1}`,
		`[{"id":2,"result":"b"},{"id":1,"result":"a"}]`, `[{"id":1,"error":{"code":429,"message":""}},{"id":2}]`,
		`{"id":null,"error":{"code":1,"message":"m"}}`,
		`<html>`, ``, `[`, `[]`, `{}`, `null`, ` {"id":1,"result":1} x`, `{"id":1,"id":1,"result":2}`, `[[[[`,
		`{"id":1,"result":"\ud800"}`, `{"id":1.0,"result":0}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(500, []byte(seed))
	}
	c := newClient(f, Config{URLs: []string{"http://alice:hunter22@a.example"}})
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		answered := func() reply { return reply{status: status, stream: arrived(body)} }
		var out any
		checkCall(t, c.readCall(answered(), 1, &out), body, out)
		checkParts(t, c, answered(), body)
		var value any
		if err := c.readRest(answered(), &value); err == nil && !json.Valid(body) {
			t.Errorf("took %q for JSON", body)
		}
	})
}

// arrived is a body that comes in two pieces.
func arrived(text []byte) *body {
	half := len(text) / 2
	src := io.MultiReader(bytes.NewReader(text[:half]), bytes.NewReader(text[half:]))
	return &body{src: src, promise: int64(len(text)), limit: 1 << 20}
}

func checkCall(t *testing.T, err error, body []byte, out any) {
	t.Helper()
	var answer *Error
	var ft *fault
	if errors.As(err, &answer) || errors.As(err, &ft) {
		if ft != nil && len(ft.text) > 2000 {
			t.Errorf("a fault of %d bytes", len(ft.text))
		}
		return
	}
	if err != nil {
		t.Fatalf("error %v is neither an answer nor a fault", err)
	}
	var want struct {
		ID     json.RawMessage `json:"id"`
		Result any             `json:"result"`
	}
	if err := json.Unmarshal(body, &want); err != nil || string(want.ID) != "1" ||
		fmt.Sprint(want.Result) != fmt.Sprint(out) {
		t.Errorf("took %q for %v, encoding/json for %v with id %s, %v, want %q and %v", body, out, want.Result, want.ID, err,
			"1", fmt.Sprint(out))
	}
}

func checkParts(t *testing.T, c *Client, r reply, body []byte) {
	t.Helper()
	var a, b any
	part := []*Request{{Method: "a", Out: &a, Err: errors.New("unset")}, {Method: "b", Out: &b, Err: errors.New("unset")}}
	if err := c.readBatch(r, part, map[uint64]int{1: 0, 2: 1}); err != nil {
		return
	}
	if !json.Valid(body) {
		t.Errorf("took %q for JSON", body)
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var list []json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil || len(list) != 2 {
			t.Errorf("%d answers taken for two: %v, want 2", len(list), err)
		}
	}
	for _, p := range part {
		var answer *Error
		if p.Err != nil && !errors.As(p.Err, &answer) && !errors.Is(p.Err, ErrNull) {
			t.Errorf("request left with %v", p.Err)
		}
	}
}
