// Package panics turns panics into errors, for goroutines above which nothing recovers: what went wrong on one chain,
// or with one message, must not end the process.
//
// It owns the texts of those errors. It never decides what happens next, and logs nothing.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Catch does some work and returns its error. A panic of the work is an error with its cause, which says that what
// panicked.
func Catch(what string, work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%s panicked: %v", what, cause)
		}
	}()
	return work()
}

// CatchWithStack is Catch, whose error has the stack of the panic too.
func CatchWithStack(what string, work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%s panicked: %v\n%s", what, cause, debug.Stack())
		}
	}()
	return work()
}
