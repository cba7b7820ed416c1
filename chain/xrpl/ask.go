package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// request is rippled's form of a call: no version, no id, one object of parameters.
type request struct {
	Method string `json:"method"`
	Params []any  `json:"params"`
}

// params are the parameters of a call.
type params map[string]any

// status is part of every result. An error comes with HTTP 200, as a member of the result.
type status struct {
	Status    string `json:"status"`
	Token     string `json:"error"`
	Message   string `json:"error_message"`
	Exception string `json:"error_exception"`
	Searched  bool   `json:"searched_all"` // with txnNotFound: the node had every ledger of the range
	Warning   string `json:"warning"`      // "load": the node is about to refuse this client

	pressed bool // the answer has a load warning, in either node's form
}

// loadWarning is Clio's warning that it is about to refuse this client (Clio 2.3, warnRPC_RATE_LIMIT).
const loadWarning = 2003

func (s *status) outcome() *status { return s }

type result interface{ outcome() *status }

// nodeError is a node's error in place of a result.
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

// errLacks means that a node does not have a ledger. Behind a load balancer another node than the one that reported its
// standing may have answered, so the endpoint is not at fault.
var errLacks = errors.New("the node does not have the ledger")

// lacks reports whether a node's answer is that it does not have a ledger.
func lacks(err error) bool { return says(err, "lgrNotFound") || says(err, "lgrNotValidated") }

// unfit reports whether an error means that the node cannot answer anything now (rippled's ErrorCodes.cpp, Clio's
// Errors.cpp).
func unfit(token string) bool {
	switch token {
	case "slowDown", "tooBusy", "noNetwork", "noCurrent", "noClosed", "notSynced", "notReady", "internal",
		"failedToForward",
		"amendmentBlocked", "expiredValidatorList", "unlBlocked", "forbidden", "noPermission", "reportingUnsupported":
		return true
	}
	return false
}

var errAnswer = errors.New("the answer does not have the requested form")

// response is the whole answer to a request.
type response[T any] struct {
	Result   T `json:"result"`
	Warnings []struct {
		ID int `json:"id"`
	} `json:"warnings"`
}

// ask sends one request to one node. It requests version 1 of the API: rippled's and Clio's default, and the same on
// both. An answer that is neither a result nor an error, or that says that the node cannot answer now, puts the
// endpoint into a cool-down.
func ask[T any, R interface {
	*T
	result
}](ctx context.Context, s *rpc.Session, method string, with params, out R) error {
	err := inquire(ctx, s, method, with, out)
	var answered *nodeError
	if errors.As(err, &answered) && unfit(answered.token) {
		return s.Fail(err)
	}
	return err
}

// inquire is ask for data that a node may refuse: every error that it answers is a *nodeError, and not a fault.
func inquire[T any, R interface {
	*T
	result
}](ctx context.Context, s *rpc.Session, method string, with params, out R) error {
	whole := params{"api_version": 1}
	for key, value := range with {
		whole[key] = value
	}
	var answer response[T]
	if err := s.Post(ctx, "", request{method, []any{whole}}, &answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	outcome := R(&answer.Result).outcome()
	if outcome.Token != "" {
		message := outcome.Message
		if message == "" || outcome.Exception != "" {
			message += outcome.Exception
		}
		return fmt.Errorf("%s: %w", method, &nodeError{outcome.Token, message, outcome.Searched})
	}
	if outcome.Status != "success" {
		return s.Fail(fmt.Errorf("%s: %w: status %.20q", method, errAnswer, outcome.Status))
	}
	outcome.pressed = outcome.Warning == "load"
	for _, w := range answer.Warnings {
		outcome.pressed = outcome.pressed || w.ID == loadWarning
	}
	*out = answer.Result
	return nil
}
