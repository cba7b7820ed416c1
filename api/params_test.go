package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bursar/bursar"
)

func TestParse(t *testing.T) {
	deep := strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1)
	for _, c := range []struct {
		query, contentType, body string
		want                     params
		field                    string // of the refusal when want is nil
	}{
		{"", "", "", params{}, ""},
		{"a=1&b=%20&c", "", "", params{"a": {"1", text}, "b": {" ", text}, "c": {"", text}}, ""},
		{"a=1", "application/json", `{"a":1}`, params{"a": {"1", number}}, ""},
		{"", "application/json", `{"a":0.10,"b":1e400,"c":-0}`,
			params{"a": {"0.10", number}, "b": {"1e400", number}, "c": {"-0", number}}, ""},
		{"", "application/json", `{"a": [1, {"b":2}] ,"n":null}`,
			params{"a": {`[1, {"b":2}]`, other}, "n": {"null", other}}, ""},
		{"", "application/json", `{"a":` + deep + `}`, params{"a": {deep, other}}, ""},
		{"", "application/json", `{"a":[` + deep + `]}`, nil, ""},
		{"", "application/json", `{"a":"\u00e9\"\/"}`, params{"a": {`é"/`, text}}, ""},
		{"a=1.0", "application/json", `{"a":1}`, nil, "a"},
		{"a=null", "application/json", `{"a":null}`, nil, "a"},
		{"a=1&a=2", "", "", nil, "a"},
		{strings.Repeat("é", 99) + "=1&" + strings.Repeat("é", 99) + "=2", "", "", nil, strings.Repeat("é", 32)},
		{"", "application/json", `{"a":"1","a":"1"}`, nil, ""},
		{"", "application/json", `{"a":1}x`, nil, ""},
		{"", "application/json", `{"a":01}`, nil, ""},
		{"", "application/json", `{'a':1}`, nil, ""},
		{"", "application/json", "\ufeff{}", nil, ""},
		{"", "application/json", "", params{}, ""},
		{"", "application/json", "  ", nil, ""},
		{"", "application/json", "{", nil, ""},
		{"", "application/json", "null", nil, ""},
		{"", "Application/JSON", "{}", params{}, ""},
		{"", "application/x-www-form-urlencoded", "a=1+2&a=1%202", params{"a": {"1 2", text}}, ""},
		{"", "application/x-www-form-urlencoded", `{"a":1}`, params{`{"a":1}`: {"", text}}, ""},
	} {
		var types []string
		if c.contentType != "" {
			types = []string{c.contentType}
		}
		got, err := parse(c.query, types, []byte(c.body))
		if c.want != nil {
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("%s and %s give %v, %v; want %v", c.query, c.body, got, err, c.want)
			}
			continue
		}
		var refusal *bursar.Error
		if !errors.As(err, &refusal) || refusal.Code != bursar.CodeInvalidRequest || refusal.Field != c.field {
			t.Errorf("%s and %s give %v, %v; want a refusal of field %q", c.query, c.body, got, err, c.field)
		}
	}
}

// FuzzParse checks that the parser never panics, refuses with a code of its own, passes on valid UTF-8 only, and that
// what it accepts has the same meaning in every other encoding.
func FuzzParse(f *testing.F) {
	f.Add("a=1", "application/json", []byte(`{"a":1,"b":"x","c":[null,{"d":true}]}`))
	f.Add("a=1&a=2", "application/x-www-form-urlencoded", []byte("b=%20&c"))
	f.Add("", "multipart/form-data; boundary=cut",
		[]byte("--cut\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--cut--\r\n"))
	f.Add("%ff", "", []byte(`{"a":"\ud83d\ude00","":""}`))
	f.Fuzz(func(t *testing.T, query, contentType string, body []byte) {
		var types []string
		if contentType != "" {
			types = []string{contentType}
		}
		p, err := parse(query, types, body)
		if err != nil {
			var refusal *bursar.Error
			if !errors.As(err, &refusal) || statusOf(refusal.Code)/100 != 4 ||
				!utf8.ValidString(refusal.Error()+refusal.Field) || p != nil {
				t.Fatalf("the refusal is %#v with %v", err, p)
			}
			return
		}
		for name, v := range p {
			if !utf8.ValidString(name) || !utf8.ValidString(v.text) {
				t.Fatalf("%q is %q", name, v.text)
			}
		}
		again(t, p)
	})
}

// again writes the text parameters in each encoding, and requires the same result.
func again(t *testing.T, p params) {
	texts, values, form := map[string]string{}, url.Values{}, &bytes.Buffer{}
	writer := multipart.NewWriter(form)
	plain := params{}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name].kind != text || name == "" || strings.ContainsAny(name, `"\%`) ||
			strings.ContainsFunc(name, unicode.IsControl) {
			continue // names that no multipart form carries unchanged
		}
		plain[name], texts[name] = p[name], p[name].text
		values.Set(name, p[name].text)
		if err := writer.WriteField(name, p[name].text); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	for contentType, body := range map[string][]byte{"application/json": object,
		"application/x-www-form-urlencoded": []byte(values.Encode()),
		writer.FormDataContentType():        form.Bytes()} {
		got, err := parse("", []string{contentType}, body)
		if err != nil || !maps.Equal(got, plain) {
			t.Fatalf("as %s: %v, %v; want %v", contentType, got, err, plain)
		}
	}
	both, err := parse(values.Encode(), []string{"application/json"}, object)
	if err != nil || !maps.Equal(both, plain) {
		t.Fatalf("in two places: %v, %v; want %v", both, err, plain)
	}
}

func TestCursors(t *testing.T) {
	for _, n := range []int64{1, 255, 1 << 40, 1<<63 - 1} {
		if got, ok := walletList.parseCursor(walletList.cursor(n)); !ok || got != n {
			t.Errorf("%d comes back as %d, %v", n, got, ok)
		}
	}
	good := walletList.cursor(7)
	for _, bad := range []string{"", "x", good + "\n", good + "A", good[:11], chargeList.cursor(7), walletList.cursor(0),
		walletList.cursor(-1), strings.Repeat("A", 1000)} {
		if n, ok := walletList.parseCursor(bad); ok {
			t.Errorf("%.20q is taken for %d", bad, n)
		}
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	for code, want := range map[bursar.ErrorCode]int{"invalid_request": 400, "unsupported_currency": 400,
		"invalid_amount": 400, "invalid_address": 400,
		"invalid_webhook": 400, "unauthorized": 401, "secret_required": 403, "invalid_secret": 403, "forbidden": 403,
		"withdrawals_frozen": 403, "order_signature_required": 403, "invalid_order_signature": 403,
		"invalid_order": 400, "order_expired": 400,
		"not_found": 404, "method_not_allowed": 405, "body_too_large": 413, "unsupported_media_type": 415,
		"idempotency_conflict": 409,
		"insufficient_balance": 422, "below_minimum": 422, "above_maximum": 422, "limit_reached": 422,
		"destination_refused": 422,
		"rate_limited":        429,
		"internal":            500, "unavailable": 503, "": 500} {
		if got := statusOf(code); got != want {
			t.Errorf("%s has status %d, want %d", code, got, want)
		}
	}
}
