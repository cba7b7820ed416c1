package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
)

// ErrNotFound is what errors.Is finds in the error of every look-up and change that met no row. The error's text says
// what was looked up. It is no answer for a client: a row that is missing inside the service is the service's own
// fault. Where the client itself has named the object, AsRefusal turns it into one.
var ErrNotFound = errors.New("nothing was found")

// AsRefusal returns bursar.ErrNotFound instead of an ErrNotFound, and any other error as it is. It is for the one
// look-up of a request that asks for what the client has named, with the client's account in the query.
func AsRefusal(err error) error {
	if errors.Is(err, ErrNotFound) {
		return bursar.ErrNotFound
	}
	return err
}

// missing is the error of a query that met no row: what it was to do, and the IDs that it asked for. Other arguments,
// such as a key's hash, are not shown.
type missing struct {
	what string
	args []any
}

func (m missing) Error() string {
	var text strings.Builder
	text.WriteString(m.what)
	for _, arg := range m.args {
		if id, ok := arg.(bursar.ID); ok {
			fmt.Fprintf(&text, " %s", id)
		}
	}
	return text.String() + ": " + ErrNotFound.Error()
}

func (m missing) Is(target error) bool { return target == ErrNotFound }

// IgnoreNotFound returns nil for ErrNotFound, and any other error as it is.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
