package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// encodings are the ways to send parameters.
var encodings = []string{"query", "json", "form", "multipart", "query and json"}

// encoded writes parameters in one of the encodings. A value that is not a text keeps its type in JSON only; elsewhere
// it is its JSON text.
func (s *harness) encoded(method, path, encoding string, values map[string]any) *http.Request {
	s.Helper()
	query, texts, object := url.Values{}, map[string]string{}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		texts[name] = plain(v)
		if encoding == "query" || encoding == "query and json" && len(query) == 0 {
			query.Set(name, texts[name])
			continue
		}
		object[name] = v
	}
	var body bytes.Buffer
	contentType := ""
	switch encoding {
	case "json", "query and json":
		contentType = "application/json"
		if err := json.NewEncoder(&body).Encode(object); err != nil {
			s.Fatal(err)
		}
	case "form":
		contentType = "application/x-www-form-urlencoded"
		form := url.Values{}
		for name, text := range texts {
			form.Set(name, text)
		}
		body.WriteString(form.Encode())
	case "multipart":
		writer := multipart.NewWriter(&body)
		for name, text := range texts {
			if err := writer.WriteField(name, text); err != nil {
				s.Fatal(err)
			}
		}
		if err := writer.Close(); err != nil {
			s.Fatal(err)
		}
		contentType = writer.FormDataContentType()
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.base+path+"?"+query.Encode(), &body)
	if err != nil {
		s.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func plain(v any) string {
	if text, is := v.(string); is {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(string(text))
}
