package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// success renders the response of a success. Clients' own text, metadata above all, is not escaped for HTML: what they
// decode is byte for byte what they sent.
func success(response any) (store.Answer, error) {
	body, err := render(struct {
		Success  bool `json:"success"`
		Response any  `json:"response"`
	}{true, response})
	return store.Answer{Status: http.StatusOK, Body: body}, err
}

// shownError is a refusal as clients see it, of a request or of one part of it.
type shownError struct {
	Code    bursar.ErrorCode `json:"code"`
	Message string           `json:"message"`
	Field   string           `json:"field,omitempty"`
	Docs    string           `json:"docs"` // the path of the page that explains the code

	Permission string `json:"permission,omitempty"` // what the request needs
}

func shown(e *bursar.Error) *shownError {
	return &shownError{e.Code, e.Message, e.Field, docsOf(e.Code), e.Permission}
}

// failure renders the response of a refusal.
func failure(refusal *bursar.Error, requestID string) (store.Answer, error) {
	body, err := render(struct {
		Success   bool        `json:"success"`
		Error     *shownError `json:"error"`
		RequestID string      `json:"requestID"`
	}{false, shown(refusal), requestID})
	return store.Answer{Status: statusOf(refusal.Code), Body: body}, err
}

func render(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the response: %w", err)
	}
	return b.Bytes(), nil
}
