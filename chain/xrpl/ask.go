package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain/rpc"
)

// request is rippled's form of a call: no version, no id, one object of parameters.
type request struct {
	Method string `json:"method"`
	Params []any  `json:"params"`
}

// params are the parameters of a call.
type params map[string]any

// status is in every result. An error comes with HTTP 200, as a member of the result.
type status struct {
	Status    string `json:"status"`
	Token     string `json:"error"`
	Message   string `json:"error_message"`
	Exception string `json:"error_exception"`
	Searched  bool   `json:"searched_all"` // with txnNotFound: every ledger of the range was there
}

func (s *status) outcome() *status { return s }

type result interface{ outcome() *status }

// nodeError is what a node answered instead of a result.
type nodeError struct {
	token, message string
	searched       bool
}

func (e *nodeError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("node answered %.60q", e.token)
	}
	return fmt.Sprintf("node answered %.60q: %.200q", e.token, e.message)
}

// says reports whether an error is a node's answer with this token.
func says(err error, token string) bool {
	var e *nodeError
	return errors.As(err, &e) && e.token == token
}

// unfit are the answers by which a node says that it can answer nothing now (rippled's ErrorCodes.cpp, Clio's Errors.cpp).
func unfit(token string) bool {
	switch token {
	case "slowDown", "tooBusy", "noNetwork", "noCurrent", "noClosed", "notSynced", "notReady", "internal", "failedToForward",
		"amendmentBlocked", "expiredValidatorList", "unlBlocked", "forbidden", "noPermission", "reportingUnsupported":
		return true
	}
	return false
}

var errAnswer = errors.New("the answer is not of the form asked for")

// ask puts one question to one node. Version 1 of the API is asked for: rippled's and Clio's default, and the same on both.
// An answer that is no result and no error, or that says the node is unfit, puts the node aside.
func ask(ctx context.Context, s *rpc.Session, method string, with params, out result) error {
	whole := params{"api_version": 1}
	for key, value := range with {
		whole[key] = value
	}
	var envelope struct {
		Result jsontext.Value `json:"result"`
	}
	if err := s.Post(ctx, "", request{method, []any{whole}}, &envelope); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var told status
	if err := json.Unmarshal(envelope.Result, &told); err != nil {
		return s.Fail(fmt.Errorf("%s: %w: %w", method, errAnswer, err))
	}
	if told.Token != "" {
		message := told.Message
		if message == "" || told.Exception != "" {
			message += told.Exception
		}
		err := fmt.Errorf("%s: %w", method, &nodeError{told.Token, message, told.Searched})
		if unfit(told.Token) {
			return s.Fail(err)
		}
		return err
	}
	if told.Status != "success" {
		return s.Fail(fmt.Errorf("%s: %w: status %.20q", method, errAnswer, told.Status))
	}
	if err := json.Unmarshal(envelope.Result, out); err != nil {
		return s.Fail(fmt.Errorf("%s: %w: %w", method, errAnswer, err))
	}
	return nil
}
