package chain

import "fmt"

// Wrap puts what was asked of a chain before the error of the answer, if there is one: defer it with a pointer to the
// named result. errors.Is and errors.As find the error itself.
func Wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}
