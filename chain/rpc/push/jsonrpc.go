package push

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSONRPC returns the subscription that a JSON-RPC 2.0 method opens; announcements are notifications with the given
// name. params must be encodable as JSON.
func JSONRPC(method, notification string, params ...any) (Subscription, error) {
	if params == nil {
		params = []any{}
	}
	request, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  []any  `json:"params"`
	}{"2.0", 1, method, params})
	if err != nil {
		return Subscription{}, fmt.Errorf("subscription %s: %w", method, err)
	}
	return Subscription{Request: request, Read: func(message []byte) (Kind, error) {
		return readJSONRPC(message, method, notification)
	}}, nil
}

// RefusedError is a node's refusal to subscribe.
type RefusedError struct {
	Method  string
	Code    int
	Message string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is refused: %.200s (code %d)", e.Method, e.Message, e.Code)
}

func readJSONRPC(message []byte, method, notification string) (Kind, error) {
	var said struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Result jsontext.Value `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(message, &said, jsontext.AllowDuplicateNames(true)); err != nil {
		return Other, fmt.Errorf("unreadable message: %w", err)
	}
	switch {
	case said.Error != nil:
		return Other, &RefusedError{Method: method, Code: said.Error.Code, Message: said.Error.Message}
	case said.Method == notification:
		return Announcement, nil
	case said.Method == "" && said.Result != nil && string(said.ID) == "1":
		return Accepted, nil
	}
	return Other, nil
}
